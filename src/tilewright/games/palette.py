"""Tile colours: one palette for each game, used by notebooks, terminals and web pages."""

from dataclasses import dataclass

__all__ = ["BOARD_COLOUR", "TERMINAL_COLOURS", "WARM_PALETTE", "Palette"]

BOARD_COLOUR = "#bbada0"
_EMPTY, _DARK, _LIGHT = "#cdc1b4", "#776e65", "#ffffff"


@dataclass(frozen=True)
class Palette:
    """Colours by tile code, as #rrggbb.

    >>> WARM_PALETTE.background(11), WARM_PALETTE.text(11)
    ('#edc22e', '#ffffff')
    """

    backgrounds: tuple[str, ...]  # of the codes 1, 2, …
    dark_text: frozenset[int]  # the codes whose background is light

    def background(self, code: int) -> str:
        """The background colour of a tile; code 0 is the empty cell."""
        return self.backgrounds[code - 1] if code else _EMPTY

    def text(self, code: int) -> str:
        """The text colour of a tile."""
        return _DARK if code in self.dark_text else _LIGHT


WARM_PALETTE = Palette(
    (
        *("#eee4da", "#ede0c8", "#f2b179", "#f59563", "#f67c5f", "#f65e3b", "#edcf72", "#edcc61", "#edc850"),
        *("#edc53f", "#edc22e", "#5fb3a1", "#3f9c88", "#2d7f9d", "#23658a", "#5b4b8a", "#3c3a32"),
    ),
    frozenset({0, 1, 2}),
)

# For terminals with 256 colours. The nearest of these is often the colour of another tile, or pink, so that they are
# chosen by hand; colours that are not listed may be rounded.
TERMINAL_COLOURS = {BOARD_COLOUR: 246, _EMPTY: 251} | {
    f"#{colour}": number
    for colour, number in (
        *(("eee4da", 255), ("ede0c8", 230), ("f2b179", 173), ("f59563", 209), ("f67c5f", 203), ("f65e3b", 202)),
        *(("edcf72", 179), ("edcc61", 178), ("edc850", 172), ("edc53f", 136), ("edc22e", 214)),
        *(("fbf8ef", 231), ("f8efd6", 230), ("f6e3b4", 229), ("f4d58d", 222), ("f2c464", 221), ("eeae45", 215)),
        *(("e08a35", 172), ("d46f33", 166), ("c25238", 130), ("a83c4a", 125)),
    )
}
