"""Run folders: what a training session leaves behind, and can go on from.

config.toml              the recipe
metrics.csv              the learning curve, a row for every so many games
evaluations.csv          tests along the way
stages.csv               where the later stages began, if they are learned in turn
events.out.tfevents.…    the same for TensorBoard
checkpoint.safetensors   everything learning changes, to resume from
model.safetensors        the network, when the session ends
curve.png, report.html   to look at
"""

import csv
import io
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from numpy.typing import NDArray

from tilewright import __version__
from tilewright._core.files import read_tensors, write_tensors, write_text
from tilewright.deep.config import DeepConfig, read_deep_config
from tilewright.errors import FileError
from tilewright.training.config import read_training_config
from tilewright.training.configs import is_deep
from tilewright.training.trainer import Trainer

__all__ = [
    "CurvePoint",
    "DeepPoint",
    "DeepRunFolder",
    "EvaluationPoint",
    "EventLog",
    "Progress",
    "RunFolder",
    "StagePoint",
    "find_run",
]


@dataclass(frozen=True)
class TrainingPoint:
    """What the last games of training were like, whatever is trained."""

    games: int  # since the beginning
    seconds: float  # of training, since the beginning
    moves: int
    score_mean: float
    score_max: int
    win_rate: float


@dataclass(frozen=True)
class CurvePoint(TrainingPoint):
    """The same of an n-tuple network."""

    alpha: float
    stage: int = 1  # which one is learned, where stages are learned in turn


@dataclass(frozen=True)
class DeepPoint(TrainingPoint):
    """The same of a deep network."""

    largest: int  # tile
    epsilon: float
    loss: float

    stage: ClassVar[int] = 1


@dataclass(frozen=True)
class EvaluationPoint:
    """A test of the network as it was then."""

    games: int
    seconds: float
    tested: int
    score_mean: float
    score_low: float
    score_high: float
    win_rate: float


@dataclass(frozen=True)
class StagePoint:
    """Where a stage began that is learned after another one."""

    stage: int  # 2 is the first that has a point
    games: int
    seconds: float
    boards: int  # that its games begin on
    played: int  # how many games were played to find them
    normalised: float  # mean score of the games that found them, which the stage before played to their end


