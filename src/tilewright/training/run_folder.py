"""Run folders: the files that a training session writes, and from which it can be resumed.

config.toml              the configuration
metrics.csv              the learning curve (columns: TrainingPoint, CurvePoint, DeepPoint)
evaluations.csv          evaluations during training (columns: EvaluationPoint)
episodes.csv             every training game of a deep network (columns: EpisodePoint)
stages.csv               the start of every later stage, where stages are trained one after the other (StagePoint)
events.out.tfevents.…    the same numbers for TensorBoard
checkpoint.safetensors   the whole state of the training
model.safetensors        the trained network, when the session has ended
curve.png, report.html   the learning curve and a report
session.lock             locked while a session writes to the folder; has the number of its process
"""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from tilewright import __version__
from tilewright._core.appending import AppendedFile
from tilewright._core.files import (
    Array,
    Tensors,
    parse_json,
    read_tensors,
    remove_unfinished,
    write_bytes,
    write_tensors,
)
from tilewright._core.inputs import modified_at, open_input
from tilewright._core.locks import FileLock
from tilewright.errors import FileError, UsageError
from tilewright.training.config import AnyConfig, read_config

__all__ = [
    "CurvePoint",
    "DeepPoint",
    "EpisodePoint",
    "EvaluationPoint",
    "Point",
    "RunFolder",
    "SavedProgress",
    "StagePoint",
    "TrainingPoint",
    "curve_kind",
    "parse_rows",
]


@dataclass(frozen=True)
class TrainingPoint:
    """The columns of `metrics.csv` that every session writes, a row after every `curve_games` games.

    The last row of a run that has ended counts all of its games. It may describe fewer than `curve_games` games; a
    resumed session replaces it. The moves of a deep network in games that were not over are counted by its model alone.

    | column     | meaning                                                 | unit       |
    |------------|---------------------------------------------------------|------------|
    | games      | games since the start of the training                   | games      |
    | seconds    | time of training since its start, without evaluations   | seconds    |
    | moves      | moves since the start of the training                   | moves      |
    | window     | the number of games that the following columns describe | games      |
    | score_mean | mean final score of these games                         | points     |
    | score_max  | highest final score of these games                      | points     |
    | win_rate   | fraction of these games with the winning tile           | 0 to 1     |
    """

    games: int
    seconds: float
    moves: int
    window: int
    score_mean: float
    score_max: int
    win_rate: float


@dataclass(frozen=True)
class CurvePoint(TrainingPoint):
    """A row of `metrics.csv` of an n-tuple network: TrainingPoint's columns and these.

    | column    | meaning                                                             | unit   |
    |-----------|---------------------------------------------------------------------|--------|
    | alpha     | the learning rate                                                   |        |
    | stage     | the stage that learns, from 1, where they learn one after the other |        |
    | share_max | highest final score of the first of these games (see below)         | points |

    For `share_max` a stage counts as large a part of the games as of all games reach it, as Yeh et al. (2016, Fig. 8)
    do: a maximum over more games would be higher for that reason alone.
    """

    alpha: float
    stage: int = 1
    share_max: int = 0


@dataclass(frozen=True)
class DeepPoint(TrainingPoint):
    """A row of `metrics.csv` of a deep network: TrainingPoint's columns and these.

    | column   | meaning                                                                         | unit   |
    |----------|---------------------------------------------------------------------------------|--------|
    | largest  | largest tile of these games                                                     | tile   |
    | epsilon  | probability of a random move at the end of the row                              | 0 to 1 |
    | loss     | mean loss of the updates since the row before                                   |        |
    | accuracy | fraction of the last positions with the teacher's move chosen; 0 without teacher | 0 to 1 |
    """

    largest: int
    epsilon: float
    loss: float
    accuracy: float = 0.0

    stage: ClassVar[int] = 1


@dataclass(frozen=True)
class EpisodePoint:
    """A row of `episodes.csv`: a training game of a deep network.

    | column  | meaning                                 | unit   |
    |---------|-----------------------------------------|--------|
    | games   | the number of the game, from 1          | games  |
    | moves   | moves since the start of the training   | moves  |
    | score   | final score                             | points |
    | largest | largest tile                            | tile   |
    """

    games: int
    moves: int
    score: int
    largest: int


@dataclass(frozen=True)
class EvaluationPoint:
    """A row of `evaluations.csv`: an evaluation of the network as it was then, always on the same games.

    | column         | meaning                                               | unit    |
    |----------------|-------------------------------------------------------|---------|
    | games          | games since the start of the training                 | games   |
    | seconds        | time of training since its start, without evaluations | seconds |
    | evaluate_games | the number of games of the evaluation                 | games   |
    | score_mean     | mean final score                                      | points  |
    | score_low      | lower end of the 95 % interval of the mean            | points  |
    | score_high     | upper end of the 95 % interval of the mean            | points  |
    | win_rate       | fraction of the games with the winning tile           | 0 to 1  |
    """

    games: int
    seconds: float
    evaluate_games: int
    score_mean: float
    score_low: float
    score_high: float
    win_rate: float


