"""The conformance suite: what every game and every agent must hold, yours included.

    from tilewright.testing import check_agent, check_game
    check_game(MyGame())
    check_agent(MyAgent(), make_game("2048"))

Both raise an AssertionError that says what does not hold and on which board.
"""

import json
import math

import numpy as np

from tilewright.agents.base import Agent
from tilewright.errors import BoardError, IllegalMoveError, UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS
from tilewright.play.evaluate import evaluate

__all__ = ["check_agent", "check_game"]


def check_game(game: Game, *, games: int = 3, seed: int = 0) -> None:
    """Play random games and check at every board that the verbs agree with each other."""
    choices = np.random.default_rng(seed)
    for number in range(games):
        episode = Episode(game, seed, number)
        _hold(episode.score >= 0, "the first score is not negative", episode.board)
        while legal := episode.legal:
            before, score = episode.board, episode.score
            _check_board(game, before)
            _check_moves(game, before, legal)
            action = legal[choices.integers(len(legal))]
            episode.move(action)
            _check_outcome(game, before, action, episode.board)
            _hold(episode.score >= score, "the score never falls", before)
        _hold(game.is_over(episode.board), "a game ends where no move is legal", episode.board)
        _check_replay(game, seed, number, episode)


def check_agent(agent: Agent, game: Game, *, games: int = 3, seed: int = 0) -> None:
    """Play games with the agent: legal moves, the best by its own values, the same games for the same seed."""
    for number in range(games):
        episode = Episode(game, seed, number)
        while legal := episode.legal:
            board = episode.board
            values = agent.values(board, episode.stream.copy())
            _hold(list(values) == legal, f"values are of the legal moves {legal}, not {list(values)}", board)
            _hold(all(math.isfinite(value) for value in values.values()), "values are finite", board)
            move = agent.move(board, episode.stream)
            _hold(move in legal, f"the move {move!r} is legal", board)
            best = values[move] == max(values.values())
            _hold(best, f"the move {move!r} has the highest value by the same chance, {values}", board)
            episode.move(move)
        _hold(agent.values(episode.board) == {}, "a finished game has no values", episode.board)
        try:
            agent.move(episode.board, episode.stream)
        except UsageError:
            continue
        _hold(False, "asking for a move of a finished game raises UsageError", episode.board)
    results = [evaluate(agent, game, games=games, seed=seed, threads=threads) for threads in (1, 2)]
    same = np.array_equal(results[0].scores, results[1].scores)
    _hold(same, "the same seed gives the same games on any number of threads", game.start(seed))


def _hold(holds: bool, what: str, board: Board) -> None:
    if not holds:
        raise AssertionError(f"it must hold that {what}; it does not on {board!r}")


def _reads_back(text: str, board: Board) -> bool:
    try:
        return board.game.parse(text) == board
    except BoardError:
        return False


def _check_board(game: Game, board: Board) -> None:
    _hold(_reads_back(game.text(board), board), "text reads back as the same board", board)
    _hold(_reads_back(json.dumps(board.to_json()), board), "JSON reads back as the same board", board)
    _hold(hash(game.parse(game.text(board))) == hash(board), "equal boards have equal hashes", board)
    tiles = [tile for row in board.tiles for tile in row]
    _hold(len(tiles) == game.rows * game.columns, "a board has rows x columns tiles", board)
    _hold(game.largest(board) == max(tiles), "largest is the largest tile", board)
    _hold(game.total(board) == sum(tiles), "total is the sum of the tiles", board)
    _hold(all(game.value(game.code(tile)) == tile for tile in tiles), "every tile has a code", board)


def _check_moves(game: Game, board: Board, legal: list[str]) -> None:
    symmetries = game.symmetries(board)
    _hold(symmetries[0] == board, "the first image is the board itself", board)
    found: list[list[tuple[Board, int]]] = [[] for _ in symmetries]
    for action in ACTIONS:
        try:
            after, reward = game.slide(board, action)
        except IllegalMoveError:
            _hold(action not in legal, f"{action} moves something, for it is listed as legal", board)
            continue
        _hold(action in legal, f"sliding {action} raises, for it is not legal", board)
        _hold(reward >= 0, "a reward is not negative", board)
        _hold(after.tiles != board.tiles, f"sliding {action} changes the board", board)
        _hold(_reads_back(game.text(after), after), "the text of an afterstate reads back", after)
        _check_chances(game, after)
    for symmetry, slides in zip(symmetries, found, strict=True):
        slides += sorted((game.slide(symmetry, action) for action in game.legal(symmetry)), key=repr)
    for which, slides in enumerate(found):
        mapped = sorted(((game.symmetries(after)[which], reward) for after, reward in found[0]), key=repr)
        _hold(mapped == slides, f"moves commute with symmetric image {which}", board)


def _check_chances(game: Game, after: Board) -> None:
    outcomes = game.outcomes(after)
    total = math.fsum(probability for _, probability in outcomes)
    _hold(abs(total - 1) < 1e-9, f"probabilities add up to 1, not {total}", after)
    _hold(all(probability > 0 for _, probability in outcomes), "only possible outcomes are listed", after)
    _hold(len({board for board, _ in outcomes}) == len(outcomes), "no outcome is listed twice", after)
    empty = sum(tile == 0 for row in after.tiles for tile in row)
    for board, _ in outcomes:
        left = sum(tile == 0 for row in board.tiles for tile in row)
        _hold(left == empty - 1, "an outcome adds one tile", after)


def _check_outcome(game: Game, before: Board, action: str, now: Board) -> None:
    possible = [board for board, _ in game.outcomes(game.slide(before, action)[0])]
    _hold(now in possible, f"what came after {action} is among the outcomes", before)


def _check_replay(game: Game, seed: int, number: int, played: Episode) -> None:
    again = Episode(game, seed, number)
    for turn in played.history:
        _hold(again.board == turn.board, "the same seed replays the game", again.board)
        again.move(turn.action)
    _hold(again.board == played.board and again.score == played.score, "the same seed replays the game", again.board)
    while again.history:
        again.undo()
    _hold(again.board == Episode(game, seed, number).board, "undoing every move leads back to the start", again.board)