@dataclass
class Progress:
    """How far a session is; part of every checkpoint."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0
    decays: int = 0
    decided_at: int = 0  # the game at which the step was last looked at
    stage: int = 0  # which stage is learned, where they are learned in turn
    given: int = 0  # how many stages were known at the beginning
    stage_games: int = 0  # when it began
    stage_seconds: float = 0.0
    collected: int = 0  # games played to find boards for the next stage
    waiting: dict[str, int] = field(default_factory=lambda: {"games": 0, "moves": 0, "score": 0, "best": 0, "wins": 0})


class RunFolder:
    """One session's folder."""

    curve_kind: ClassVar[type[Any]] = CurvePoint  # what a row of the learning curve is
    checkpoint_format: ClassVar[str] = "tilewright-checkpoint-2"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.toml"
        self.metrics_file = path / "metrics.csv"
        self.evaluations_file = path / "evaluations.csv"
        self.stages_file = path / "stages.csv"
        self.checkpoint_file = path / "checkpoint.safetensors"
        self.model_file = path / "model.safetensors"
        self.curve_file = path / "curve.png"
        self.report_file = path / "report.html"

    def config(self) -> Any:
        """The recipe, of the kind that such a folder has."""
        if not self.config_file.exists():
            raise FileError(f"{self.path}: no run to resume: there is no config.toml")
        return self._parse_config(str(self.config_file))

    def _parse_config(self, file: str) -> Any:
        return read_training_config(file)

    def save_checkpoint(self, learner: Any, progress: Any, **more: str) -> None:
        """All that a trainer or learner has changed, and how far the session is."""
        about = {
            "format": self.checkpoint_format,
            "config": learner.config.to_toml(),
            "progress": json.dumps(asdict(progress)),
            "revision": __version__,
            **more,
        }
        write_tensors(self.checkpoint_file, learner.tensors(), about)

    def read_checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any], dict[str, str]]:
        """The arrays of the last complete checkpoint, the progress of its session, and what else was kept."""
        tensors, metadata = read_tensors(self.checkpoint_file)
        if metadata.get("format") != self.checkpoint_format:
            raise FileError(f"{self.checkpoint_file}: not a checkpoint of this version")
        try:
            entries = json.loads(metadata["progress"])
        except (KeyError, ValueError):
            raise self.damaged() from None
        if not isinstance(entries, dict):
            raise self.damaged()
        return tensors, entries, metadata

    def damaged(self) -> FileError:
        return FileError(f"{self.checkpoint_file}: its progress is damaged")

    def load_checkpoint(self, trainer: Trainer) -> Progress:
        """Bring a trainer to where the last complete checkpoint was."""
        tensors, entries, _ = self.read_checkpoint()
        try:
            progress = Progress(**entries)
        except TypeError:
            raise self.damaged() from None
        trainer.restore(tensors, progress.stage)
        return progress

    def curve_points(self) -> list[Any]:
        return _read_rows(self.metrics_file, self.curve_kind)

    def evaluation_points(self) -> list[EvaluationPoint]:
        return _read_rows(self.evaluations_file, EvaluationPoint)

    def stage_points(self) -> list[StagePoint]:
        return _read_rows(self.stages_file, StagePoint)

    def append(self, point: Any) -> None:
        """Add a row to the file of its kind: a point of the curve, an EvaluationPoint or a StagePoint."""
        path = {
            self.curve_kind: self.metrics_file,
            EvaluationPoint: self.evaluations_file,
            StagePoint: self.stages_file,
        }[type(point)]
        new = not path.exists()
        try:
            with path.open("a", newline="") as file:
                writer = csv.writer(file)
                if new:
                    writer.writerow(asdict(point))
                writer.writerow(asdict(point).values())
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from None

    def remove_unfinished(self) -> None:
        """Remove what a process that was killed while saving left behind; it can be as large as a checkpoint."""
        for file in (value for value in vars(self).values() if value != self.path):
            for part in self.path.glob(f".{file.name}.*.part"):
                part.unlink(missing_ok=True)

    def forget_after(self, progress: Any) -> None:
        """Drop rows beyond a checkpoint: what they tell of will happen again."""
        kinds: tuple[type[Any], ...] = (self.curve_kind, EvaluationPoint, StagePoint)
        for path, kind in zip((self.metrics_file, self.evaluations_file, self.stages_file), kinds, strict=True):
            if not path.exists():
                continue
            out = io.StringIO()
            writer = csv.writer(out)
            writer.writerow([column.name for column in fields(kind)])
            for row in _read_rows(path, kind):
                if row.games <= progress.games and getattr(row, "stage", 1) <= progress.stage + 1:
                    writer.writerow(asdict(row).values())
            write_text(path, out.getvalue())


class DeepRunFolder(RunFolder):
    """The folder of a deep network's session: the same files, with a recipe, a curve and checkpoints of that kind."""

    curve_kind = DeepPoint
    checkpoint_format = "tilewright-deep-checkpoint-2"

    def _parse_config(self, file: str) -> DeepConfig:
        return read_deep_config(file)


def find_run(path: Path) -> RunFolder:
    """The folder of the session that is there, of whatever kind."""
    folder = RunFolder(path)
    try:
        return DeepRunFolder(path) if is_deep(str(folder.config_file)) else folder
    except FileError:  # its recipe cannot be read, which whoever asks for it is told
        return folder


class EventLog:
    """The curve for TensorBoard; a resumed run's later events replace those that are played again."""

    def __init__(self, folder: RunFolder, games: int) -> None:
        from tensorboardX import SummaryWriter

        # The number in the name keeps sessions apart that begin within the same second.
        self._writer = SummaryWriter(str(folder.path), purge_step=games + 1, filename_suffix=f".{games}")

    def add(self, point: Any) -> None:
        """A point of the curve, or an EvaluationPoint."""
        group = "test" if isinstance(point, EvaluationPoint) else "train"
        for name, value in asdict(point).items():
            if name not in ("games", "seconds", "moves", "tested"):
                self._writer.add_scalar(f"{group}/{name}", value, point.games)

    def __enter__(self) -> "EventLog":
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.close()


def _read_rows(path: Path, kind: type[Any]) -> list[Any]:
    """The whole rows of a CSV file; a row that a crash cut short, maybe within a number, is left out."""
    if not path.exists():
        return []
    types: dict[str, Any] = {column.name: column.type for column in fields(kind)}
    rows = []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    for row in csv.DictReader(whole.decode("ascii", "replace").splitlines()):
        try:
            rows.append(kind(**{name: convert(row[name]) for name, convert in types.items() if name in row}))
        except (KeyError, TypeError, ValueError):
            continue
    return rows
