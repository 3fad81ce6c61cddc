"""Training in one call, and the run that it leaves: configuration, learning curve, model, figures."""

import html
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from tilewright._core.config import Value
from tilewright._core.frames import data_frame
from tilewright._core.html import embedded
from tilewright._core.plots import given_or_new
from tilewright._core.registry import load_object
from tilewright.errors import FileError, UsageError
from tilewright.training.callbacks import Callbacks, as_callback
from tilewright.training.config import AnyConfig, TrainingConfig, read_config
from tilewright.training.progress_bar import show_progress
from tilewright.training.report import draw_curve, plot_curve, save_curve, summarise, write_report
from tilewright.training.run_folder import CurvePoint, EvaluationPoint, Point, RunFolder, StagePoint
from tilewright.training.session import open_session

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from tilewright.ntuple.model import Model

__all__ = ["Run", "free_folder", "train"]

LOAD_MODEL = "tilewright.ntuple.model:load_model"
LOAD_DEEP_MODEL = "tilewright.deep.model:load_deep_model"


class RunContent(TypedDict):
    """Everything in a run folder as plain dictionaries: the configuration by key, the rest by column."""

    config: dict[str, Value]
    curve: dict[str, list[float]]
    evaluations: dict[str, list[float]]
    stages: dict[str, list[float]]


