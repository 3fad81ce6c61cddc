"""The conformance suite: what must hold for every game and every agent, yours included.

    from tilewright.testing import check_agent, check_game

    check_game("my_games:MyGame")
    check_agent("my_agents:MyAgent", "2048")

Both play a few games and check every board. They raise ConformanceError, an AssertionError, which says what must hold,
what was found, on which board, and how to mend it.
"""

import json
import math
from collections.abc import Callable
from numbers import Real
from typing import TypeVar

import numpy as np

from tilewright._core.text import excerpt
from tilewright.agents import make_agent
from tilewright.agents.base import Agent
from tilewright.errors import IllegalMoveError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS
from tilewright.play.evaluate import evaluate

__all__ = ["ConformanceError", "check_agent", "check_game"]

T = TypeVar("T")


class ConformanceError(AssertionError):
    """A game or an agent breaks a rule of the protocol.

    Attributes:
        rule: What must hold.
        found: What was found instead.
        board: The board on which it was found.
        remedy: How to mend it.
    """

    def __init__(self, rule: str, found: str, board: Board, remedy: str) -> None:
        """Compose the message from its parts."""
        super().__init__(f"{rule}\n  found: {found}\n  on: {board!r}\n  to mend it: {remedy}")
        self.rule, self.found, self.board, self.remedy = rule, found, board, remedy


def check_game(game: Game | str, *, games: int = 3, seed: int = 0) -> None:
    """Play random games, and check on every board that the methods of the game agree with each other.

    >>> check_game("2048:rows=2,columns=2")

    Args:
        game: A game or its spec.
        games: The number of games to play.
        seed: The seed of the games, and of the choice of moves.

    Raises:
        ConformanceError: Something does not hold.
    """
    game = make_game(game)
    choices = np.random.default_rng(seed)
    for number in range(games):
        episode = Episode(game, seed, number)
        _check_score(episode.score, 0, episode.board)
        while legal := episode.legal:
            before, score = episode.board, episode.score
            _check_board(game, before)
            _check_moves(game, before, legal)
            action = legal[choices.integers(len(legal))]
            episode.move(action)
            _check_spawn(game, before, action, episode.board)
            _check_score(episode.score, score, before)
        _check_board(game, episode.board)
        _check_replay(game, seed, number, episode)


def check_agent(agent: Agent | str, game: Game | str = "2048", *, games: int = 3, seed: int = 0) -> None:
    """Play games with an agent, and check its values and moves on every board.

    >>> check_agent("greedy", "2048:rows=2,columns=2")

    Args:
        agent: An agent or its spec.
        game: A game or its spec.
        games: The number of games to play.
        seed: The seed of the games.

    Raises:
        ConformanceError: Something does not hold.
    """
    agent, game = make_agent(agent), make_game(game)
    for number in range(games):
        episode = Episode(game, seed, number)
        while legal := episode.legal:
            _check_choice(agent, episode, legal)
        _check_end(agent, episode)
    results = [evaluate(agent, game, games=games, seed=seed, threads=threads) for threads in (1, 2)]
    if not np.array_equal(results[0].scores, results[1].scores):
        raise ConformanceError(
            "an agent must play the same games with the same seed, whatever the number of threads",
            f"the scores {results[0].scores.tolist()} with one thread, {results[1].scores.tolist()} with two",
            game.start(seed),
            "keep nothing from move to move that changes a choice, and draw random numbers from `stream` only",
        )


# Games


def _call(name: str, board: Board, call: Callable[[], T]) -> T:
    """Call a method that must not raise on this board."""
    try:
        return call()
    except ConformanceError:
        raise
    except Exception as error:
        raise ConformanceError(
            f"{name} must not raise an error here",
            f"{type(error).__name__}: {error}",
            board,
            f"see the traceback of the {type(error).__name__} above",
        ) from error


def _check_score(score: int, before: int, board: Board) -> None:
    if score < before:
        raise ConformanceError(
            "a score must never fall",
            f"the score {score} after {before}",
            board,
            "return rewards of at least 0 from slide and spawn, in total",
        )


