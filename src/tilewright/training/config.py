"""A training configuration: one frozen dataclass that is the preset, the run's config.toml and what kernels get."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from tilewright._core.config import Config, presets_in, read_config
from tilewright._core.registry import did_you_mean
from tilewright.errors import ConfigError, SpecError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.ntuple.downgrade import check_downgrade_above
from tilewright.ntuple.model import VALUE_FUNCTIONS
from tilewright.ntuple.patterns import NETWORKS, NTupleArchitecture

__all__ = ["TrainingConfig", "preset_names", "read_training_config"]

UPDATES = ("online", "backward")
STEP_SIZES = ("fixed", "tc")
PRESETS = "training/presets"  # the folder of the package
LARGEST_VALUE = 1_000_000_000  # far above any score, far below what float32 holds


@dataclass(frozen=True)
class TrainingConfig(Config):
    """How a network is trained. Every field is a key of the TOML file; what is left out has the default here."""

    game: str = "2048"
    network: str = "4x6"  # a named network; or none, with `tuples`
    tuples: tuple[str, ...] = ()  # hexadecimal cells, instead of a named network
    symmetric: bool = True  # the following four go with `tuples`
    alphabet: int = 16
    features: tuple[str, ...] = ()
    by_hint: bool = False
    stages: tuple[str, ...] = ()  # tiles that begin a stage with weights of its own, like 16384+8192
    promote: bool = False  # a stage reads what the one before it knows, until it knows better
    stages_from: float = 0.0  # with promote: up to this part of the training, one stage learns for all
    start_pool: int = 0  # stages are learned in turn, each from so many boards that the one before reached; 0: together
    teacher_fraction: float = (
        0.0  # with collect: for this part of its training, a stage learns from games of the one before
    )
    value_function: str = "afterstate"  # what is valued: afterstate, state or action
    update: str = "backward"  # learn online, or backward from a game's end
    lambda_: float = 0.0  # how much of a return comes from later moves (key: lambda)
    n_step: int = 0  # longest return, in moves; 0: to the end of the game
    step_size: str = "tc"  # how far a weight moves: fixed, or tc (temporal coherence)
    alpha: float = 1.0  # share of the error that an update removes
    decay: float = 1.0  # the share is multiplied by this when learning is saturated …
    patience: int = 0  # … which is when this many games are no better than as many before them; 0: never
    restart: int = 0  # a game of so many moves is played again from its middle; 0: never
    model: str = ""  # a model to begin with; stages in turn go on with the first that it does not have
    optimistic_init: float = 0.0  # the value of every board at the beginning; high is optimistic
    epsilon: float = 0.0  # how often a random move is made
    downgrade_above: int = (
        0  # the model says: boards with larger tiles are to be played as smaller ones; 0: all as they are
    )
    games: int = 0  # how long to train: games, minutes, or whichever comes first; 0: no limit
    minutes: float = 0.0
    seed: int = 0
    curve_games: int = 1000  # games a point of the learning curve
    evaluate_games: int = 200  # games of a test along the way
    evaluate_minutes: float = 5.0  # a test every so many minutes; 0: none
    checkpoint_minutes: float = 5.0

    player: ClassVar[str] = "ntuple"  # the agent that plays what was trained

    def __post_init__(self) -> None:
        self._one_of("value_function", VALUE_FUNCTIONS)
        self._one_of("update", UPDATES)
        self._one_of("step_size", STEP_SIZES)
        self._between("lambda_", 0, 1)
        self._between("alpha", 0, 2, above=True)
        self._between("decay", 0, 1, above=True)
        self._between("epsilon", 0, 1)
        self._between("stages_from", 0, 1)
        self._between("teacher_fraction", 0, 1)
        self._between("optimistic_init", -LARGEST_VALUE, LARGEST_VALUE)
        for key in ("start_pool", "n_step", "patience", "restart", "games", "minutes", "seed", "evaluate_minutes"):
            self._between(key, 0, None)
        for key in ("curve_games", "evaluate_games", "checkpoint_minutes"):
            self._between(key, 0, None, above=True)
        if not self.games and not self.minutes:
            raise ConfigError("games or minutes must say how long to train")
        if self.update == "online" and (self.lambda_ > 0 or self.n_step > 1):
            raise ConfigError('update = "online" learns from one move at a time; lambda and n_step need "backward"')
        if self.update == "online" and self.restart:
            raise ConfigError('update = "online" keeps no record of a game; restart needs "backward"')
        if self.promote and self.value_function == "action":
            raise ConfigError('promote does not go with value_function = "action"')
        if self.stages_from and not self.promote:
            raise ConfigError("stages_from goes with promote: the stages go on from what the first one learned")
        if self.start_pool and not self.stages:
            raise ConfigError("start_pool goes with stages; this config has none")
        if self.teacher_fraction and not self.start_pool:
            raise ConfigError("teacher_fraction goes with start_pool: it is the stage before that teaches")
        if self.teacher_fraction and self.epsilon:
            raise ConfigError("teacher_fraction does not go with epsilon: moves are the teacher's, or random")
        if self.start_pool and self.promote:
            raise ConfigError("promote is for stages that are learned together; start_pool is for one after the other")
        if self.start_pool and self.value_function == "action":
            raise ConfigError('start_pool does not go with value_function = "action"')
        if 0 < self.patience < self.curve_games:
            raise ConfigError(
                f"patience = {self.patience}: must be 0 or at least curve_games = {self.curve_games}, "
                "whose points it compares"
            )
        if self.value_function == "state" and self.optimistic_init > 0:
            raise ConfigError(
                'value_function = "state" cannot begin with optimistic_init > 0: the end of a game would look best'
            )
        self._check_parts()

    def _check_parts(self) -> None:
        for key in ("symmetric", "alphabet", "features", "by_hint"):
            if not self.tuples and getattr(self, key) != getattr(type(self), key):
                raise ConfigError(f"{key} goes with tuples; network = {self.network!r} has its own")
        if not self.tuples and self.network not in NETWORKS:
            hint = did_you_mean(self.network, NETWORKS)
            raise ConfigError(f"network = {self.network!r}: no such network{hint}; allowed: {', '.join(NETWORKS)}")
        for key, part in (("game", self.make_game), ("tuples", self._tuples), ("stages", self.make_architecture)):
            try:
                part()
            except UsageError as error:
                raise ConfigError(f"{key}: {error}") from None
        try:
            check_downgrade_above(self.downgrade_above, self.make_game())
        except SpecError as error:
            raise ConfigError(str(error)) from None

    @property
    def subject(self) -> str:
        """What is trained, in a word."""
        return self.network if not self.tuples else "tuples"

    @property
    def length(self) -> str:
        """How long it trains, in words: `1.2 minutes`, `5,000 games`, `1.2 minutes or 5,000 games`."""
        minutes = f"{self.minutes:g} minutes" if self.minutes else ""
        return " or ".join(filter(None, (minutes, f"{self.games:,} games" if self.games else "")))

    def make_game(self) -> Game:
        return make_game(self.game)

    def _tuples(self) -> NTupleArchitecture:
        if not self.tuples:
            shape = NETWORKS[self.network]
        else:
            shape = NTupleArchitecture(self.tuples, self.symmetric, self.alphabet, self.features, self.by_hint)
        shape.check_fits(self.make_game())
        return shape

    def make_architecture(self) -> NTupleArchitecture:
        shape = dataclasses.replace(self._tuples(), stages=self.stages, promote=self.promote)
        shape.check_fits(self.make_game())
        return shape


def preset_names() -> dict[str, str]:
    """The presets, each with the first line of its file."""
    return presets_in(PRESETS)


def read_training_config(source: str, **changes: Any) -> TrainingConfig:
    """A recipe from a preset's name or a TOML file, with some keys changed.

    >>> read_training_config("minute", seed=7).seed
    7
    """
    return read_config(TrainingConfig, source, PRESETS, **changes)
