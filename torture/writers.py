"""The commands that write, small: how each is run, what must hold after any interruption, and what it must end as."""

import functools
import hashlib
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tilewright._core.files import read_tensors
from tilewright.cli.main import run
from tilewright.errors import FileError, TilewrightError
from tilewright.exact.solve import solve
from tilewright.exact.table import load_table
from tilewright.games import make_game
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.play.recording import read_games
from tilewright.reproduce.experiments import Experiment, PaperValue, Row, Scale
from tilewright.reproduce.runner import run_experiments
from tilewright.reproduce.store import Store
from tilewright.training.config import AnyConfig
from tilewright.training.run_folder import RunFolder
from torture.campaign import WrongError
from torture.kinds.checkpoints import DATA_FILE, small_deep_configs, small_ntuple_configs
from torture.kinds.models import sample_models
from torture.sandbox import check_inside, root

__all__ = ["Writer", "deep_writers", "ntuple_writers", "ray_writers"]

Result = Any


def command(words: list[str]) -> int:
    """Run a command as the console script does, and return its exit code."""
    sys.argv = ["tilewright", *words]
    try:
        run()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


class Writer(ABC):
    """A command that writes to a folder of its own, and can be run again until it is finished."""

    name: str

    def __init__(self, name: str, home: Path) -> None:
        """Set up its inputs.

        Args:
            name: Its name in messages.
            home: A folder for its inputs.
        """
        self.name, self.home = name, home
        home.mkdir(parents=True, exist_ok=True)

    def run(self, folder: Path) -> int:
        """Run the command, or go on with it; returns the exit code."""
        check_inside(folder, root())
        return self._run(folder)

    @abstractmethod
    def _run(self, folder: Path) -> int:
        """Run the command in a folder."""

    @abstractmethod
    def check(self, folder: Path, before: Any) -> Any:
        """Check what an interrupted command left.

        Args:
            folder: The folder.
            before: What the call before returned; None for the first.

        Returns:
            How far the command is, for the next call.

        Raises:
            WrongError: Something was lost, or is half written.
        """

    @abstractmethod
    def result(self, folder: Path) -> Result:
        """Return what a finished command wrote, without times."""


class TrainingWriter(Writer):
    """`tilewright train`, then `train --resume` until it has ended."""

    def __init__(self, name: str, home: Path, config: AnyConfig) -> None:
        super().__init__(name, home)
        self.file = home / "config.toml"
        config.save(self.file)

    def _run(self, folder: Path) -> int:
        return self._train(folder)

    def _train(self, folder: Path, *options: str) -> int:
        which = ["--resume", str(folder)] if RunFolder(folder).exists() else [str(self.file), "--out", str(folder)]
        return command(["train", *which, "--threads", "1", *options])

    def check(self, folder: Path, before: Any) -> Any:
        run = RunFolder(folder)
        if run.exists():
            run.read_config()
        for file in (run.checkpoint_file, run.model_file):
            if file.exists():
                try:
                    read_tensors(file)
                except FileError as error:
                    raise WrongError(f"half written: {error}") from None
        games = _games_of(run.checkpoint_file)
        if before is not None and games < before:
            raise WrongError(f"lost: the checkpoint is at {games}, and was at {before}")
        return games

    def result(self, folder: Path) -> Result:
        run = RunFolder(folder)
        tensors = {name: np.asarray(array).tobytes() for name, array in read_tensors(run.checkpoint_file)[0].items()}
        model = {name: np.asarray(array).tobytes() for name, array in read_tensors(run.model_file)[0].items()}
        rows = [replace(point, seconds=0.0) for point in run.curve_points()]
        left = sorted(path.name for path in folder.rglob("*.part"))
        return {"checkpoint": tensors, "model": model, "curve": rows, "unfinished files": left}


class DataTrainingWriter(TrainingWriter):
    """A supervised training that first writes its positions to a file."""

    def _run(self, folder: Path) -> int:
        data = f"data={folder / DATA_FILE}"
        return self._train(folder / "run", *([] if RunFolder(folder / "run").exists() else ["--set", data]))

    def check(self, folder: Path, before: Any) -> Any:
        if (folder / DATA_FILE).exists():
            try:
                read_tensors(folder / DATA_FILE)
            except FileError as error:
                raise WrongError(f"half written: {error}") from None
        return super().check(folder / "run", before)

    def result(self, folder: Path) -> Result:
        files = sorted(path.name for path in folder.iterdir())
        return super().result(folder / "run") | {"data": (folder / DATA_FILE).read_bytes(), "files": files}


class RayTrainingWriter(TrainingWriter):
    """`tilewright train --engine ray`: what the workers learn is combined when the clock says so."""

    def _run(self, folder: Path) -> int:
        return self._train(folder, "--engine", "ray", "--sync-minutes", "0.02")

    def result(self, folder: Path) -> Result:
        left = sorted(path.name for path in folder.rglob("*.part"))
        return {"games": _games_of(RunFolder(folder).checkpoint_file), "unfinished files": left}


