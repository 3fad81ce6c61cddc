"""Run folders: what a training session leaves behind, and can go on from.

config.toml              the recipe
metrics.csv              the learning curve, a row for every so many games
evaluations.csv          tests along the way
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
from typing import Any

from tilewright import __version__
from tilewright.errors import FileError
from tilewright.files import read_tensors, write_tensors, write_text
from tilewright.learning.recipe import Recipe, read_recipe
from tilewright.learning.trainer import Trainer

__all__ = ["CurvePoint", "EvaluationPoint", "EventLog", "Progress", "RunFolder"]

FORMAT = "tilewright-checkpoint-2"


@dataclass(frozen=True)
class CurvePoint:
    """What the last games of training were like."""

    games: int  # since the beginning
    seconds: float  # of training, since the beginning
    moves: int
    score_mean: float
    score_max: int
    win_rate: float
    share: float


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


@dataclass
class Progress:
    """How far a session is; part of every checkpoint."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0
    decays: int = 0
    decided_at: int = 0  # the game at which the step was last looked at
    waiting: dict[str, int] = field(default_factory=lambda: {"games": 0, "moves": 0, "score": 0, "best": 0, "wins": 0})


class RunFolder:
    """One session's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.metrics = path / "metrics.csv"
        self.evaluations = path / "evaluations.csv"
        self.checkpoint = path / "checkpoint.safetensors"
        self.model = path / "model.safetensors"
        self.curve = path / "curve.png"
        self.report = path / "report.html"

    def recipe(self) -> Recipe:
        if not self.config.exists():
            raise FileError(f"{self.path}: no run to resume: there is no config.toml")
        return read_recipe(str(self.config))

    def save_checkpoint(self, trainer: Trainer, progress: Progress) -> None:
        about = {
            "format": FORMAT,
            "recipe": trainer.recipe.to_toml(),
            "progress": json.dumps(asdict(progress)),
            "revision": __version__,
        }
        write_tensors(self.checkpoint, trainer.tensors(), about)

    def load_checkpoint(self, trainer: Trainer) -> Progress:
        """Bring a trainer to where the last complete checkpoint was."""
        tensors, metadata = read_tensors(self.checkpoint)
        if metadata.get("format") != FORMAT:
            raise FileError(f"{self.checkpoint}: not a checkpoint of this version")
        trainer.restore(tensors)
        try:
            return Progress(**json.loads(metadata["progress"]))
        except (KeyError, TypeError, ValueError):
            raise FileError(f"{self.checkpoint}: its progress is damaged") from None

    def curve_points(self) -> list[CurvePoint]:
        return _read_rows(self.metrics, CurvePoint)

    def evaluation_points(self) -> list[EvaluationPoint]:
        return _read_rows(self.evaluations, EvaluationPoint)

    def append(self, point: CurvePoint | EvaluationPoint) -> None:
        """Add a row to the curve or the tests."""
        path = self.metrics if isinstance(point, CurvePoint) else self.evaluations
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
        for file in (self.config, self.metrics, self.evaluations, self.checkpoint, self.model, self.curve, self.report):
            for part in self.path.glob(f".{file.name}.*.part"):
                part.unlink(missing_ok=True)

    def forget_after(self, games: int) -> None:
        """Drop rows beyond a checkpoint: those games will be played again."""
        for path, kind in ((self.metrics, CurvePoint), (self.evaluations, EvaluationPoint)):
            if not path.exists():
                continue
            out = io.StringIO()
            writer = csv.writer(out)
            writer.writerow([column.name for column in fields(kind)])
            for row in _read_rows(path, kind):
                if row.games <= games:
                    writer.writerow(asdict(row).values())
            write_text(path, out.getvalue())


class EventLog:
    """The curve for TensorBoard; a resumed run's later events replace those that are played again."""

    def __init__(self, folder: RunFolder, games: int) -> None:
        from tensorboardX import SummaryWriter

        # The number in the name keeps sessions apart that begin within the same second.
        self._writer = SummaryWriter(str(folder.path), purge_step=games + 1, filename_suffix=f".{games}")

    def add(self, point: CurvePoint | EvaluationPoint) -> None:
        group = "train" if isinstance(point, CurvePoint) else "test"
        for name in ("score_mean", "score_max", "win_rate", "share", "score_low", "score_high"):
            if hasattr(point, name):
                self._writer.add_scalar(f"{group}/{name}", getattr(point, name), point.games)

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
            rows.append(kind(**{name: convert(row[name]) for name, convert in types.items()}))
        except (KeyError, TypeError, ValueError):
            continue
    return rows
