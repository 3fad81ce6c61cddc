"""The results of finished jobs, in one SQLite file.

A result is written once, as a whole. Several processes may use the file at the same time.
"""

import errno
import json
import os
import platform
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tilewright import __version__
from tilewright._core.appending import PATIENCE, write_patiently
from tilewright._core.files import make_folder
from tilewright._core.inputs import shown
from tilewright._core.outputs import check_output
from tilewright._core.tables import Scalar
from tilewright._core.text import excerpt
from tilewright.errors import FileError

__all__ = ["JobRecord", "Store", "TrialRecord", "machine_name", "safe_name"]

SECONDS_TO_WAIT = 60.0  # while another process writes
LONGEST_NAME = 120  # of a run folder, without the beginning of a key
KEY_PART = 8  # characters of a key that are appended to a name
SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    description TEXT NOT NULL,
    result TEXT NOT NULL,
    machine TEXT NOT NULL,
    version TEXT NOT NULL,
    date TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS run_folders (
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE
);
CREATE TABLE IF NOT EXISTS trials (
    experiment TEXT NOT NULL,
    scale TEXT NOT NULL,
    row TEXT NOT NULL,
    seed INTEGER NOT NULL,
    config TEXT NOT NULL,
    keys TEXT NOT NULL,
    agent TEXT NOT NULL,
    game TEXT NOT NULL,
    training TEXT NOT NULL,
    evaluations TEXT NOT NULL,
    PRIMARY KEY (experiment, scale, row, seed)
)
"""

TABLES = {"jobs", "run_folders", "trials"}
FULL_DISK = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE}
_RUN_FOLDER_NAME = rf"(?!\.)[A-Za-z0-9_.=+-]{{1,{LONGEST_NAME + 1 + KEY_PART}}}"
_SELECT_JOBS = "SELECT key, kind, description, result, machine, version, date FROM jobs"
_SELECT_TRIALS = (
    "SELECT experiment, scale, row, seed, config, keys, agent, game, training, evaluations FROM trials ORDER BY rowid"
)


@dataclass(frozen=True)
class JobRecord:
    """A finished job.

    Attributes:
        key: The key of the job.
        kind: `training` or `evaluation`.
        description: What the job is, for people.
        result: A TrainingResult or an EvaluationResult, as JSON.
        machine: The machine that ran it.
        version: The version of tilewright that ran it.
        date: When it was finished, in UTC.
    """

    key: str
    kind: str
    description: str
    result: Mapping[str, object]
    machine: str
    version: str
    date: str


@dataclass(frozen=True)
class TrialRecord:
    """A trial of an experiment or a sweep, and the keys of its jobs.

    Attributes:
        experiment: The path of the experiment, or the name of the sweep.
        scale: The scale of the experiment.
        row: The name of the row.
        seed: The seed of the training.
        config: The name of the configuration; empty if nothing is trained.
        keys: The keys of the configuration that the experiment sets, with their values.
        agent: The spec of the agent that is evaluated.
        game: The spec of the game.
        training: The key of the training; empty if nothing is trained.
        evaluations: The keys of the evaluations.
    """

    experiment: str
    scale: str
    row: str
    seed: int
    config: str
    keys: Mapping[str, Scalar]
    agent: str
    game: str
    training: str
    evaluations: tuple[str, ...]


class Store:
    """The results in a folder: `results.sqlite`, and the run folders of its trainings in `trainings`.

    Args:
        folder: The folder; it is made if it does not exist.

    Raises:
        FileError: The folder or the file cannot be used.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.file = self.folder / "results.sqlite"
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}  # of run folders, by the keys of their trainings
        make_folder(self.folder)
        check_output(self.file)
        with self._connection() as connection:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if found and not found & TABLES:
                raise FileError(f"{self.file}: a database of something else, and is left as it is")
            for statement in SCHEMA.split(";"):
                connection.execute(statement)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                connection = sqlite3.connect(self.file, timeout=SECONDS_TO_WAIT)
                try:
                    with connection:
                        yield connection
                finally:
                    connection.close()
        except sqlite3.Error as error:
            full = getattr(error, "sqlite_errorcode", None) in _FULL
            raise FileError(f"{self.file}: cannot be used: {error}") from (FULL_DISK if full else None)
        except UnicodeError:
            raise FileError(f"{self.file}: cannot be used: a name is not text in UTF-8") from None

    def run_folder(self, key: str, name: str = "") -> Path:
        """Return the run folder of a training; the first call for a key chooses its name.

        Args:
            key: The key of the training.
            name: A readable name for a new folder. Where another training has it already, the beginning of the key is
                appended.

        Raises:
            FileError: The key or the name in the file is damaged.
        """
        if key not in self._names:
            wanted = safe_name(name) or key
            unique = f"{wanted}_{key[:KEY_PART]}"
            for candidate in (wanted, unique):
                self._check_run_folder_name(key, candidate)
            # A folder that is there, but not in the file, belongs to a training whose results were deleted.
            candidates = [unique] if (self.folder / "trainings" / wanted).exists() else [wanted, unique]
            with self._connection() as connection:
                for candidate in candidates:
                    connection.execute("INSERT OR IGNORE INTO run_folders VALUES (?, ?)", (key, candidate))
                row = connection.execute("SELECT name FROM run_folders WHERE key = ?", (key,)).fetchone()
            self._names[key] = self._check_run_folder_name(key, None if row is None else row[0])
        return self.folder / "trainings" / self._names[key]

    def _check_run_folder_name(self, key: str, name: object) -> str:
        """Return a name from the file, or made of a key from the file, unless no run folder has such a name."""
        if not isinstance(name, str) or not re.fullmatch(_RUN_FOLDER_NAME, name):
            raise FileError(f"{self.file}: the name of the run folder of {shown(key, 40)} is damaged")
        return name

    def find(self, key: str) -> JobRecord | None:
        """Return a finished job, or None."""
        with self._connection() as connection:
            row = connection.execute(f"{_SELECT_JOBS} WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._job_record(row)

    def add(self, key: str, kind: str, description: str, result: Mapping[str, object]) -> None:
        """Add the result of a job, unless there is one already; on a full disk, wait a while for room.

        Raises:
            FileError: The result cannot be written.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (key, kind, description, json.dumps(result), machine_name(), __version__, now)

        def write() -> None:
            with self._connection() as connection:
                connection.execute("INSERT OR IGNORE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?)", row)

        write_patiently(write, lambda: PATIENCE)

    def jobs(self) -> list[JobRecord]:
        """Return all finished jobs in the order in which they were finished."""
        with self._connection() as connection:
            rows = connection.execute(f"{_SELECT_JOBS} ORDER BY date, key").fetchall()
        return [self._job_record(row) for row in rows]

    def _job_record(self, row: tuple[object, ...]) -> JobRecord:
        texts = [value for value in row if isinstance(value, str)]
        result = _parsed(row[3])
        if len(texts) < len(row) or not isinstance(result, dict):
            raise FileError(
                f"{self.file}: the result of {shown(str(row[2]), 80)} ({shown(str(row[0]), 40)}) is damaged"
            )
        key, kind, description, _, machine, version, date = texts
        return JobRecord(key, kind, description, result, machine, version, date)

    def add_trials(self, trials: Iterable[TrialRecord]) -> None:
        """Add planned trials; a trial of the same experiment, scale, row and seed is replaced."""
        rows = [
            (
                trial.experiment,
                trial.scale,
                trial.row,
                trial.seed,
                trial.config,
                json.dumps(trial.keys),
                trial.agent,
                trial.game,
                trial.training,
                json.dumps(trial.evaluations),
            )
            for trial in trials
        ]
        with self._connection() as connection:
            connection.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def trials(self) -> list[TrialRecord]:
        """Return all planned trials, finished or not, in the order in which they were added."""
        with self._connection() as connection:
            rows = connection.execute(_SELECT_TRIALS).fetchall()
        return [self._trial_record(row) for row in rows]

    def _trial_record(self, row: tuple[object, ...]) -> TrialRecord:
        seed, keys, jobs = row[3], _parsed(row[5]), _parsed(row[9])
        texts = [value for value in (*row[:3], *row[4:]) if isinstance(value, str)]
        if (
            len(texts) < len(row) - 1
            or not isinstance(seed, int)
            or not (isinstance(keys, dict) and all(_is_scalar(value) for value in keys.values()))
            or not (isinstance(jobs, list) and jobs and all(isinstance(key, str) for key in jobs))
        ):
            name, experiment = (shown(str(value), 80) for value in (row[2], row[0]))
            raise FileError(f"{self.file}: the trial {name}, seed {excerpt(seed)}, of {experiment} is damaged")
        experiment, scale, name, config, _, agent, game, training, _ = texts
        return TrialRecord(experiment, scale, name, seed, config, keys, agent, game, training, tuple(jobs))


def _parsed(text: object) -> object:
    """The value of a JSON text; None for what is no such text."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (RecursionError, ValueError):
        return None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def safe_name(text: str) -> str:
    """Turn a text into a name of a folder that every file system and every agent spec allows.

    >>> safe_name("minute_alpha=0.5_stages=512, 512+256_seed=0")
    'minute_alpha=0.5_stages=512-512+256_seed=0'
    """
    return re.sub(r"[^A-Za-z0-9_.=+-]+", "-", text)[:LONGEST_NAME].strip("-.")


def machine_name() -> str:
    """Return system, architecture, processors and version of Python, as `Linux x86_64, 2 processors, Python 3.11.7`."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
