"""The screens of `tilewright play`: a coloured board beside a panel, or less on a small terminal."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.cli.play_session import HELP, PlaySession
from tilewright.games.board import Board
from tilewright.games.palette import BOARD_COLOUR, TERMINAL_COLOURS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["PlayScreen"]

_TILE_WIDTH, _TILE_HEIGHT = 8, 3
_PANEL_WIDTH = 34
_KEYS = "arrows move   i hint   u undo   space agent plays   n new   ? help   q quit"
_FEW_KEYS = "i hint  u undo  ? help  q quit"
_ASCII = str.maketrans("─│┌┬┐├┼┤└┴┘◀…", "-|+++++++++<.")


@dataclass(frozen=True)
class PlayScreen:
    """Draws a session as lines of text with the escape sequences of a terminal.

    Attributes:
        console: The terminal.
        coloured: Whether tiles are areas of colour; otherwise they have borders.
        plain_text: Whether to use ASCII only.
    """

    console: "Console"
    coloured: bool
    plain_text: bool

    @classmethod
    def for_terminal(cls, no_color: bool) -> "PlayScreen":
        """Make a screen that suits the terminal of this process.

        Args:
            no_color: Whether to draw without colours even if the terminal has them.
        """
        from rich.console import Console

        console = Console(
            file=sys.stdout, force_terminal=True, no_color=no_color or None, highlight=False, legacy_windows=False
        )
        # 16 colours are too few to give each tile its own.
        coloured = not console.no_color and console.color_system in ("256", "truecolor")
        encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
        return cls(console, coloured, not encoding.startswith("utf"))

    def draw(self, session: PlaySession, columns: int, rows: int) -> list[str]:
        """Return the lines of a screen of the given size."""
        lines = self._choose_layout(session, columns, rows)
        shown = []
        for line in lines[:rows]:
            line.truncate(columns)
            with self.console.capture() as capture:
                self.console.print(line, end="", soft_wrap=True)
            shown.append(capture.get().translate(_ASCII) if self.plain_text else capture.get())
        return shown

    def _choose_layout(self, session: PlaySession, columns: int, rows: int) -> "list[Text]":
        from rich.text import Text

        board = session.episode.board
        tiles = self._coloured_board(board) if self.coloured else self._bordered_board(board)
        if columns >= len(tiles[0].plain) + 2 + _PANEL_WIDTH and rows >= len(tiles) + 4:
            return [
                self._title(session),
                Text(),
                *self._beside(tiles, self._help() if session.shows_help else self._panel(session)),
                Text(session.message, style="bold"),
                Text(_KEYS, style="dim"),
            ]
        small = [Text(line) for line in str(board).splitlines()]
        need_columns, need_rows = max(len(small[0].plain), len(_FEW_KEYS)), max(len(small), len(HELP)) + 4
        if columns >= need_columns and rows >= need_rows:
            return self._small(session, small)
        return [Text(f"too small: {columns}x{rows}"), Text(f"needed: {need_columns}x{need_rows}")]

    def _small(self, session: PlaySession, board: "list[Text]") -> "list[Text]":
        from rich.text import Text

        episode = session.episode
        hint = [
            f"{action[0]} {value:,.0f}{'*' if action in session.best else ''}" for action, value in session.hint.items()
        ]
        score = f"score {episode.score:,}  moves {len(episode.history):,}"
        return [
            Text(score, style="bold"),
            *(self._help() if session.shows_help else board),
            Text("  ".join(hint)),
            Text(session.message or ("agent plays" if session.autoplay else "")),
            Text(_FEW_KEYS, style="dim"),
        ]

    def _title(self, session: PlaySession) -> "Text":
        from rich.text import Text

        episode = session.episode
        game = f"{episode.game.spec}, seed {episode.seed}" + (f", game {episode.number}" if episode.number else "")
        return Text.assemble((" tilewright ", "bold reverse"), f"  {game}")

    def _beside(self, left: "list[Text]", right: "list[Text]") -> "list[Text]":
        from rich.text import Text

        right = right + [Text()] * (len(left) - len(right))
        return [Text.assemble(a, "   ", b) for a, b in zip(left, right, strict=False)]

    def _coloured_board(self, board: Board) -> "list[Text]":
        """Return a board whose tiles are areas of colour, about as wide as they are high."""
        from rich.text import Text

        ground, value = f"on {self._colour(BOARD_COLOUR)}", board.game.value
        width = board.game.columns * (_TILE_WIDTH + 2) + 2
        lines = [Text(" " * width, ground)]
        for row in board.codes:
            for height in range(_TILE_HEIGHT):
                line = Text("  ", ground)
                for code in row:
                    label = str(value(code)) if code and height == _TILE_HEIGHT // 2 else ""
                    line.append(f"{label:^{_TILE_WIDTH}}", self._colours_of(board, code)).append("  ", ground)
                lines.append(line)
            lines.append(Text(" " * width, ground))
        return lines

    def _colours_of(self, board: Board, code: int) -> str:
        palette = board.game.palette
        return f"bold {palette.text(code)} on {self._colour(palette.background(code))}"

    def _colour(self, colour: str) -> str:
        return (
            f"color({TERMINAL_COLOURS[colour]})"
            if self.console.color_system == "256" and colour in TERMINAL_COLOURS
            else colour
        )

    def _bordered_board(self, board: Board) -> "list[Text]":
        from rich.text import Text

        line = "─" * _TILE_WIDTH
        top, middle, bottom = (
            left + cross.join([line] * board.game.columns) + right for left, cross, right in ("┌┬┐", "├┼┤", "└┴┘")
        )
        empty = "│".join(["", *[" " * _TILE_WIDTH] * board.game.columns, ""])
        rows = []
        for tiles in board.tiles:
            labels = "│".join(["", *(f"{tile or '':^{_TILE_WIDTH}}" for tile in tiles), ""])
            rows.append("\n".join([empty, labels, empty]))
        return [Text(part) for part in "\n".join([top, f"\n{middle}\n".join(rows), bottom]).splitlines()]

    def _panel(self, session: PlaySession) -> "list[Text]":
        """Return the score, the notes of the board, the agent and the hint."""
        from rich.text import Text

        episode = session.episode
        lines = [
            _fact("score", f"{episode.score:,}"),
            _fact("moves", f"{len(episode.history):,}"),
            _fact("largest", f"{episode.game.largest(episode.board):,}"),
            *self._notes(episode.board),
            Text(),
            _fact("agent", session.player.agent.spec[:24]),
            _fact("", f"{'plays' if session.autoplay else 'waits'}, {session.speed:g} moves/s"),
            Text(),
        ]
        width = max((len(f"{value:,.1f}") for value in session.hint.values()), default=0)
        for action, value in session.hint.items():
            best = action in session.best
            lines.append(Text(f"{action:<8}{value:>{width},.1f}{'  ◀ best' if best else ''}", "bold" if best else ""))
        return lines

    def _notes(self, board: Board) -> "list[Text]":
        """Return the notes of a board; the next tile of Threes is drawn as a tile."""
        lines = []
        for name, text in board.notes.items():
            fact = _fact(name, "")
            code = board.game.tile_values.index(int(text)) if text in ("1", "2", "3") else 0
            if name == "hint" and self.coloured and code:
                fact.append(f"  {text}  ", self._colours_of(board, code))
            else:
                fact.append(text, "bold")
            lines.append(fact)
        return lines

    def _help(self) -> "list[Text]":
        from rich.text import Text

        return [Text.assemble((f"{keys:<8}", "bold"), does) for keys, does in HELP]


def _fact(name: str, value: str) -> "Text":
    from rich.text import Text

    return Text.assemble((f"{name:<9}", "dim"), (value, "bold"))