@dataclass(frozen=True)
class StagePoint:
    """A row of `stages.csv`: the start of a stage that is trained after another one.

    | column         | meaning                                                                       | unit    |
    |----------------|-------------------------------------------------------------------------------|---------|
    | stage          | number of the stage; 2 is the first that has a row                            |         |
    | games          | games since the start of the training                                         | games   |
    | seconds        | time of training since its start                                              | seconds |
    | start_boards   | the number of boards that its games start from                                | boards  |
    | collect_games  | the number of games that the stage before played to collect them              | games   |
    | baseline_score | mean final score of those games that reached the stage: what it has to exceed | points  |
    """

    stage: int
    games: int
    seconds: float
    start_boards: int
    collect_games: int
    baseline_score: float


Point: TypeAlias = TrainingPoint | EvaluationPoint | StagePoint | EpisodePoint
P = TypeVar("P", bound=Point)
Checkpoint: TypeAlias = tuple[dict[str, Array], dict[str, object], dict[str, str]]


class SavedProgress(Protocol):
    """What the rows of a run folder must know of a session's progress."""

    @property
    def games(self) -> int:
        """Games since the start of the training."""

    @property
    def stage(self) -> int:
        """The current stage, from 0."""

    @property
    def pending_games(self) -> int:
        """Games that are not in a full row of the learning curve yet."""


class RunFolder:
    """The files of one run, of an n-tuple network or a deep one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.toml"
        self.metrics_file = path / "metrics.csv"
        self.evaluations_file = path / "evaluations.csv"
        self.stages_file = path / "stages.csv"
        self.episodes_file = path / "episodes.csv"
        self.checkpoint_file = path / "checkpoint.safetensors"
        self.model_file = path / "model.safetensors"
        self.curve_file = path / "curve.png"
        self.report_file = path / "report.html"
        self.lock_file = path / "session.lock"
        self._rows: dict[Path, AppendedFile] = {}

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that have names of their own, whether they exist or not; the lock is none of them."""
        curve = (self.metrics_file, self.evaluations_file, self.stages_file, self.episodes_file)
        return (self.config_file, *curve, self.checkpoint_file, self.model_file, self.curve_file, self.report_file)

    def exists(self) -> bool:
        """Whether the folder holds a run."""
        return modified_at(self.config_file) > 0

    def lock(self) -> FileLock:
        """Lock the folder against other sessions, until the lock is released or this process ends.

        Raises:
            UsageError: Another session writes to the folder.
            FileError: The folder cannot be written.
        """
        lock = FileLock(self.lock_file)
        if not lock.is_held:
            raise UsageError(f"{self.path} is in use by {lock.holder}: wait until it ends, or choose another folder")
        return lock

    def check_free(self) -> None:
        """Check that a new run can be started in the folder without touching what is there.

        Raises:
            UsageError: The folder holds a run, or a file that a run would replace.
        """
        if self.exists():
            raise UsageError(f"{self.path} already holds a run: resume it, or choose another folder")
        for file in self.files:
            if os.path.lexists(file):
                raise UsageError(f"{file} already exists and would be replaced: choose another folder")

    def read_config(self) -> AnyConfig:
        """Read the configuration.

        Raises:
            FileError: There is no run in the folder.
            ConfigError: The configuration cannot be understood.
        """
        if not self.exists():
            raise FileError(f"{self.path}: no run to resume or read: there is no config.toml")
        return read_config(self.config_file)

    def save_checkpoint(self, tensors: Tensors, metadata: Mapping[str, str]) -> None:
        """Replace the checkpoint.

        Args:
            tensors: The arrays that training changes.
            metadata: The `format`, the `progress` as JSON, and whatever else the session needs to go on.
        """
        write_tensors(self.checkpoint_file, tensors, {**metadata, "revision": __version__})

    def read_checkpoint(self, checkpoint_format: str) -> Checkpoint:
        """Read the last complete checkpoint.

        Returns:
            The arrays, the session's progress, and all metadata.

        Raises:
            FileError: The file is missing, damaged, or of another format.
        """
        tensors, metadata = read_tensors(self.checkpoint_file)
        if metadata.get("format") != checkpoint_format:
            raise FileError(f"{self.checkpoint_file}: not a checkpoint of this version")
        try:
            progress = parse_json(metadata["progress"])
        except KeyError:
            raise self.damaged_progress("it is missing") from None
        except ValueError as error:
            raise self.damaged_progress(str(error)) from None
        if not isinstance(progress, dict):
            raise self.damaged_progress("it is not a JSON object")
        return tensors, progress, metadata

    def damaged_progress(self, reason: str) -> FileError:
        """The error for a checkpoint whose progress does not fit the session."""
        return FileError(f"{self.checkpoint_file}: its progress is damaged: {reason}")

    def curve_points(self) -> list[TrainingPoint]:
        """The learning curve: the complete rows of `metrics.csv`."""
        lines = _lines(self.metrics_file)
        return list(parse_rows(lines, curve_kind(lines)))

    def evaluation_points(self) -> list[EvaluationPoint]:
        """The complete rows of `evaluations.csv`."""
        return parse_rows(_lines(self.evaluations_file), EvaluationPoint)

    def stage_points(self) -> list[StagePoint]:
        """The complete rows of `stages.csv`."""
        return parse_rows(_lines(self.stages_file), StagePoint)

    def episode_points(self) -> list[EpisodePoint]:
        """The complete rows of `episodes.csv`."""
        return parse_rows(_lines(self.episodes_file), EpisodePoint)

    def append(self, *points: Point) -> None:
        """Append rows to the file of their kind, the same for all, after those that could not be written before.

        Raises:
            FileError: The file cannot be written now; the rows are kept in memory.
        """
        if not points:
            return
        path = self._file_of(points[0])
        if path not in self._rows:
            self._rows[path] = AppendedFile(path, _csv(asdict(points[0])))
        self._rows[path].append(b"".join(_csv(asdict(point).values()) for point in points))
        self.flush_rows()

    def flush_rows(self) -> None:
        """Write the rows that could not be written before.

        Raises:
            FileError: A file cannot be written now; its rows are kept in memory.
        """
        for rows in self._rows.values():
            rows.flush()

    def _file_of(self, point: Point) -> Path:
        if isinstance(point, TrainingPoint):
            return self.metrics_file
        if isinstance(point, EpisodePoint):
            return self.episodes_file
        return self.evaluations_file if isinstance(point, EvaluationPoint) else self.stages_file

    def remove_unfinished(self) -> None:
        """Remove temporary files of a process that was killed while it saved; they can be as large as a checkpoint."""
        for file in self.files:
            remove_unfinished(file)

    def drop_rows_after(self, progress: SavedProgress) -> None:
        """Drop the rows that a session resumed from a checkpoint writes again.

        These are rows of later games and stages, and the last row of the learning curve if it was not full.
        """
        _rewrite(self.evaluations_file, [row for row in self.evaluation_points() if row.games <= progress.games])
        _rewrite(self.episodes_file, [row for row in self.episode_points() if row.games <= progress.games])
        stages = [row for row in self.stage_points() if row.stage <= progress.stage + 1]
        _rewrite(self.stages_file, [row for row in stages if row.games <= progress.games])
        full = progress.games - (progress.pending_games > 0)
        _rewrite(self.metrics_file, [row for row in self.curve_points() if row.games <= full])


