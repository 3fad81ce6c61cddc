"""How far a session is, and what follows from it: the current stage, its end, and how the current games learn."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tilewright._core.text import excerpt
from tilewright.training.config import TrainingConfig

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["MAX_COUNTER", "Limit", "Pending", "Phase", "Progress", "Schedule", "read_fields"]

T = TypeVar("T", bound="DataclassInstance")
SNAPSHOTS = (
    20  # of the weights, at equal distances in the last part of a training; the mean has the noise of fewer games
)
MAX_COUNTER = 2**60  # of anything that is counted or timed; sums of a few stay below 2**63


@dataclass
class Pending:
    """Sums over the games that are not in a row of the learning curve yet."""

    games: int = 0
    score_sum: int = 0
    score_max: int = 0
    wins: int = 0
    share_max: int = 0  # of the first games, as many as the share of all games that reach the stage


@dataclass
class Progress:
    """How far a session is; part of every checkpoint, and the only place that knows the current stage."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0  # of training, without evaluations
    decays: int = 0  # how often alpha was multiplied by `decay`
    decay_checked_at: int = 0  # the number of games when `decay` was last considered
    stage: int = 0  # the stage that learns, from 0, where stages are trained one after the other
    given_stages: int = 0  # the number of stages that the initial model brought; they are not trained
    stage_start_games: int = 0
    stage_start_seconds: float = 0.0
    collect_games: int = 0  # games played in this stage to collect start boards for the next one
    collect_reached: int = 0  # how many of them reached the next stage
    stage_share: float = 1.0  # the share of all games that reach the current stage
    pending: Pending = field(default_factory=Pending)

    @property
    def pending_games(self) -> int:
        """Games that are not in a full row of the learning curve yet."""
        return self.pending.games

    @classmethod
    def from_dict(cls, entries: Mapping[str, object]) -> "Progress":
        """The progress that `dataclasses.asdict` made into a dictionary.

        Raises:
            ValueError: An entry is missing, unknown, or has another type.
        """
        pending = read_fields(Pending, entries.get("pending"))
        return read_fields(cls, entries, pending=pending)

    def start_next_stage(self) -> None:
        """Go to the next stage, which starts now."""
        self.stage += 1
        self.stage_share *= self.collect_reached / self.collect_games if self.collect_games else 1.0
        self.stage_start_games, self.stage_start_seconds = self.games, self.seconds
        self.decay_checked_at, self.collect_games, self.collect_reached = self.games, 0, 0
        self.pending = Pending()


def read_fields(kind: type[T], entries: object, **read: object) -> T:
    """Read the fields of a dataclass of counters from JSON: whole or finite numbers, none of them negative.

    Args:
        kind: The dataclass.
        entries: What JSON held.
        read: Fields that are read already.

    Raises:
        ValueError: The fields are others, or a number is impossible.
    """
    if not isinstance(entries, dict) or set(entries) != {field.name for field in fields(kind)}:
        raise ValueError(f"its counters are not those of a {kind.__name__}")
    values = dict(entries) | read
    for name, wanted in {one.name: one.type for one in fields(kind) if one.name not in read}.items():
        value = values[name]
        is_number = type(value) is int or (type(value) is float and wanted is float)
        if not is_number or not 0 <= value <= MAX_COUNTER:
            raise ValueError(f"{name} is {excerpt(value)}")
        values[name] = float(value) if wanted is float else value
    return kind(**values)


class Phase(NamedTuple):
    """How games learn: which stage, and from whose moves."""

    stage: int = 0  # the stage that learns, from 0, where stages are trained one after the other
    frozen: bool = False  # only the first stage learns, on all boards, where stages are trained together
    taught: bool = False  # the stage before chooses the moves
    early: bool = False  # the late tuples have not joined yet


class Limit(NamedTuple):
    """A number of games and a time of training, whichever is reached first."""

    games: int
    seconds: float

    def is_reached(self, progress: Progress) -> bool:
        """Whether the training has come to the limit."""
        return progress.games >= self.games or progress.seconds >= self.seconds

    def or_earlier(self, other: "Limit") -> "Limit":
        """The limit that is reached when one of the two is."""
        return Limit(min(self.games, other.games), min(self.seconds, other.seconds))


