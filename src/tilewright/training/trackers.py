"""Callbacks that send the learning curve to an experiment tracker: Weights & Biases, or Trackio.

The tracker is imported when the training starts, so that neither is needed to import this module.
"""

import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, ClassVar, Protocol

from tilewright._core.registry import load_object
from tilewright.training.callbacks import Callback
from tilewright.training.run_folder import EvaluationPoint, Point, StagePoint, TrainingPoint

if TYPE_CHECKING:
    from tilewright.training.session import TrainingSession

__all__ = ["TrackerCallback", "TrackioCallback", "WandbCallback"]


class _TrackedRun(Protocol):
    """What both trackers' runs can do."""

    def log(self, metrics: dict[str, float]) -> None:
        """Add a row."""

    def finish(self) -> None:
        """Send what is left."""


class TrackerCallback(Callback):
    """Base of the trackers: logs every row of the learning curve, every evaluation and every start of a stage.

    Metrics are named as the columns of the run folder, `train/score_mean`, `evaluation/score_mean`, `stage/stage`;
    `games` is the number of training games and belongs on the x axis.

    Args:
        project: The project of the tracker.
        name: The name of the run; None for the name of the run folder.
        options: Further arguments of the tracker's `init`.
    """

    module: ClassVar[str]  # of the tracker; the optional dependency has the same name

    def __init__(self, project: str = "tilewright", name: str | None = None, **options: object) -> None:
        self.project, self.name, self.options = project, name, options
        self._run: _TrackedRun | None = None
        self._lock = threading.Lock()  # rows come from threads that play

    def on_training_start(self, session: "TrainingSession") -> None:
        """Start a run of the tracker, with the configuration.

        Raises:
            MissingExtraError: The tracker is not installed.
        """
        start = load_object(f"{self.module}:init", self.module)
        name = self.name or session.folder.path.name
        self._run = start(project=self.project, name=name, config=session.config.to_dict(), **self.options)

    def on_log(self, session: "TrainingSession", point: TrainingPoint) -> None:
        """Log a row of the learning curve."""
        self._log("train", point)

    def on_evaluation(self, session: "TrainingSession", point: EvaluationPoint) -> None:
        """Log an evaluation."""
        self._log("evaluation", point)

    def on_stage_start(self, session: "TrainingSession", point: StagePoint) -> None:
        """Log the start of a stage."""
        self._log("stage", point)

    def on_training_end(self, session: "TrainingSession") -> None:
        """Finish the run of the tracker."""
        if self._run is not None:
            self._run.finish()
            self._run = None

    def _log(self, part: str, point: Point) -> None:
        row = asdict(point)
        games = row.pop("games")
        with self._lock:
            if self._run is not None:
                self._run.log({"games": games, **{f"{part}/{column}": value for column, value in row.items()}})


class WandbCallback(TrackerCallback):
    """Sends the learning curve to Weights & Biases (`pip install 'tilewright[wandb]'`).

    `WandbCallback(mode="offline")` writes to the folder `wandb`, without using the network.
    """

    module = "wandb"

    def on_training_start(self, session: "TrainingSession") -> None:
        """Start a run of Weights & Biases, whose plots have the number of games as the x axis."""
        super().on_training_start(session)
        define_metric = getattr(self._run, "define_metric")  # noqa: B009  (Trackio's runs have none)
        define_metric("*", step_metric="games")


class TrackioCallback(TrackerCallback):
    """Sends the learning curve to Trackio (`pip install 'tilewright[trackio]'`), which keeps it on this machine."""

    module = "trackio"