def _csv(cells: Iterable[object]) -> bytes:
    """A row of a CSV file."""
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().encode()


def _lines(path: Path) -> list[str]:
    """The complete lines of a file; a crash may have cut the last one short."""
    if not path.is_file():
        return []
    with open_input(path) as file:
        complete, _, _ = file.read().rpartition(b"\n")
    return complete.decode("ascii", "replace").splitlines()


def curve_kind(lines: Sequence[str]) -> type[TrainingPoint]:
    """The kind of the rows of a `metrics.csv`, from its header."""
    return DeepPoint if "loss" in _cells(lines[0] if lines else "") else CurvePoint


def parse_rows(lines: Sequence[str], kind: type[P]) -> list[P]:
    """The rows of a CSV file, whose first line is its header; rows that are damaged are left out.

    A column that an older version did not write has its default.
    """
    header = _cells(lines[0] if lines else "")
    columns = {
        column.name: column.type for column in fields(kind) if column.name in header or column.default is MISSING
    }
    rows = []
    for line in lines[1:]:
        row = dict(zip(header, _cells(line), strict=False))
        try:
            values: dict[str, Any] = {
                name: float(row[name]) if type_ is float else int(row[name]) for name, type_ in columns.items()
            }
            rows.append(kind(**values))
        except (KeyError, ValueError):
            continue
    return rows


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a line with characters that no session writes
        return []


def _rewrite(path: Path, rows: list[P]) -> None:
    """Replace the rows of a CSV file, if there is one."""
    if not path.exists():
        return
    head = [_csv(asdict(row)) for row in rows[:1]]
    write_bytes(path, b"".join([*head, *(_csv(asdict(row).values()) for row in rows)]))
