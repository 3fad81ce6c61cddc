"""A board as people see it: immutable, comparable, and it prints as a board."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tilewright.games.palette import BOARD_COLOUR
from tilewright.games.rules import State

if TYPE_CHECKING:
    from tilewright.games.base import Game

__all__ = ["Board"]

Tiles = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Board:
    """A state or afterstate of `game`. Make one with `game.parse`, `game.start` or `game.slide`.

    >>> import tilewright as tw
    >>> board = tw.make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    >>> board.tiles[0]
    (2, 2, 4, 0)
    """

    game: "Game"
    state: State

    @property
    def tiles(self) -> Tiles:
        """The tile values, row by row; 0 is empty."""
        value = self.game.value
        return tuple(tuple(value(code) for code in row) for row in self.codes)

    @property
    def codes(self) -> Tiles:
        """The tile codes, row by row: exponents in 2048."""
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
        """What is known beside the tiles, as the text form has it: {'hint': '2', 'bag': '143'} in Threes."""
        return self.game.notes(self)

    def to_json(self) -> dict[str, Any]:
        """A form that `json.dumps` takes and `game.parse` reads back."""
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
        """What a notebook shows."""
        cells = "".join("<tr>" + "".join(self._html_cell(code) for code in row) + "</tr>" for row in self.codes)
        notes = " ".join(f"{name}={text}" for name, text in self.notes.items())
        return (
            '<table style="border-collapse:separate;border-spacing:4px;border-radius:6px;'
            f'background:{BOARD_COLOUR}">{cells}</table><div>{notes}</div>'
        )

    def _html_cell(self, code: int) -> str:
        palette = self.game.palette
        return (
            f'<td style="width:3.2em;height:3.2em;text-align:center;font-weight:bold;border-radius:4px;'
            f'background:{palette.background(code)};color:{palette.text(code)}">{self.game.value(code) or ""}</td>'
        )