def _check_board(game: Game, board: Board) -> None:
    _check_reads_back(game, board)
    tiles = [tile for row in board.tiles for tile in row]
    if len(tiles) != game.rows * game.columns:
        raise ConformanceError(
            f"a board must have {game.rows} x {game.columns} cells", f"{len(tiles)} cells", board, "check Board.tiles"
        )
    for name, right in (("largest", max(tiles)), ("tile_sum", sum(tiles))):
        value = _call(name, board, lambda name=name: getattr(game, name)(board))  # type: ignore[misc]
        if value != right:
            raise ConformanceError(
                f"{name} must agree with the tiles, which give {right}",
                f"{name} is {value}",
                board,
                f"correct the verb {name} of the rules, or do not override the method",
            )
    for tile in tiles:
        if game.value(game.code(tile)) != tile:
            raise ConformanceError(
                "value must be the inverse of code",
                f"code({tile}) is {game.code(tile)}, and value({game.code(tile)}) is {game.value(game.code(tile))}",
                board,
                "list every tile once in tile_values",
            )


def _check_reads_back(game: Game, board: Board) -> None:
    """The text and the JSON form of a board read back as the same board."""
    for form, write in (("text", game.text), ("JSON", lambda board: json.dumps(board.to_json()))):
        written = _call(form, board, lambda write=write: write(board))  # type: ignore[misc]
        try:
            again = game.parse(written)
            found = f"{written!r} is read as {again!r}"
        except UsageError as error:
            again, found = None, f"{written!r} is refused: {error}"
        if again != board:
            remedy = "write in notes(), and read in parse_notes(), everything that State.extra contains"
            raise ConformanceError(f"the {form} of a board must read back as the same board", found, board, remedy)
        if hash(again) != hash(board):
            remedy = "do not override __hash__ of the game, or make it agree with __eq__"
            raise ConformanceError("equal boards must have equal hashes", "different hashes", board, remedy)


def _check_moves(game: Game, board: Board, legal: list[str]) -> None:
    if game.is_over(board):
        remedy = "let is_over be true exactly where legal() is empty"
        raise ConformanceError("a game must not be over while a move is legal", f"legal: {legal}", board, remedy)
    for action in ACTIONS:
        try:
            after, reward = game.slide(board, action)
        except IllegalMoveError:
            if action in legal:
                remedy = "list in legal() only moves that change the board"
                raise ConformanceError(
                    "a move that is listed as legal must be possible", f"slide raises on {action}", board, remedy
                ) from None
            continue
        if action not in legal or after.tiles == board.tiles:
            remedy = "raise IllegalMoveError in slide() where nothing moves, and leave the move out of legal()"
            found = f"slide({action!r}) leads to {after.tiles}; legal: {legal}"
            raise ConformanceError("exactly the moves that change the board must be legal", found, board, remedy)
        if reward < 0:
            remedy = "return a reward of at least 0 from slide()"
            raise ConformanceError("a reward must not be negative", f"{action} has {reward}", board, remedy)
        _check_reads_back(game, after)
        _check_outcomes(game, after)
    _check_symmetries(game, board)


def _check_symmetries(game: Game, board: Board) -> None:
    """A symmetric board has the symmetric moves."""
    symmetric = game.symmetries(board)
    if symmetric[0] != board:
        remedy = "return the board itself as the first of symmetries()"
        raise ConformanceError("the first symmetric board must be the board itself", repr(symmetric[0]), board, remedy)
    moves = [
        sorted((game.slide(one, action) for action in game.legal(one)), key=lambda found: (repr(found[0]), found[1]))
        for one in symmetric
    ]
    for which, found in enumerate(moves):
        mapped = [(game.symmetries(after)[which], reward) for after, reward in moves[0]]
        if sorted(mapped, key=lambda pair: (repr(pair[0]), pair[1])) != found:
            raise ConformanceError(
                f"symmetric boards must have symmetric moves with the same rewards (symmetry {which})",
                f"{symmetric[which]!r} has the moves {[(game.text(after), reward) for after, reward in found]}",
                board,
                "slide all four directions by the same rule, and transform all of State.extra in symmetry()",
            )


