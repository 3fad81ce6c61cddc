"""Replays of 2048verse as recorded games.

A replay is one text. The older form is `replay `, the size of the board if it is not 4x4 (`replay 3x3`), and one
character for every tile that came. A character has seven bits, from the lowest: the row of the tile (2), its column
(2), whether it is a 4 (1), and the move before it (2). The newer form begins with the size, as `4x4-…_`, and has three
characters of seven bits for every tile: the move (2), the tile (2), its column (3) and its row (3). The first two tiles
are those of the first board; their moves mean nothing.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tilewright._core.text import excerpt
from tilewright.errors import TilewrightError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.play.recording import Recording

__all__ = ["is_replay", "read_replay"]

_OLD_HEADER = re.compile(r"replay (?:([2-4])x([2-4]))?")
_NEW_HEADER = re.compile(r"([2-4])x([2-4])-[^_]*_")
_OLD_MOVES = ("up", "right", "down", "left")
_NEW_MOVES = ("up", "down", "left", "right")
_OLD_LETTERS = bytes((*range(32, 127), *range(128, 161))).decode("cp850")
_NEW_LETTERS = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + "".join(map(chr, range(0xC0, 0x100))) + "¤¾"
)
_FIRST_TILES = 2


class _Tile(NamedTuple):
    """A tile that came, and the move before it."""

    move: str
    value: int
    row: int
    column: int


def is_replay(text: str) -> bool:
    """Return whether a text begins as a replay does.

    >>> is_replay("replay 0 "), is_replay("4x4-1_000"), is_replay("1120000000000001")
    (True, True, False)
    """
    return bool(_OLD_HEADER.match(text) or _NEW_HEADER.match(text))


def read_replay(text: str) -> Recording:
    """Read a replay of 2048verse.

    >>> game = read_replay("replay  !`")      # a 2 at the top left, a 2 below it; down, and a 2 comes to the top left
    >>> game.game.text(game.board(-1))
    '2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 4 0 0 0'

    Args:
        text: The whole text of the replay.

    Returns:
        The game, checked move by move.

    Raises:
        UsageError: It is not a replay, or a move or a tile in it is not possible.
    """
    game, tiles = _parse(text.strip("\r\n"))
    if len(tiles) < _FIRST_TILES:
        raise UsageError("the replay has fewer than two tiles")
    board = game.parse([[0] * game.columns for _ in range(game.rows)])
    for tile in tiles[:_FIRST_TILES]:
        board = _put(board, tile, 0)
    states, actions, scores = [board.state], list[str](), [0]
    for number, tile in enumerate(tiles[_FIRST_TILES:], 1):
        try:
            after, reward = game.slide(board, tile.move)
        except TilewrightError:
            raise UsageError(f"move {number} of the replay, {tile.move}, changes nothing") from None
        board = _put(after, tile, number)
        states.append(board.state)
        actions.append(tile.move)
        scores.append(scores[-1] + reward)
    return Recording(game, "2048verse", 0, 0, tuple(states), tuple(actions), tuple(scores))


def _parse(text: str) -> tuple[Game, list[_Tile]]:
    """Return the game of a replay, and its tiles in the order in which they came."""
    old, new = _OLD_HEADER.match(text), _NEW_HEADER.match(text)
    header = old or new
    if header is None:
        raise UsageError(f"{excerpt(text)} is not a replay: it begins with neither `replay ` nor a size such as `4x4-`")
    rows, columns = (int(size or 4) for size in header.groups())
    game = make_game("2048", rows=rows, columns=columns)
    body = text[header.end() :]
    if old:
        return game, [_old_tile(number) for number in _numbers(body, _OLD_LETTERS)]
    digits = _numbers(body, _NEW_LETTERS)
    groups = zip(*(digits[i::3] for i in range(3)), strict=False)  # a last group that is not whole is left out
    return game, [_new_tile(high << 14 | middle << 7 | low) for high, middle, low in groups]


def _numbers(body: str, letters: str) -> list[int]:
    places = {letter: number for number, letter in enumerate(letters)}
    for i, letter in enumerate(body):
        if letter not in places:
            raise UsageError(f"character {i + 1} of the replay, {letter!r}, does not occur in replays")
    return [places[letter] for letter in body]


def _old_tile(bits: int) -> _Tile:
    return _Tile(_OLD_MOVES[bits >> 5], 4 if bits >> 4 & 1 else 2, bits & 3, bits >> 2 & 3)


def _new_tile(bits: int) -> _Tile:
    return _Tile(_NEW_MOVES[bits & 3], 2 << (bits >> 2 & 3), bits >> 7 & 7, bits >> 4 & 7)


def _put(board: Board, tile: _Tile, number: int) -> Board:
    """Return a board with a new tile."""
    game = board.game
    rows: Sequence[Sequence[int]] = board.tiles
    if tile.row >= game.rows or tile.column >= game.columns or rows[tile.row][tile.column] or tile.value > 4:
        place = f"row {tile.row + 1}, column {tile.column + 1}"
        raise UsageError(f"move {number} of the replay: a {tile.value} cannot come to {place}")
    changed = [list(row) for row in rows]
    changed[tile.row][tile.column] = tile.value
    return game.parse(changed)
