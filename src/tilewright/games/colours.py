"""The colours of tiles: one palette a game for the notebook, the terminal and any other screen."""

from dataclasses import dataclass

__all__ = ["BETWEEN_TILES", "WARM", "Palette"]

BETWEEN_TILES = "#bbada0"
_EMPTY, _DARK, _LIGHT = "#cdc1b4", "#776e65", "#ffffff"


@dataclass(frozen=True)
class Palette:
    """Colours by tile code, as #rrggbb."""

    backgrounds: tuple[str, ...]  # of the codes 1, 2, …
    dark_text: frozenset[int]  # codes whose background is light

    def background(self, code: int) -> str:
        return self.backgrounds[code - 1] if code else _EMPTY

    def text(self, code: int) -> str:
        return _DARK if code in self.dark_text else _LIGHT


WARM = Palette(
    (
        *("#eee4da", "#ede0c8", "#f2b179", "#f59563", "#f67c5f", "#f65e3b", "#edcf72", "#edcc61", "#edc850"),
        *("#edc53f", "#edc22e", "#5fb3a1", "#3f9c88", "#2d7f9d", "#23658a", "#5b4b8a", "#3c3a32"),
    ),
    frozenset({0, 1, 2}),
)