class Run:
    """A run folder: everything that a training wrote, and the way to continue it.

    Args:
        path: The folder, as a string or a Path.

    Raises:
        FileError: There is no run in the folder.

    >>> import tempfile
    >>> out = tempfile.mkdtemp() + "/small"
    >>> run = train(TrainingConfig(game="2048:rows=3,columns=3", tuples=("0145",), games=50, curve_games=25), out=out)
    >>> Run(out).config.games, Run(out).curve_dict()["games"]
    (50, [25, 50])
    >>> Run(out).resume(games=75).curve_dict()["games"]
    [25, 50, 75]
    """

    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"path={path!r}: must be the path of a run folder")
        self._folder = RunFolder(Path(path))
        if not self._folder.exists():
            raise FileError(f"{self.path}: no run in this folder: there is no config.toml")
        self._model: tuple[tuple[int, int], Model] | None = None  # with time and size of its file

    @property
    def path(self) -> Path:
        """The run folder."""
        return self._folder.path

    @property
    def config(self) -> AnyConfig:
        """The configuration, a TrainingConfig or a DeepConfig."""
        return self._folder.read_config()

    @property
    def model_file(self) -> Path:
        """The file of the trained model."""
        return self._folder.model_file

    @property
    def model(self) -> "Model":
        """The trained model, loaded; a DeepModel for a deep network.

        Raises:
            FileError: The training has not ended yet, or the file is damaged.
        """
        if not self.model_file.is_file():
            raise FileError(f"{self.path}: no model yet: the training has not ended")
        state = self.model_file.stat().st_mtime_ns, self.model_file.stat().st_size
        if self._model is None or self._model[0] != state:
            load = LOAD_MODEL if isinstance(self.config, TrainingConfig) else LOAD_DEEP_MODEL
            self._model = state, load_object(load, "deep")(self.model_file)
        return self._model[1]

    @property
    def agent(self) -> str:
        """The spec of the agent that plays the trained model, for `make_agent`, `evaluate` and the command line."""
        return f"{self.config.agent_name}:model={self.model_file}"

    def curve(self) -> "DataFrame":
        """The learning curve as a data frame, a row for each `curve_games` games.

        The columns are those of `metrics.csv`: games, seconds, moves, window, score_mean, score_max, win_rate, and
        alpha and stage, or largest, epsilon, loss and accuracy for a deep network. The last row counts all games; it
        may describe fewer of them than the others (`window`).

        Raises:
            MissingExtraError: pandas is not installed; `curve_dict` works without it.
        """
        return data_frame(self.curve_dict())

    def evaluations(self) -> "DataFrame":
        """The evaluations during training as a data frame: the columns of `evaluations.csv`.

        Raises:
            MissingExtraError: pandas is not installed; `to_dict` works without it.
        """
        return data_frame(_columns(self._folder.evaluation_points(), EvaluationPoint))

    def stages(self) -> "DataFrame":
        """The starts of later stages as a data frame: the columns of `stages.csv`.

        Raises:
            MissingExtraError: pandas is not installed; `to_dict` works without it.
        """
        return data_frame(_columns(self._folder.stage_points(), StagePoint))

    def curve_dict(self) -> dict[str, list[float]]:
        """The learning curve as a list for each column; see `curve`."""
        points = self._folder.curve_points()
        return _columns(points, type(points[0]) if points else CurvePoint)

    def to_dict(self) -> RunContent:
        """Everything as plain dictionaries: `config` by key; `curve`, `evaluations` and `stages` by column."""
        return {
            "config": self.config.to_dict(),
            "curve": self.curve_dict(),
            "evaluations": _columns(self._folder.evaluation_points(), EvaluationPoint),
            "stages": _columns(self._folder.stage_points(), StagePoint),
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the learning curve: mean scores of training games, evaluations, win rates, starts of stages.

        A second run in the same axes has another colour and its name in the legend, and no win rates.

        Args:
            ax: The axes to draw in; None for a new pyplot figure.

        Returns:
            The axes.
        """
        ax = given_or_new(ax)
        plot_curve(self._folder, ax)
        return ax

    def report(self) -> Path:
        """Write `report.html` and `curve.png` into the run folder; returns the path of the report."""
        save_curve(self._folder)
        return write_report(self._folder)

    def resume(
        self,
        *,
        minutes: float | None = None,
        games: int | None = None,
        threads: int | None = None,
        callbacks: Callbacks = None,
        progress: bool = False,
        **changes: object,
    ) -> "Run":
        """Continue the training from its last checkpoint.

        Args:
            minutes: The new budget in minutes of training, with those before; None to keep the budget.
            games: The new budget in games, with those before; None to keep the budget.
            threads: The number of threads; None for the best number.
            callbacks: A callback or several.
            progress: Whether to show the progress.
            changes: Other keys of the configuration. The learning algorithm cannot change.

        Returns:
            This run.

        Raises:
            UsageError: A change is not allowed.
        """
        config = read_config(self.config, **_given(minutes=minutes, games=games), **changes)
        _train(config, self.path, resume=True, threads=threads, callbacks=callbacks, progress=progress)
        return self

    def __repr__(self) -> str:
        points = self._folder.curve_points()
        config = self.config
        text = f"{points[-1].games:,} games" if points else "no games yet"
        return f"<Run {str(self.path)!r}: {config.agent_name} ({config.subject}) on {config.game}, {text}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the totals and the learning curve."""
        points = self._folder.curve_points()
        parts = [f"<p>{html.escape(repr(self))}</p>"]
        if points:
            curve = embedded(draw_curve(self._folder), "Mean score against games of training")
            parts += [f"<p>{summarise(self._folder)}</p>", curve]
        return "".join(parts)


def train(
    source: str | Path | AnyConfig,
    *,
    seed: int | None = None,
    minutes: float | None = None,
    games: int | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    callbacks: Callbacks = None,
    resume: bool = False,
    progress: bool = False,
    **changes: object,
) -> Run:
    """Train a network, and return the run.

    Ctrl-C stops the training after the current games and saves; `Run.resume` continues it.

    Args:
        source: The name of a preset, the path of a TOML file, a TrainingConfig, or a DeepConfig.
        seed: Instead of the configuration's seed; on one thread, the same seed gives the same weights.
        minutes: Instead of the configuration's budget: minutes of training.
        games: Instead of the configuration's budget: games. The first budget that is used up ends the training.
        out: The run folder; None for a new folder `runs/NAME`.
        threads: The number of threads; None for the best number.
        callbacks: A callback or several.
        resume: Whether to continue the run in `out`.
        progress: Whether to show the progress: a bar in a terminal or notebook, lines elsewhere.
        changes: Other keys of the configuration, such as `network="5x6"`; `lambda_` stands for `lambda`.

    Raises:
        ConfigError: There is no such preset, a key is unknown, or a value is not allowed.
        UsageError: The folder already holds a run, or the run was started with another configuration.
        FileError: A file cannot be read or written.
        MissingExtraError: A deep network needs PyTorch, which is not installed.

    >>> import tempfile
    >>> small = {"game": "2048:rows=3,columns=3", "network": "", "tuples": ["0145"], "curve_games": 100}
    >>> run = train("minute", games=200, out=tempfile.mkdtemp() + "/small", threads=1, **small)
    >>> run.curve_dict()["games"]
    [100, 200]
    >>> run.model.origin["games"]
    '200'
    """
    config = read_config(source, **_given(seed=seed, minutes=minutes, games=games), **changes)
    if out is None:
        if resume:
            raise UsageError("resume=True needs out=…, the folder of the run to continue")
        out = free_folder(_name_of(source, config))
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"out={out!r}: must be the path of a folder")
    _train(config, Path(out), resume=resume, threads=threads, callbacks=callbacks, progress=progress)
    return Run(out)


def _train(
    config: AnyConfig, path: Path, *, resume: bool, threads: int | None, callbacks: Callbacks, progress: bool
) -> None:
    given = as_callback(callbacks)
    with show_progress(path.name) if progress else nullcontext() as bar:
        session = open_session(
            config, path, resume=resume, threads=threads, callbacks=given if bar is None else [given, bar]
        )
        session.run()


def free_folder(name: str) -> Path:
    """The folder runs/NAME, or the first of runs/NAME-2, runs/NAME-3 … that holds no run."""
    folder, number = Path("runs") / name, 1
    while RunFolder(folder).exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


def _name_of(source: str | Path | AnyConfig, config: AnyConfig) -> str:
    return Path(source).stem if isinstance(source, str | os.PathLike) else f"{config.agent_name}-{config.subject}"


def _given(**changes: object) -> dict[str, object]:
    return {key: value for key, value in changes.items() if value is not None}


def _columns(points: Sequence[Point], kind: type[Point]) -> dict[str, list[float]]:
    rows = [asdict(point) for point in points]
    return {column.name: [row[column.name] for row in rows] for column in fields(kind)}
