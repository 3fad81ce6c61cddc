"""The conformance suite accepts every game, and rejects games that are broken on purpose with a useful message."""

import pytest

from tests.games.variants import VARIANTS_2048, VARIANTS_THREES
from tilewright.games import GAMES
from tilewright.games.base import Game
from tilewright.games.board import Board, BoardLike
from tilewright.games.rules import ACTIONS, State
from tilewright.games.threes import Threes
from tilewright.games.twenty48 import Twenty48
from tilewright.rng import Stream, stream_for
from tilewright.testing import ConformanceError, check_game


@pytest.mark.parametrize("name", list(GAMES))
def test_every_registered_game_conforms(name: str) -> None:
    check_game(name, games=2)


@pytest.mark.parametrize("game", VARIANTS_2048[::3] + VARIANTS_THREES[::3], ids=lambda game: game.spec)
def test_variants_conform(game: Game) -> None:
    check_game(game, games=1)


class ForgetsAnOutcome(Twenty48):
    def outcomes(self, after: BoardLike) -> list[tuple[Board, float]]:
        return super().outcomes(after)[:-1]


class ListsAnOutcomeTwice(Twenty48):
    def outcomes(self, after: BoardLike) -> list[tuple[Board, float]]:
        (board, chance), *others = super().outcomes(after)
        return [(board, chance / 2), (board, chance / 2), *others]


class ListsOutcomesThatDoNotCome(Twenty48):
    """Only eights are listed, while twos and fours come."""

    def outcomes(self, after: BoardLike) -> list[tuple[Board, float]]:
        cells = int(self.parse(after).state.cells)
        eights = [State(cells | 3 << 4 * place, 0) for place in range(16) if not cells >> 4 * place & 15]
        return [(Board(self, state), 1 / len(eights)) for state in eights]


class ForgetsTheHintInText(Threes):
    def notes(self, board: Board) -> dict[str, str]:
        return {name: text for name, text in super().notes(board).items() if name != "hint"}


class WritesWhatItCannotRead(Twenty48):
    def text(self, board: BoardLike) -> str:
        return super().text(board) + " 0"


class WritesRowsBackwards(Twenty48):
    def text(self, board: BoardLike) -> str:
        return " / ".join(super().text(board).split(" / ")[::-1])


class MirrorsOnlyTheTiles(Threes):
    """The cells where a tile may enter stay behind."""

    def symmetries(self, board: BoardLike) -> list[Board]:
        entry = int(self.parse(board).state.extra) >> 16 << 16
        symmetries = super().symmetries(board)
        return [Board(self, State(i.state.cells, int(i.state.extra) & 0xFFFF | entry)) for i in symmetries]


class BeginsSymmetriesWithAnother(Twenty48):
    def symmetries(self, board: BoardLike) -> list[Board]:
        return super().symmetries(board)[::-1]


class ListsEveryMoveAsLegal(Twenty48):
    def legal(self, board: BoardLike) -> list[str]:
        return list(ACTIONS) if super().legal(board) else []


class SlidesWhatIsIllegal(Twenty48):
    def slide(self, board: BoardLike, action: str) -> tuple[Board, int]:
        if action not in self.legal(board):
            return self.parse(board), 0
        return super().slide(board, action)


class PaysLessToTheRight(Twenty48):
    def slide(self, board: BoardLike, action: str) -> tuple[Board, int]:
        after, reward = super().slide(board, action)
        return after, reward // 2 if action == "right" else reward


class MisjudgesTheLargest(Twenty48):
    def largest(self, board: BoardLike) -> int:
        return max(4, super().largest(board))


class MisjudgesTheSum(Threes):
    def tile_sum(self, board: BoardLike) -> int:
        return 2 * super().tile_sum(board)


class KeepsItsOwnRandomness(Twenty48):
    own_stream = stream_for(0)

    def spawn(self, after: BoardLike, stream: Stream | None = None, *, seed: int | None = None) -> tuple[Board, int]:
        return super().spawn(after, self.own_stream)


class LosesPoints(Threes):
    def spawn(self, after: BoardLike, stream: Stream | None = None, *, seed: int | None = None) -> tuple[Board, int]:
        board, gain = super().spawn(after, stream)
        return board, gain - 100


class EndsTooEarly(Twenty48):
    def is_over(self, board: BoardLike) -> bool:
        return len(self.legal(board)) < 3


class RaisesInOutcomes(Twenty48):
    def outcomes(self, after: BoardLike) -> list[tuple[Board, float]]:
        raise ZeroDivisionError("by accident")


@pytest.mark.parametrize(
    ("broken", "rule", "remedy"),
    [
        (ForgetsAnOutcome, "must add up to 1", "list every board"),
        (ListsAnOutcomeTwice, "listed twice", "list every board"),
        (ListsOutcomesThatDoNotCome, "one of the outcomes", "the same tiles and cells"),
        (ForgetsTheHintInText, "text of a board must read back", "notes()"),
        (WritesWhatItCannotRead, "text of a board must read back", "notes()"),
        (WritesRowsBackwards, "text of a board must read back", "notes()"),
        (MirrorsOnlyTheTiles, "symmetric moves", "State.extra"),
        (BeginsSymmetriesWithAnother, "first symmetric board", "the board itself"),
        (ListsEveryMoveAsLegal, "listed as legal must be possible", "only moves that change the board"),
        (SlidesWhatIsIllegal, "exactly the moves that change the board", "raise IllegalMoveError"),
        (PaysLessToTheRight, "symmetric moves", "by the same rule"),
        (MisjudgesTheLargest, "largest must agree with the tiles", "the verb largest"),
        (MisjudgesTheSum, "tile_sum must agree with the tiles", "the verb tile_sum"),
        (KeepsItsOwnRandomness, "same seed must give the same game", "from `stream` only"),
        (LosesPoints, "must never fall", "rewards of at least 0"),
        (EndsTooEarly, "must not be over while a move is legal", "is_over"),
        (RaisesInOutcomes, "outcomes must not raise", "ZeroDivisionError"),
    ],
)
def test_the_check_of_a_broken_game_says_what_is_wrong_and_how_to_mend_it(
    broken: type[Game], rule: str, remedy: str
) -> None:
    with pytest.raises(ConformanceError) as refused:
        check_game(broken())
    assert rule in refused.value.rule
    assert remedy in refused.value.remedy
    lines = str(refused.value).splitlines()
    assert [line.partition(":")[0] for line in lines[1:]] == ["  found", "  on", "  to mend it"]
    assert refused.value.found
    assert refused.value.board.game == broken()