def _games_of(checkpoint: Path) -> int:
    """Return the games, or for a deep network the steps, of a checkpoint; -1 without one."""
    import json

    if not checkpoint.exists():
        return -1
    progress = json.loads(read_tensors(checkpoint)[1]["progress"])
    return int(progress.get("moves", progress.get("games", 0)))


class RecordWriter(Writer):
    """`tilewright evaluate --record`."""

    def _run(self, folder: Path) -> int:
        folder.mkdir(parents=True, exist_ok=True)
        game = "2048:rows=3,columns=3"
        options = ["--games", "150", "--seed", "3", "--threads", "2", "--record", str(folder / "games.jsonl")]
        return command(["evaluate", "random", "--game", game, *options, "--csv", str(folder / "games.csv")])

    def check(self, folder: Path, before: Any) -> Any:
        file = folder / "games.jsonl"
        if not file.exists():
            return None
        lines = file.read_bytes().split(b"\n")
        games = []
        try:
            for game in read_games(file):
                games.append(game)
        except FileError as error:
            if not str(error).startswith(f"{file}, line {len(lines)}:"):
                raise WrongError(f"half written: {error}") from None
        if len(games) not in (len(lines), len(lines) - 1):
            raise WrongError(f"half written: {len(games)} games in {len(lines)} lines")
        if [game.number for game in games] != list(range(len(games))):
            raise WrongError("lost: games are missing in the file")
        return None

    def result(self, folder: Path) -> Result:
        return (folder / "games.jsonl").read_bytes(), (folder / "games.csv").read_bytes()


class PackWriter(Writer):
    """`tilewright models --pack`."""

    def __init__(self, name: str, home: Path) -> None:
        super().__init__(name, home)
        self.model = home / "model.safetensors"
        sample_models()[1].save(self.model)
        self.content = self.model.read_bytes()

    def _run(self, folder: Path) -> int:
        folder.mkdir(parents=True, exist_ok=True)
        packed = folder / "packed.safetensors"
        return command(["models", str(self.model), "--pack", str(packed), "--quantum", "0.1", "--games", "20"])

    def check(self, folder: Path, before: Any) -> Any:
        if self.model.read_bytes() != self.content:
            raise WrongError("lost: the model that was packed has changed")
        packed = folder / "packed.safetensors"
        if packed.exists():
            try:
                load_model(packed)
            except TilewrightError as error:
                raise WrongError(f"half written: {error}") from None

    def result(self, folder: Path) -> Result:
        return (folder / "packed.safetensors").read_bytes()


class SolveWriter(Writer):
    """`tilewright solve --out`."""

    def _run(self, folder: Path) -> int:
        folder.mkdir(parents=True, exist_ok=True)
        return command(["solve", "2048:rows=2,columns=3", "--out", str(folder / "exact.table"), "--threads", "1"])

    def check(self, folder: Path, before: Any) -> Any:
        table = folder / "exact.table"
        if table.exists():
            try:
                load_table(table)
            except TilewrightError as error:
                raise WrongError(f"half written: {error}") from None

    def result(self, folder: Path) -> Result:
        table = load_table(folder / "exact.table")
        left = sorted(path.name for path in folder.iterdir())
        return {"value": table.value, "values": table.afterstate_values.tobytes(), "files": left}


class DistilWriter(Writer):
    """`tilewright tables --distil`."""

    def __init__(self, name: str, home: Path) -> None:
        super().__init__(name, home)
        self.table = home / "whole.table"

    @functools.cached_property
    def content(self) -> bytes:
        """The whole table, which is made when the command is first run: that takes a moment."""
        if not self.table.exists():
            solve("endgame:007f-64", out=self.table, threads=1)
        return self.table.read_bytes()

    def _run(self, folder: Path) -> int:
        folder.mkdir(parents=True, exist_ok=True)
        assert self.content  # noqa: S101  (the table is there)
        games = ["--boards", "50", "--games", "1000", "--agent", "heuristic:depth=1", "--threads", "2"]
        return command(["tables", str(self.table), "--distil", str(folder / "small.table"), *games])

    def check(self, folder: Path, before: Any) -> Any:
        if self.table.read_bytes() != self.content:
            raise WrongError("lost: the table that was distilled has changed")
        if (folder / "small.table").exists():
            try:
                load_table(folder / "small.table")
            except TilewrightError as error:
                raise WrongError(f"half written: {error}") from None

    def result(self, folder: Path) -> Result:
        table = load_table(folder / "small.table")
        left = sorted(path.name for path in folder.iterdir())
        return {"keys": table.keys.tobytes(), "values": table.afterstate_values.tobytes(), "files": left}


