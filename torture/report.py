"""What a run found: a table of counts, and a file for every failing input."""

import base64
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Failure", "Tally", "case_from_json", "case_to_json", "print_table"]

_FILES_PER_PLACE = 3  # failing inputs that are kept of one finding


def case_to_json(case: Any) -> Any:
    """Return an input as JSON can hold it: bytes in base 64."""
    if isinstance(case, bytes):
        return {"base64": base64.b64encode(case).decode()}
    if isinstance(case, dict):
        return {key: case_to_json(value) for key, value in case.items()}
    return [case_to_json(value) for value in case] if isinstance(case, list | tuple) else case


def case_from_json(found: Any) -> Any:
    """Return the input that `case_to_json` wrote."""
    if isinstance(found, dict):
        if list(found) == ["base64"]:
            return base64.b64decode(found["base64"])
        return {key: case_from_json(value) for key, value in found.items()}
    return [case_from_json(value) for value in found] if isinstance(found, list) else found


@dataclass(frozen=True)
class Failure:
    """A failing input: its number, what happened, where, and the input itself if it is known."""

    number: int
    problem: str
    place: str
    input: Any = None


@dataclass
class Tally:
    """What came of the inputs of one kind."""

    kind: str
    seed: int
    folder: Path  # of the failing inputs
    accepted: int = 0
    refused: int = 0
    count: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    places: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)  # measurements

    @property
    def inputs(self) -> int:
        """The number of inputs that were run."""
        return self.accepted + self.refused + len(self.failures)

    def add(self, failure: Failure) -> Path | None:
        """Count a failing input, and write the first ones of every place to files."""
        self.failures.append(failure)
        self.places[failure.place] += 1
        if self.places[failure.place] > _FILES_PER_PLACE:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        place = re.sub(r"[^A-Za-z0-9]+", "-", failure.place).strip("-").lower()[:60]
        path = self.folder / f"{self.kind.rpartition(':')[2]}-{place}-{max(failure.number, 0)}.json"
        content = {
            "kind": self.kind,
            "seed": self.seed,
            "number": failure.number,
            "problem": failure.problem,
            "again": f"{shlex.quote(sys.executable)} -m torture --again {shlex.quote(str(path))}",
            "input": failure.input,
        }
        path.write_text(json.dumps(content, indent=1))
        return path


def print_table(tallies: list[Tally]) -> None:
    """Print the counts of every kind, what was measured, and the failures by the place where they happen."""
    columns = ("kind", "inputs", "counted", "accepted", "refused", "failed", "seconds", "a second")
    rows: list[tuple[str, list[float]]] = [
        (t.kind, [t.inputs, t.count, t.accepted, t.refused, len(t.failures), t.seconds]) for t in tallies
    ]
    rows.append(("total", [sum(numbers[i] for _, numbers in rows) for i in range(6)]))
    table: list[Sequence[str]] = [columns]
    for name, numbers in rows:
        speed = numbers[0] / numbers[-1] if numbers[-1] else 0.0
        table.append((name, *(f"{number:,.0f}" for number in (*numbers, speed))))
    widths = [max(len(row[i]) for row in table) for i in range(len(columns))]
    for row in table:
        print("  ".join(cell.ljust(widths[0]) if not i else cell.rjust(widths[i]) for i, cell in enumerate(row)))
    for tally in tallies:
        for note in tally.notes:
            print(f"{tally.kind}: {note}")
    for tally in tallies:
        for place, count in tally.places.most_common():
            first = next(failure for failure in tally.failures if failure.place == place)
            print(f"\n{tally.kind}: {count:,} × {place}\n    {first.problem.splitlines()[0][:300]}")
    kept = [tally for tally in tallies if tally.failures]
    if kept:
        print(f"\nfailing inputs, each with the command that runs it again: {kept[0].folder}")