def _check_outcomes(game: Game, after: Board) -> None:
    outcomes = _call("outcomes", after, lambda: game.outcomes(after))
    remedy = "correct outcomes(): list every board that spawn() can lead to once, with its probability"
    total = math.fsum(probability for _, probability in outcomes)
    if abs(total - 1) >= 1e-9:
        raise ConformanceError("the probabilities of all outcomes must add up to 1", f"{total}", after, remedy)
    empty = _count_empty(after)
    seen = set()
    for board, probability in outcomes:
        found = f"{game.text(board)!r} with probability {probability}"
        if not probability > 0:
            raise ConformanceError("outcomes must have a probability above 0", found, after, remedy)
        if board in seen:
            raise ConformanceError("no outcome must be listed twice", found, after, remedy)
        if _count_empty(board) != empty - 1:
            raise ConformanceError("an outcome must add exactly one tile", found, after, remedy)
        seen.add(board)


def _count_empty(board: Board) -> int:
    return sum(tile == 0 for row in board.tiles for tile in row)


def _check_spawn(game: Game, before: Board, action: str, now: Board) -> None:
    possible = [board for board, _ in game.outcomes(game.slide(before, action)[0])]
    if now not in possible:
        raise ConformanceError(
            "spawn must lead to one of the outcomes",
            f"{action}, then {game.text(now)!r}, which is not among the {len(possible)} outcomes",
            before,
            "let spawn() and outcomes() use the same tiles and cells",
        )


def _check_replay(game: Game, seed: int, number: int, played: Episode) -> None:
    again = Episode(game, seed, number)
    remedy = "draw random numbers in start() and spawn() from `stream` only"
    for turn in played.history:
        if again.board != turn.board:
            found = f"{game.text(again.board)!r} after {len(again.history)} moves"
            raise ConformanceError("the same seed must give the same game", found, turn.board, remedy)
        again.move(turn.action)
    if again.board != played.board or again.score != played.score:
        found = f"{game.text(again.board)!r} with the score {again.score}, not {played.score}"
        raise ConformanceError("the same seed must give the same game", found, played.board, remedy)


# Agents


def _check_choice(agent: Agent, episode: Episode, legal: list[str]) -> None:
    """Check the values and the move of one board, and play the move."""
    board = episode.board
    values = _call("values", board, lambda: agent.values(board, episode.stream.copy()))
    _check_values(values, legal, board)
    move = _call("move", board, lambda: agent.move(board, episode.stream))
    if move not in legal:
        raise ConformanceError(
            f"move must return a legal move: {', '.join(legal)}",
            f"move returned {excerpt(move)}",
            board,
            "choose among board.game.legal(board), or override `values` alone: then the best legal move is played",
        )
    if values[move] != max(values.values()):
        raise ConformanceError(
            "the move must have the highest value, with the same random numbers",
            f"move returned {move!r}; the values are {values}",
            board,
            "do not override `move`, or let both decide alike; draw random numbers from `stream` only",
        )
    episode.move(move)


def _check_values(values: object, legal: list[str], board: Board) -> None:
    if not isinstance(values, dict):
        raise ConformanceError(
            "values must return a dictionary from each legal move to a number",
            excerpt(values, 60),
            board,
            "return {move: number for move in board.game.legal(board)}",
        )
    if sorted(map(str, values)) != sorted(legal):
        raise ConformanceError(
            f"values must have a number for every legal move and no other: {', '.join(legal)}",
            f"the moves {', '.join(map(str, values)) or 'none'}",
            board,
            "return {move: number for move in board.game.legal(board)}",
        )
    for move, value in values.items():
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ConformanceError(
                "values must be finite numbers",
                f"{move}: {excerpt(value)}",
                board,
                "replace None, NaN and infinities by numbers; a very bad move is -1e9",
            )


def _check_end(agent: Agent, episode: Episode) -> None:
    """Check what the agent says of a finished game."""
    board = episode.board
    values = _call("values", board, lambda: agent.values(board))
    if values != {}:
        raise ConformanceError(
            "values must be empty when the game is over",
            excerpt(values, 60),
            board,
            "return {} where board.game.legal(board) is empty",
        )
    try:
        move = agent.move(board, episode.stream)
    except UsageError:
        return
    except Exception as error:
        raise _moved_after_the_end(board, f"{type(error).__name__}: {error}") from error
    raise _moved_after_the_end(board, f"move returned {excerpt(move)}")


def _moved_after_the_end(board: Board, found: str) -> ConformanceError:
    return ConformanceError(
        "move must raise UsageError when the game is over",
        found,
        board,
        "do not override `move`, or raise tilewright.UsageError where board.game.legal(board) is empty",
    )
