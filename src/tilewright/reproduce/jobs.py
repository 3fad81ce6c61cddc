"""Jobs: a training or a test, known by what it is; the same job has the same key and the same result anywhere."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tilewright.agents import make_agent
from tilewright.games import make_game
from tilewright.ntuple.model import load_model
from tilewright.play.evaluate import evaluate
from tilewright.play.recording import read_games
from tilewright.training.callbacks import Callback
from tilewright.training.config import AnyConfig, TrainingConfig
from tilewright.training.run_folder import RunFolder
from tilewright.training.session import TrainingSession, open_session

__all__ = ["Job", "Report", "Stopped", "Test", "Training", "clean_up", "run_anywhere", "run_test", "run_training"]

MEANING = 1  # of a job's result, and of recipes' defaults; another number makes all jobs new
Report: TypeAlias = Callable[[float], bool]  # is told how much of a job is done; says whether to go on


class Stopped(Exception):  # noqa: N818  (nothing went wrong)
    """The job was asked to stop; it goes on from there when it is run again."""


@dataclass(frozen=True)
class Training:
    """A network trained by a recipe, on one thread: then it is the same bits everywhere."""

    config: AnyConfig

    @property
    def key(self) -> str:
        """A key that recipes learn to know later, and that is left as it is by default, changes nothing."""
        return _key("training", config=type(self.config).__name__, chosen=self.config.chosen())

    def __str__(self) -> str:
        return f"training {self.config.subject}, {self.config.length}, seed {self.config.seed}"


@dataclass(frozen=True)
class Test:
    """So many games of an agent; `{model}` in its spec is what the training gave."""

    agent: str
    game: str
    games: int
    seed: int
    training: Training | None = None
    boards: bool = False  # whether the sum of the final boards is wanted, too

    @property
    def key(self) -> str:
        trained = self.training.key if self.training else ""
        return _key("test", **{**self.__dict__, "training": trained})

    def __str__(self) -> str:
        return f"{self.games:,} games of {self.agent.partition(',model=')[0].partition(':model=')[0]}"


Job: TypeAlias = Training | Test


def _key(kind: str, **parts: Any) -> str:
    text = json.dumps({"kind": kind, "meaning": MEANING, **parts}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def run_training(job: Training, folder: Path, report: Report) -> dict[str, Any]:
    """Train in `folder`, or go on there; leaves the model in it, packed."""

    class Reporter(Callback):
        def on_games_end(self, session: TrainingSession) -> bool:
            return report(session.done)

        def on_starts_collected(self, session: TrainingSession) -> bool:
            return report(session.done)

    resume = (folder / "config.toml").exists()
    session = open_session(job.config, folder, resume=resume, threads=1, callbacks=Reporter())
    progress = session.run()
    if session.done < 1:
        raise Stopped
    if isinstance(job.config, TrainingConfig):
        load_model(session.folder.model_file).save(session.folder.model_file, compact=True)
    return {
        "games": progress.games,
        "moves": progress.moves,
        "seconds": progress.seconds,
        "curve": [asdict(point) for point in session.points],
        "stages": [asdict(point) for point in session.folder.stage_points()],
    }


def clean_up(folder: Path) -> None:
    """Remove what only a training that goes on needs; its checkpoint is as large as the memory it took."""
    RunFolder(folder).checkpoint_file.unlink(missing_ok=True)


def run_test(job: Test, model: Path | None, report: Report) -> dict[str, Any]:
    """Play the games."""
    agent, game = make_agent(job.agent.replace("{model}", str(model))), make_game(job.game)
    done = 0

    def progress(count: int) -> None:
        nonlocal done
        done += count
        if not report(done / job.games):
            raise Stopped

    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "games.jsonl" if job.boards else None
        found = evaluate(agent, game, games=job.games, seed=job.seed, threads=1, progress=progress, record=record)
        sums = [_sum(recorded.board(-1).tiles) for recorded in read_games(record)] if record else []
    return {
        "scores": found.scores.tolist(),
        "tiles": [game.value(code) for code in found.codes.tolist()],
        "moves": int(found.moves.sum()),
        "seconds": found.seconds,
        "board_sums": sums,
    }


def run_anywhere(model: bytes | None, job: Job, report: Report) -> tuple[dict[str, Any], bytes | None]:
    """A job from its beginning, in whatever process this is: its result, and the model it made."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if isinstance(job, Training):
            result = run_training(job, folder, report)
            return result, RunFolder(folder).model_file.read_bytes()
        file = folder / "model.safetensors"
        if model is not None:
            file.write_bytes(model)
        return run_test(job, file, report), None


def _sum(tiles: tuple[tuple[int, ...], ...]) -> int:
    return sum(sum(row) for row in tiles)