class FetchWriter(Writer):
    """`tilewright models --fetch`."""

    def __init__(self, name: str, home: Path) -> None:
        super().__init__(name, home)
        shape = NTupleArchitecture(("0145", "1256"))  # both models fit on the small disk
        weights = np.random.default_rng(1).uniform(-5, 50, shape.table_size).astype(np.float32)
        names = ("one.safetensors", "two.safetensors")
        for number, file in enumerate(names):
            Model(make_game("2048"), shape, "afterstate", weights + number).save(home / file)
        sums = [f"{hashlib.sha256((home / file).read_bytes()).hexdigest()}  {file}\n" for file in names]
        (home / "SHA256SUMS").write_text("".join(sums))

    def _run(self, folder: Path) -> int:
        return command(["models", "--fetch", str(self.home), "--out", str(folder)])

    def check(self, folder: Path, before: Any) -> Any:
        for file in folder.glob("*.safetensors"):
            if file.read_bytes() != (self.home / file.name).read_bytes():
                raise WrongError(f"half written: {file.name}")

    def result(self, folder: Path) -> Result:
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


class SuiteWriter(Writer):
    """What sweeps and experiments have in common: a store of results."""

    def check(self, folder: Path, before: Any) -> Any:
        if not (folder / "results.sqlite").exists():
            return before
        found = self._scores(folder)
        for key, scores in (before or {}).items():
            if found.get(key) != scores:
                raise WrongError(f"lost: the result of the job {key}")
        return found

    def _scores(self, folder: Path) -> dict[str, object]:
        try:
            return {job.key: job.result.get("scores") for job in Store(folder).jobs()}
        except TilewrightError as error:
            raise WrongError(f"half written: {error}") from None

    def result(self, folder: Path) -> Result:
        reports = sorted(str(path.relative_to(folder)) for path in folder.rglob("report.html"))
        return self._scores(folder), reports


class SweepWriter(SuiteWriter):
    """`tilewright sweep`."""

    def __init__(self, name: str, home: Path) -> None:
        super().__init__(name, home)
        self.file = home / "config.toml"
        small_ntuple_configs(games=150)[0].save(self.file)

    def _run(self, folder: Path) -> int:
        options = ["--evaluate-games", "10", "--threads", "2", "--out", str(folder)]
        return command(["sweep", str(self.file), "alpha=0.25,0.5", "step_size=tc,fixed", *options])


class ReproduceWriter(SuiteWriter):
    """`tilewright reproduce`, with an experiment that takes a moment."""

    def __init__(self, name: str, home: Path) -> None:
        super().__init__(name, home)
        plain, staged = home / "plain.toml", home / "staged.toml"
        small_ntuple_configs(games=100)[0].save(plain)
        small_ntuple_configs(games=90)[1].save(staged)
        scale = Scale("quick", seeds=2, evaluation_games=10, slow_evaluation_games=10)
        rows = (
            Row("plain", str(plain), paper={"score": PaperValue(900.0, 100.0)}),
            Row("staged", str(staged)),
            Row("random", agent="random", game="2048:rows=3,columns=3,win_tile=64"),
        )
        self.experiment = Experiment(
            "tiny-2026",
            "Tiny 2026",
            "table-1",
            "Table 1",
            "A small table.",
            columns=("win", "score", "max"),
            figures=("curve-score",),
            rows=rows,
            scales={"quick": scale, "standard": scale, "full": scale},
            paper_games=100,
        )

    def _run(self, folder: Path) -> int:
        try:
            run_experiments([self.experiment], "quick", out=folder, threads=2)
        except TilewrightError as error:
            print(f"tilewright: {error}")
            return 1
        return 0


def ntuple_writers(home: Path) -> Sequence[Writer]:
    """Return all commands that write without PyTorch."""
    configs = small_ntuple_configs(games=6000, curve_games=500, checkpoint_minutes=0.0001)
    plain, *others = [
        TrainingWriter(f"train {kind}", home / f"train-{number}", config)
        for number, (kind, config) in enumerate(zip(("plain", "stages", "promote", "online"), configs, strict=True))
    ]
    return [
        plain,
        RecordWriter("evaluate --record", home / "record"),
        *others,
        PackWriter("models --pack", home / "pack"),
        FetchWriter("models --fetch", home / "fetch"),
        DistilWriter("tables --distil", home / "distil"),
        SolveWriter("solve --out", home / "solve"),
        SweepWriter("sweep", home / "sweep"),
        ReproduceWriter("reproduce", home / "reproduce"),
    ]


def deep_writers(home: Path) -> Sequence[Writer]:
    """Return the trainings of deep networks."""
    configs = small_deep_configs(home, checkpoint_minutes=0.0005)
    return [
        (DataTrainingWriter if getattr(config, "data", "") else TrainingWriter)(
            f"train deep {i}", home / str(i), config
        )
        for i, config in enumerate(configs)
    ]


def ray_writers(home: Path) -> Sequence[Writer]:
    """Return the trainings on a Ray cluster of this machine."""
    config = small_ntuple_configs(games=6000, curve_games=500, checkpoint_minutes=0.0001)[0]
    return [RayTrainingWriter("train --engine ray", home, config)]


def empty(folder: Path) -> Path:
    """Remove a folder, and return its path."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder
