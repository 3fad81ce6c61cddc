"""The result of an audit: what was checked, what was found, and the smallest example of it."""

from dataclasses import asdict, dataclass, field

from tilewright.audit.rules import Tiles, write_tiles

__all__ = ["CHECKS", "AuditReport", "CheckResult", "Example", "Finding"]

# name -> what must hold
CHECKS = {
    "slides": "all tiles slide as far as they can",
    "merges": "two equal tiles merge once, those in front first",
    "rewards": "the reward is the sum of the merged tiles, or follows from it",
    "legal moves": "the mask has exactly the moves that change the board",
    "illegal moves": "a move that changes nothing adds no tile",
    "game over": "a game ends exactly when no move is legal",
    "new tiles": "a legal move adds one tile, a 2 or a 4",
    "tile values": "a new tile is a 4 with the stated probability",
    "tile places": "every empty cell gets the new tile with the same probability",
    "first boards": "the first tiles are in random cells",
    "seeding": "the same seed gives the same game, another seed another one",
    "arrays": "an array that was returned does not change later",
}


@dataclass(frozen=True)
class Example:
    """One case in which something is wrong.

    Attributes:
        board: The board before the move.
        move: The move.
        expected: What the rules say.
        found: What the engine did.
        line: The line on which they differ, as `2 2 4 0 -> 8 0 0 0, expected 4 4 0 0`; "" where it is not one line.
    """

    board: Tiles
    move: str
    expected: str
    found: str
    line: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """Number and sum of the tiles: the smaller, the easier to follow."""
        tiles = [tile for row in self.board for tile in row if tile]
        return len(tiles), sum(tiles)

    def to_json(self) -> dict[str, object]:
        """Return the example as JSON."""
        return {**asdict(self), "board": [list(row) for row in self.board], "text": write_tiles(self.board)}


@dataclass(frozen=True)
class Finding:
    """Something that is wrong.

    Attributes:
        message: What is wrong.
        count: In how many cases.
        example: The smallest of them; None where no single case shows it.
    """

    message: str
    count: int = 1
    example: Example | None = None

    def to_json(self) -> dict[str, object]:
        """Return the finding as JSON."""
        example = None if self.example is None else self.example.to_json()
        return {"message": self.message, "count": self.count, "example": example}


@dataclass
class CheckResult:
    """The result of one check.

    Attributes:
        name: The check, one of `CHECKS`.
        tested: The number of cases; 0 if it could not be checked.
        findings: What is wrong.
        notes: What is worth knowing and is not wrong, or why it could not be checked.
    """

    name: str
    tested: int = 0
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """`found`, `ok` or `not checked`."""
        return "found" if self.findings else "ok" if self.tested else "not checked"

    def to_json(self) -> dict[str, object]:
        """Return the result as JSON."""
        return {
            "check": self.name,
            "rule": CHECKS[self.name],
            "verdict": self.verdict,
            "tested": self.tested,
            "findings": [finding.to_json() for finding in self.findings],
            "notes": self.notes,
        }


@dataclass
class AuditReport:
    """The result of an audit.

    Attributes:
        target: The engine.
        version: Name and version of its package; "" if unknown.
        encoding: The form of its boards.
        directions: The direction of each of its actions.
        moves: The number of moves.
        games: The number of games.
        seed: The seed.
        error_rate: The probability that the statistical checks accuse a correct engine.
        largest: The largest tile that was reached.
        results: The checks.
    """

    target: str
    version: str
    encoding: str
    directions: tuple[str, ...]
    moves: int
    games: int
    seed: int
    error_rate: float
    largest: int
    results: list[CheckResult]

    @property
    def findings(self) -> list[Finding]:
        """Everything that is wrong."""
        return [finding for result in self.results for finding in result.findings]

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON."""
        return {
            "engine": self.target,
            "version": self.version,
            "encoding": self.encoding,
            "actions": list(self.directions),
            "moves": self.moves,
            "games": self.games,
            "seed": self.seed,
            "error_rate": self.error_rate,
            "largest_tile": self.largest,
            "findings": len(self.findings),
            "checks": [result.to_json() for result in self.results],
        }