class Schedule:
    """What a configuration says about the order of the training; all answers follow from the progress alone."""

    def __init__(self, config: TrainingConfig) -> None:
        self._config = config

    @property
    def stages(self) -> int:
        """The number of stages that are trained one after the other."""
        return 1 + len(self._config.stages) if self._config.start_pool else 1

    def done(self, progress: Progress) -> float:
        """How much of the budget is used up, from 0 to 1."""
        return self._used(progress.games, progress.seconds)

    def _used(self, games: int, seconds: float) -> float:
        config = self._config
        by_games = games / config.games if config.games else 0.0
        by_time = seconds / (60 * config.minutes) if config.minutes else 0.0
        return min(1.0, max(by_games, by_time))

    def check(self, progress: Progress) -> None:
        """Check that a session of this configuration can have come so far.

        Raises:
            ValueError: It cannot; the message says why.
        """
        now, pending = progress, progress.pending
        for holds, complaint in (
            (now.stage < self.stages and now.given_stages < self.stages, "there is no such stage"),
            (now.stage_start_games <= now.games, "a stage starts in the future"),
            (now.stage_start_seconds <= now.seconds, "a stage starts in the future"),
            (now.decay_checked_at <= now.games, "decay was considered in the future"),
            (pending.games <= min(now.games, self._config.curve_games - 1), "too many games wait for their row"),
            (pending.wins <= pending.games, "more games were won than played"),
            (pending.score_max <= pending.score_sum, "the scores do not add up"),
        ):
            if not holds:
                raise ValueError(complaint)

    def stage_end(self, progress: Progress) -> Limit:
        """When the current stage ends: the remaining stages have equal parts of the remaining budget."""
        start = Limit(progress.stage_start_games, progress.stage_start_seconds)
        if progress.stage < progress.given_stages:
            return start
        used = self._used(*start)
        part = used + (1 - used) / (self.stages - progress.stage)
        games, minutes = self._config.games, self._config.minutes
        return Limit(round(part * games) if games else 2**62, part * 60 * minutes if minutes else math.inf)

    def is_stage_over(self, progress: Progress) -> bool:
        """Whether the next stage is due; the last stage ends with the budget."""
        return progress.stage + 1 < self.stages and self.stage_end(progress).is_reached(progress)

    def phase(self, progress: Progress) -> tuple[Phase, Limit]:
        """How the next games learn, and until when."""
        config, end = self._config, self.stage_end(progress)
        frozen = self.done(progress) < config.stages_from
        if frozen:
            end = end.or_earlier(self._limit(config.stages_from, end))
        early = self.done(progress) < config.late_tuples_from
        if early:
            end = end.or_earlier(self._limit(config.late_tuples_from, end))
        teacher_end = self._teacher_end(progress)
        taught = not teacher_end.is_reached(progress)
        if taught:
            end = end.or_earlier(teacher_end)
        return Phase(progress.stage, frozen, taught, early), end

    def _limit(self, fraction: float, end: Limit) -> Limit:
        """When this fraction of the training is done."""
        games, seconds = fraction * self._config.games, fraction * 60 * self._config.minutes
        return Limit(math.ceil(games) or end.games, seconds or end.seconds)

    def snapshots_due(self, progress: Progress) -> int:
        """How many of the snapshots of the current stage should have been taken by now."""
        if not self._config.averaging:
            return 0
        return sum(self._snapshot(progress, number).is_reached(progress) for number in range(1, SNAPSHOTS + 1))

    def next_snapshot(self, progress: Progress) -> Limit:
        """When the next snapshot is due; the last one is due at the end of the stage."""
        taken = self.snapshots_due(progress)
        if not self._config.averaging or taken == SNAPSHOTS:
            return self.stage_end(progress)
        return self._snapshot(progress, taken + 1)

    def _snapshot(self, progress: Progress, number: int) -> Limit:
        """When a snapshot is due, from 1 to SNAPSHOTS: at equal distances in the last part of the stage."""
        games, seconds = progress.stage_start_games, progress.stage_start_seconds
        end = self.stage_end(progress)
        if number == SNAPSHOTS:
            return end
        part = 1 - self._config.averaging * (1 - number / SNAPSHOTS)
        return Limit(games + math.ceil(part * (end.games - games)), seconds + part * (end.seconds - seconds))

    def _teacher_end(self, progress: Progress) -> Limit:
        """Until when the stage before chooses the moves; the first stage has no teacher."""
        games, seconds = progress.stage_start_games, progress.stage_start_seconds
        fraction = self._config.teacher_fraction if progress.stage else 0.0
        if not fraction:
            return Limit(games, seconds)
        end = self.stage_end(progress)
        return Limit(games + math.ceil(fraction * (end.games - games)), seconds + fraction * (end.seconds - seconds))
