"""Finished jobs in one SQLite file: each is written once, whole; several processes may add to it at once."""

import csv
import io
import json
import platform
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tilewright import __version__
from tilewright._core.files import make_folder, write_text
from tilewright.errors import FileError

__all__ = ["Finished", "Store"]

WAIT = 60.0  # seconds that another process may take to write
SCHEMA = """
CREATE TABLE IF NOT EXISTS finished (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    about TEXT NOT NULL,
    result TEXT NOT NULL,
    machine TEXT NOT NULL,
    version TEXT NOT NULL,
    at TEXT NOT NULL
)
"""


@dataclass(frozen=True)
class Finished:
    """A job that was run to its end."""

    key: str
    kind: str  # training or test
    about: str  # what it was, for people
    result: dict[str, Any]
    machine: str
    version: str
    at: str


class Store:
    """The results of a folder: `results.sqlite`, and models by the keys of their trainings."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "results.sqlite"
        self._lock = threading.Lock()
        make_folder(folder)
        with self._connection() as connection:
            connection.execute(SCHEMA)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                connection = sqlite3.connect(self.file, timeout=WAIT)
                try:
                    with connection:
                        yield connection
                finally:
                    connection.close()
        except sqlite3.Error as error:
            raise FileError(f"{self.file}: cannot be used: {error}") from None

    def run_folder(self, key: str) -> Path:
        """Where the training of that key happens."""
        return self.folder / "trainings" / key

    def find(self, key: str) -> Finished | None:
        with self._connection() as connection:
            row = connection.execute("SELECT * FROM finished WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._finished(row)

    def add(self, key: str, kind: str, about: str, result: dict[str, Any]) -> None:
        """Keep a result; one that is there already stays."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (key, kind, about, json.dumps(result), machine(), __version__, now)
        with self._connection() as connection:
            connection.execute("INSERT OR IGNORE INTO finished VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def all(self) -> list[Finished]:
        with self._connection() as connection:
            rows = connection.execute("SELECT * FROM finished ORDER BY at, key").fetchall()
        return [self._finished(row) for row in rows]

    def _finished(self, row: tuple[Any, ...]) -> Finished:
        key, kind, about, result, where, version, at = row
        try:
            return Finished(key, kind, about, json.loads(result), where, version, at)
        except ValueError:
            raise FileError(f"{self.file}: the result of {about} ({key}) is damaged") from None

    def export_csv(self, path: Path) -> int:
        """Write a line for every finished job; returns how many. Nothing is written if there is none."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(["key", "kind", "about", "games", "score_mean", "moves", "seconds", "machine", "version", "at"])
        jobs = self.all()
        if not jobs:
            raise FileError(f"{self.file}: no job is finished")
        for job in jobs:
            scores = job.result.get("scores", [])
            games = len(scores) or job.result.get("games", 0)
            mean = sum(scores) / len(scores) if scores else ""
            result = job.result
            writer.writerow(
                [job.key, job.kind, job.about, games, mean, result["moves"], round(result["seconds"], 3)]
                + [job.machine, job.version, job.at]
            )
        write_text(path, out.getvalue())
        return len(jobs)


def machine() -> str:
    """`Linux x86_64, 2 processors, Python 3.11.7`."""
    import os

    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
