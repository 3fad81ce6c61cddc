"""The conformance suite passes on every game, and fails on games that are broken on purpose."""

import pytest

from tests.games.variants import VARIANTS_2048, VARIANTS_THREES
from tilewright.games import GAMES, make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import ACTIONS, State
from tilewright.games.threes import Threes
from tilewright.games.twenty48 import Twenty48
from tilewright.rng import Stream, stream_for
from tilewright.testing import check_game


@pytest.mark.parametrize("name", list(GAMES))
def test_every_registered_game_conforms(name: str) -> None:
    check_game(make_game(name), games=2)


@pytest.mark.parametrize("game", VARIANTS_2048[::3] + VARIANTS_THREES[::3], ids=lambda game: game.spec)
def test_variants_conform(game: Game) -> None:
    check_game(game, games=1)


class ForgetsAnOutcome(Twenty48):
    def outcomes(self, after: Board) -> list[tuple[Board, float]]:
        return super().outcomes(after)[:-1]


class ListsAnOutcomeTwice(Twenty48):
    def outcomes(self, after: Board) -> list[tuple[Board, float]]:
        (board, chance), *others = super().outcomes(after)
        return [(board, chance / 2), (board, chance / 2), *others]


class ListsOutcomesThatDoNotCome(Twenty48):
    """Only eights are listed, while twos and fours come."""

    def outcomes(self, after: Board) -> list[tuple[Board, float]]:
        empty = [place for place in range(16) if not int(after.state.cells) >> 4 * place & 15]
        eights = [State(int(after.state.cells) | 3 << 4 * place, 0) for place in empty]
        return [(Board(self, state), 1 / len(eights)) for state in eights]


class ForgetsTheHintInText(Threes):
    def notes(self, board: Board) -> dict[str, str]:
        return {name: text for name, text in super().notes(board).items() if name != "hint"}


class WritesWhatItCannotRead(Twenty48):
    def text(self, board: Board) -> str:
        return super().text(board) + " 0"


class WritesRowsBackwards(Twenty48):
    def text(self, board: Board) -> str:
        return " / ".join(super().text(board).split(" / ")[::-1])


class MirrorsOnlyTheTiles(Threes):
    """The cells where a tile may enter stay behind."""

    def symmetries(self, board: Board) -> list[Board]:
        entry = int(board.state.extra) >> 16 << 16
        symmetries = super().symmetries(board)
        return [Board(self, State(i.state.cells, int(i.state.extra) & 0xFFFF | entry)) for i in symmetries]


class BeginsImagesWithAnother(Twenty48):
    def symmetries(self, board: Board) -> list[Board]:
        return super().symmetries(board)[::-1]


class ListsEveryMoveAsLegal(Twenty48):
    def legal(self, board: Board) -> list[str]:
        return list(ACTIONS) if super().legal(board) else []


class SlidesWhatIsIllegal(Twenty48):
    def slide(self, board: Board, action: str) -> tuple[Board, int]:
        if action not in self.legal(board):
            return board, 0
        return super().slide(board, action)


class PaysLessToTheRight(Twenty48):
    def slide(self, board: Board, action: str) -> tuple[Board, int]:
        after, reward = super().slide(board, action)
        return after, reward // 2 if action == "right" else reward


class MisjudgesTheLargest(Twenty48):
    def largest(self, board: Board) -> int:
        return max(4, super().largest(board))


class MisjudgesTheSum(Threes):
    def total(self, board: Board) -> int:
        return 2 * super().total(board)


class KeepsItsOwnRandomness(Twenty48):
    own_stream = stream_for(0)

    def spawn(self, after: Board, stream: Stream) -> tuple[Board, int]:
        return super().spawn(after, self.own_stream)


class LosesPoints(Threes):
    def spawn(self, after: Board, stream: Stream) -> tuple[Board, int]:
        board, gain = super().spawn(after, stream)
        return board, gain - 100


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (ForgetsAnOutcome, "add up to 1"),
        (ListsAnOutcomeTwice, "listed twice"),
        (ListsOutcomesThatDoNotCome, "among the outcomes"),
        (ForgetsTheHintInText, "text reads back"),
        (WritesWhatItCannotRead, "text reads back"),
        (WritesRowsBackwards, "text reads back"),
        (MirrorsOnlyTheTiles, "commute with symmetric image"),
        (BeginsImagesWithAnother, "first image"),
        (ListsEveryMoveAsLegal, "listed as legal"),
        (SlidesWhatIsIllegal, "not legal"),
        (PaysLessToTheRight, "commute with symmetric image"),
        (MisjudgesTheLargest, "largest tile"),
        (MisjudgesTheSum, "sum of the tiles"),
        (KeepsItsOwnRandomness, "same seed"),
        (LosesPoints, "never falls"),
    ],
)
def test_a_broken_game_is_found_out(broken: type[Game], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_game(broken())
