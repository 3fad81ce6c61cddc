"""Jobs: a training or an evaluation. A job with the same key has the same result on every machine."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import NotRequired, TypeAlias, TypedDict, TypeVar, cast, get_args, get_origin, get_type_hints

from tilewright._core.inputs import shown
from tilewright.agents import make_agent
from tilewright.errors import FileError
from tilewright.games import make_game
from tilewright.ntuple.model import load_model
from tilewright.play.evaluate import evaluate
from tilewright.play.recording import read_games
from tilewright.training.callbacks import Callback
from tilewright.training.config import AnyConfig, TrainingConfig
from tilewright.training.run_folder import RunFolder, TrainingPoint
from tilewright.training.session import TrainingSession, open_session

__all__ = [
    "EvaluationJob",
    "EvaluationResult",
    "Job",
    "JobResult",
    "ReportProgress",
    "StagePoint",
    "Stopped",
    "TrainingJob",
    "TrainingResult",
    "read_result",
    "remove_checkpoint",
    "run_anywhere",
    "run_evaluation",
    "run_training",
]

FORMAT = 2  # of the results; a change of a result's meaning, or of a configuration's defaults, needs a new number
ReportProgress: TypeAlias = Callable[[float], bool]  # called with the part that is done; returns whether to go on


class Stopped(Exception):  # noqa: N818  (nothing went wrong)
    """The job was asked to stop. A training continues from there when it is run again."""


class StagePoint(TypedDict):
    """The start of a stage of a training."""

    stage: int
    games: int
    baseline_score: float


class TrainingResult(TypedDict):
    """The result of a training; `curve` has the points of the learning curve."""

    games: int
    moves: int
    seconds: float
    curve: list[dict[str, float]]
    stages: list[StagePoint]
    largest_tiles: NotRequired[list[int]]  # of every training game of a deep network


class EvaluationResult(TypedDict):
    """The result of an evaluation, game by game; `board_sums` is empty unless the job asks for it."""

    scores: list[int]
    tiles: list[int]
    moves: int
    seconds: float
    board_sums: list[int]


JobResult: TypeAlias = TrainingResult | EvaluationResult
R = TypeVar("R", TrainingResult, EvaluationResult)


def read_result(kind: type[R], result: Mapping[str, object]) -> R | None:
    """Return a result from a store, or None if it is damaged: if a field is missing, or has another type."""
    if not _has_type(result, kind):
        return None
    if kind is EvaluationResult:
        scores, tiles = (cast(list[int], result[name]) for name in ("scores", "tiles"))
        return cast(R, result) if len(scores) == len(tiles) > 0 else None
    columns = {column.name for column in fields(TrainingPoint)}
    curve = cast(list[dict[str, float]], result["curve"])
    return cast(R, result) if all(columns <= point.keys() for point in curve) else None


def _has_type(value: object, wanted: object) -> bool:
    """Tell whether a value of JSON has the type of a field; whole numbers must fit 64 bits."""
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    if wanted is float:
        return isinstance(value, float) or _has_type(value, int)
    if get_origin(wanted) is list:
        return isinstance(value, list) and all(_has_type(item, get_args(wanted)[0]) for item in value)
    if get_origin(wanted) is dict:
        return isinstance(value, dict) and all(_has_type(item, get_args(wanted)[1]) for item in value.values())
    types = get_type_hints(wanted)
    return (
        isinstance(value, dict)
        and getattr(wanted, "__required_keys__", frozenset()) <= value.keys()
        and all(_has_type(value[name], kind) for name, kind in types.items() if name in value)
    )


@dataclass(frozen=True)
class TrainingJob:
    """The training of a network on one thread, which makes it the same to the bit on every machine.

    Attributes:
        config: The configuration.
        name: The name of its run folder; no part of the key.
        label: What a person calls it; no part of the key.
    """

    config: AnyConfig
    name: str = field(default="", compare=False)
    label: str = field(default="", compare=False)

    @property
    def kind(self) -> str:
        """The word `training`."""
        return "training"

    @property
    def key(self) -> str:
        """A hash of what identifies the job. Keys of the configuration that have their default do not count."""
        return _key(self.kind, config=type(self.config).__name__, chosen=self.config.chosen())

    def __str__(self) -> str:
        return f"training {self.config.subject}, {self.config.length}, seed {self.config.seed}"


@dataclass(frozen=True)
class EvaluationJob:
    """Games of an agent on one thread.

    Attributes:
        agent: The spec of the agent, in which `{model}` stands for the trained model.
        game: The spec of the game.
        games: The number of games.
        seed: The seed of the games.
        training: The training that makes the model, if any.
        board_sums: Whether the sums of the final boards are wanted.
        label: What a person calls it; no part of the key.
    """

    agent: str
    game: str
    games: int
    seed: int
    training: TrainingJob | None = None
    board_sums: bool = False
    label: str = field(default="", compare=False)

    @property
    def kind(self) -> str:
        """The word `evaluation`."""
        return "evaluation"

    @property
    def key(self) -> str:
        """A hash of what identifies the job."""
        return _key(
            self.kind,
            agent=self.agent,
            game=self.game,
            games=self.games,
            seed=self.seed,
            training=self.training.key if self.training else "",
            board_sums=self.board_sums,
        )

    def __str__(self) -> str:
        return f"{self.games:,} games of {self.agent.partition(',model=')[0].partition(':model=')[0]}"


Job: TypeAlias = TrainingJob | EvaluationJob


def _key(kind: str, **parts: object) -> str:
    text = json.dumps({"kind": kind, "format": FORMAT, **parts}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def run_training(job: TrainingJob, folder: Path, report: ReportProgress) -> TrainingResult:
    """Train in a run folder, from the start or from its last checkpoint; the model is written there, packed.

    Raises:
        Stopped: `report` returned False.
    """

    class Reporter(Callback):
        def on_games_end(self, session: TrainingSession) -> bool:
            return report(session.done)

        def on_starts_collected(self, session: TrainingSession) -> bool:
            return report(session.done)

    resume = RunFolder(folder).exists()
    if not resume:
        RunFolder(folder).model_file.unlink(missing_ok=True)  # of a job that ran elsewhere, and was lost
    session = open_session(job.config, folder, resume=resume, threads=1, callbacks=Reporter())
    progress = session.run()
    if session.done < 1:
        raise Stopped
    if isinstance(job.config, TrainingConfig):
        load_model(session.folder.model_file).save(session.folder.model_file, compact=True)
    result: TrainingResult = {
        "games": progress.games,
        "moves": progress.moves,
        "seconds": progress.seconds,
        "curve": [asdict(point) for point in session.points],
        "stages": [
            {"stage": point.stage, "games": point.games, "baseline_score": point.baseline_score}
            for point in session.folder.stage_points()
        ],
    }
    episodes = session.folder.episode_points()
    if episodes:
        result["largest_tiles"] = [point.largest for point in episodes]
    return result


def remove_checkpoint(folder: Path) -> None:
    """Remove the checkpoint of a finished training; it is as large as the memory that the training took.

    Raises:
        FileError: There is something in its place that cannot be removed.
    """
    file = RunFolder(folder).checkpoint_file
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{shown(file)}: cannot be removed: {error.strerror or error}") from error


def run_evaluation(job: EvaluationJob, model: Path | None, report: ReportProgress) -> EvaluationResult:
    """Play the games of an evaluation.

    Args:
        job: The evaluation.
        model: The trained model that `{model}` stands for.
        report: Called after some games with the part that is done.

    Raises:
        Stopped: `report` returned False.
    """
    agent, game = make_agent(job.agent.replace("{model}", str(model))), make_game(job.game)
    done = 0

    def progress(count: int) -> None:
        nonlocal done
        done += count
        if not report(done / job.games):
            raise Stopped

    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "games.jsonl" if job.board_sums else None
        played = evaluate(agent, game, games=job.games, seed=job.seed, threads=1, progress=progress, record=record)
        sums = [sum(map(sum, recorded.board(-1).tiles)) for recorded in read_games(record)] if record else []
    return {
        "scores": played.scores.tolist(),
        "tiles": [game.value(code) for code in played.codes.tolist()],
        "moves": int(played.moves.sum()),
        "seconds": played.seconds,
        "board_sums": sums,
    }


def run_anywhere(model: bytes | None, job: Job, report: ReportProgress) -> tuple[JobResult, bytes | None]:
    """Run a job from its start in this process, without a store.

    Args:
        model: The content of the model file that an evaluation needs.
        job: The job.
        report: Called with the part of the job that is done.

    Returns:
        The result and, for a training, the content of the model file.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if isinstance(job, TrainingJob):
            result = run_training(job, folder, report)
            return result, RunFolder(folder).model_file.read_bytes()
        file = folder / "model.safetensors"
        if model is not None:
            file.write_bytes(model)
        return run_evaluation(job, file, report), None
