"""Practice positions by theme and difficulty: out of games of an agent that errs now and then, or out of a table.

The difficulty is what the second best move costs: where it costs much there is one good move to find, where it costs
little the point is a fine one.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np

from tilewright.agents.base import Analysis
from tilewright.agents.exact import ExactAgent, find_table
from tilewright.errors import UsageError
from tilewright.exact.practice import practice_positions
from tilewright.games.board import Board
from tilewright.games.twenty48 import Twenty48
from tilewright.rng import stream_for
from tilewright.web.agents import WebAgent
from tilewright.web.positions import Position, start_position
from tilewright.web.schemas import JsonObject
from tilewright.web.searches import Search

__all__ = ["LEVELS", "THEMES", "Level", "Theme", "find_position", "find_table_position"]

Theme = Literal["corner", "merge", "endgame"]
Level = Literal["easy", "medium", "hard"]
LEVELS: Mapping[Level, tuple[float, float]] = {  # what the second best move costs, as a part of what is expected
    "easy": (0.08, 1.0),
    "medium": (0.02, 0.08),
    "hard": (0.005, 0.02),
}
_SMALLEST = 256  # the largest tile of a position that is worth practice
_ERRORS = 0.05  # the part of random moves, so that positions are not those of perfect play alone
_APART = 8  # moves between two positions that are looked at
_MAX_MOVES = 20_000


class _Found(NamedTuple):
    board: Board
    score: int
    analysis: Analysis


def is_corner_lost(tiles: list[list[int]]) -> bool:
    """Return whether the largest tile is in no corner.

    >>> is_corner_lost([[2, 64], [4, 8]]), is_corner_lost([[2, 8, 2], [4, 64, 2], [2, 4, 2]])
    (False, True)
    """
    corners = [tiles[row][column] for row in (0, -1) for column in (0, -1)]
    return max(map(max, tiles)) not in corners


def is_merge_ahead(tiles: list[list[int]]) -> bool:
    """Return whether there are two of the largest tile, or two of half of it: a big merge is ahead.

    >>> is_merge_ahead([[64, 2], [32, 32]]), is_merge_ahead([[64, 32], [16, 16]])
    (True, False)
    """
    values = sorted((value for row in tiles for value in row), reverse=True)
    largest = values[0]
    return values.count(largest) > 1 or values.count(largest // 2) > 1


THEMES: Mapping[str, Callable[[list[list[int]]], bool]] = {"corner": is_corner_lost, "merge": is_merge_ahead}


def find_position(
    player: WebAgent, judge: WebAgent, game: Twenty48, theme: str, level: Level, seed: int, search: Search
) -> JsonObject:
    """Return a position of a theme, out of games that `player` plays with some random moves.

    Args:
        player: Plays the games; it does not search.
        judge: Says what every move is worth, in points.
        game: The game.
        theme: A name in `THEMES`.
        level: The difficulty.
        seed: The same seed gives the same position.
        search: Stops the work.

    Raises:
        UsageError: No such position was found.
    """
    fits, (least, most) = THEMES[theme], LEVELS[level]
    random, moves, number = np.random.default_rng(seed), 0, 0
    while moves < _MAX_MOVES:
        position, number = start_position(game, seed, number), number + 1
        waits = int(random.integers(_APART))
        while (legal := game.legal(position.board)) and moves < _MAX_MOVES:
            moves, waits = moves + 1, waits - 1
            if waits < 0 and len(legal) > 1 and _is_worth(position.board, fits):
                waits = _APART
                analysis = judge.analyse(position.board, search)
                if least <= _second_cost(analysis, position.score) < most:
                    return _to_json(_Found(position.board, position.score, analysis), judge.spec)
            position = _next(player, position, legal, random, search)
    raise UsageError(f"no position was found: theme={theme}, level={level}; try another seed")


def _is_worth(board: Board, fits: Callable[[list[list[int]]], bool]) -> bool:
    tiles = [list(row) for row in board.tiles]
    return max(map(max, tiles)) >= _SMALLEST and fits(tiles)


def _next(
    player: WebAgent, position: Position, legal: list[str], random: np.random.Generator, search: Search
) -> Position:
    """The position after the player's move or, now and then, after a random one."""
    game, stream = position.board.game, position.stream.copy()
    if random.random() < _ERRORS:
        after, reward = game.slide(position.board, legal[int(random.integers(len(legal)))])
        board, more = game.spawn(after, stream)
        return Position(board, position.score + reward + more, stream)
    with player.player(game, search) as playing:
        move = playing.play(position.board, position.score, stream, 1)[0]
    return Position(Board(game, move.state), move.score, stream)


def _second_cost(analysis: Analysis, score: int) -> float:
    """What the second best move costs, as a part of the score that is expected at the end; 0 if both are as good."""
    best, second = sorted(analysis.values.values(), reverse=True)[:2]
    expected = score + best
    return (best - second) / expected if expected > 0 else 0.0


def find_table_position(agent: WebAgent, level: Level, seed: int) -> JsonObject:
    """Return a position of the table that an `exact` agent plays by.

    Raises:
        UsageError: The agent has no table, or the table has no such position.
    """
    if not isinstance(agent.agent, ExactAgent):
        raise UsageError(f"agent {agent.spec}: endgames need an agent with a table, such as exact:table=FILE")
    table = find_table(agent.agent.table)
    scale = 1.0 if table.problem.goal else table.value_of(table.game.start(seed))
    least, most = LEVELS[level]
    boards = practice_positions(table, 1, loss=(least * scale, most * scale), seed=seed)
    if not boards:
        raise UsageError(f"agent {agent.spec}: the table has no such position, level={level}; try another seed")
    board = boards[0]
    return _to_json(_Found(board, 0, agent.analyse(board)), agent.spec)


def _to_json(found: _Found, agent: str) -> JsonObject:
    position = Position(found.board, found.score, stream_for(0)).to_json()
    names = ("game", "code", "text", "score", "legal")
    values = {"values": found.analysis.values, "unit": found.analysis.unit, "agent": agent}
    return {name: position[name] for name in names} | values
