"""Boards for Python code: immutable, comparable, printable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from tilewright.games.palette import BOARD_COLOUR
from tilewright.games.rules import State

if TYPE_CHECKING:
    from tilewright.games.base import Game

__all__ = ["Board", "BoardLike"]

Tiles: TypeAlias = tuple[tuple[int, ...], ...]
# Everything that `Game.parse` reads: a board, text, nested lists, an array, or the form of `Board.to_json`.
BoardLike: TypeAlias = Union["Board", str, Sequence[object], Mapping[str, object], NDArray[np.integer]]


@dataclass(frozen=True, slots=True)
class Board:
    """A board of `game`, before or after the new tile. Made by `game.parse`, `game.start`, `game.slide`, `game.spawn`.

    Boards are immutable. Equal boards of equal games are equal and have the same hash.

    >>> import tilewright as tw
    >>> board = tw.make_game("2048:rows=2,columns=2").parse("2 4 / 0 8")
    >>> print(board)
    ┌──────┬──────┐
    │    2 │    4 │
    ├──────┼──────┤
    │      │    8 │
    └──────┴──────┘
    >>> board
    Board('2048:rows=2,columns=2', '2 4 / 0 8')
    """

    game: "Game"
    state: State

    @property
    def tiles(self) -> Tiles:
        """The tile values, row by row; 0 is an empty cell.

        >>> make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2").tiles[0]
        (2, 2, 4, 0)
        """
        values = self.game.tile_values
        return tuple(tuple(values[code] for code in row) for row in self.codes)

    @property
    def codes(self) -> Tiles:
        """The tile codes, row by row: in 2048 the exponents.

        >>> make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2").codes[0]
        (1, 1, 2, 0)
        """
        cells, high = int(self.state.cells), self.game.high_bits(self.state)
        return tuple(
            tuple(
                (cells >> 4 * place & 15) | (high >> place & 1) << 4
                for place in range(15 - 4 * row, 15 - 4 * row - self.game.columns, -1)
            )
            for row in range(self.game.rows)
        )

    @property
    def notes(self) -> dict[str, str]:
        """What is known besides the tiles, as the text form has it.

        >>> make_game("threes").start(seed=1).notes
        {'hint': '3', 'bag': '110'}
        """
        return self.game.notes(self)

    @property
    def is_empty(self) -> bool:
        """Whether the board has no tile at all. Such a board is not a position of a game.

        >>> make_game("2048").parse([0] * 16).is_empty
        True
        """
        return not any(code for row in self.codes for code in row)

    def to_json(self) -> dict[str, list[list[int]] | str]:
        """Convert the board to a form that `json.dumps` writes and `game.parse` reads.

        >>> make_game("2048:rows=2,columns=2").parse("2 4 / 0 8").to_json()
        {'board': [[2, 4], [0, 8]]}
        """
        return {"board": [list(row) for row in self.tiles], **self.notes}

    def __str__(self) -> str:
        width = max(4, *(len(str(tile)) for row in self.tiles for tile in row))
        line = "─" * (width + 2)
        rows = ["│".join(["", *(f" {tile or '':>{width}} " for tile in row), ""]) for row in self.tiles]
        top, middle, bottom = (
            left + cross.join([line] * self.game.columns) + right for left, cross, right in ("┌┬┐", "├┼┤", "└┴┘")
        )
        drawing = [top, f"\n{middle}\n".join(rows), bottom]
        if self.notes:
            drawing.append(" ".join(f"{name}={text}" for name, text in self.notes.items()))
        return "\n".join(drawing)

    def __repr__(self) -> str:
        return f"Board({self.game.spec!r}, {self.game.text(self)!r})"

    def _repr_html_(self) -> str:
        """The board as a notebook shows it."""
        cells = "".join("<tr>" + "".join(self._html_cell(code) for code in row) + "</tr>" for row in self.codes)
        notes = " ".join(f"{name}={text}" for name, text in self.notes.items())
        return (
            '<table style="border-collapse:separate;border-spacing:4px;border-radius:6px;'
            f'background:{BOARD_COLOUR}">{cells}</table><div>{notes}</div>'
        )

    def _html_cell(self, code: int) -> str:
        palette, tile = self.game.palette, self.game.tile_values[code] or ""
        return (
            f'<td style="width:3.2em;height:3.2em;text-align:center;font-weight:bold;border-radius:4px;'
            f'background:{palette.background(code)};color:{palette.text(code)}">{tile}</td>'
        )
