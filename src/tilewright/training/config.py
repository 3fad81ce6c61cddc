"""Training configurations: the keys of an n-tuple training, and one way to read a configuration of any kind."""

import dataclasses
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, TypeVar, cast, overload

from tilewright._core.checks import Range
from tilewright._core.config import (
    MAX_COUNT,
    MAX_SEED,
    MINUTES,
    Config,
    Value,
    config_from_toml,
    key,
    presets_in,
    read_source,
)
from tilewright._core.registry import load_object
from tilewright._core.text import did_you_mean
from tilewright.errors import ConfigError, SpecError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.ntuple.bitplanes import MAX_ALPHABET, MIN_ALPHABET
from tilewright.ntuple.downgrade import check_downgrade_above
from tilewright.ntuple.model import VALUE_FUNCTIONS, network_size
from tilewright.ntuple.patterns import NETWORKS, NTupleArchitecture

__all__ = ["AnyConfig", "TrainingConfig", "list_presets", "parse_config", "read_config"]

UPDATES = ("online", "backward")
STEP_SIZES = ("fixed", "tc")
DEFAULT_NETWORK = "4x6"
LARGEST_VALUE = 1_000_000_000  # far above any score, and float32 still represents it
FRACTION = Range(0, 1)
PRESET_FOLDERS = ("training/presets", "deep/presets")  # of the package
DEEP_CONFIG = "tilewright.deep.config:DeepConfig"


class AnyConfig(Protocol):
    """What a training session needs of a configuration, whether it is for an n-tuple network or a deep one."""

    @property
    def game(self) -> str:
        """The spec of the game."""

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""

    @property
    def minutes(self) -> float:
        """The budget in minutes; 0 for no limit."""

    @property
    def curve_games(self) -> int:
        """The number of games in a row of the learning curve."""

    @property
    def evaluate_games(self) -> int:
        """The number of games of an evaluation during training."""

    @property
    def evaluate_minutes(self) -> float:
        """The time between evaluations; 0 for none."""

    @property
    def checkpoint_minutes(self) -> float:
        """The time between checkpoints."""

    @property
    def agent_name(self) -> str:
        """The name of the agent that plays the trained network."""

    @property
    def subject(self) -> str:
        """What is trained, in a word."""

    @property
    def length(self) -> str:
        """The budget in words."""

    def make_game(self) -> Game:
        """The game to train on."""

    def to_dict(self) -> dict[str, Value]:
        """All keys with their values."""

    def to_toml(self, *, comments: bool = False) -> str:
        """The TOML that reads back as this configuration."""

    def chosen(self) -> dict[str, Value]:
        """The keys whose values differ from the defaults."""

    def replace(self, **changes: object) -> Self:
        """The same configuration with some keys changed."""

    def save(self, path: Path) -> None:
        """Write the TOML to a file."""


A = TypeVar("A", bound=AnyConfig)


@dataclass(frozen=True)
class TrainingConfig(Config):
    """How to train an n-tuple network.

    Every field is a key of a TOML file; a key that is left out has the default. `tilewright train minute --show` and
    the documentation print the table of all keys.

    >>> config = TrainingConfig(games=1000, lambda_=0.5)
    >>> config.length
    '1,000 games'
    >>> TrainingConfig(games=1000, alpha=3)
    Traceback (most recent call last):
    ...
    tilewright.errors.ConfigError: alpha = 3.0: must be above 0 and at most 2
    """

    game: str = key("2048", "The game, as a spec such as 2048, 2048:rows=3 or threes:max_tile=6144.")
    network: str = key(
        "",
        "A named network, such as 4x6 (Yeh et al. 2016), 5x6 (Jaśkowski 2016) or 8x6 (Matsuzaki 2017). "
        "Empty: the network that `tuples` describes, or 4x6 without `tuples`.",
    )
    tuples: tuple[str, ...] = key(
        (),
        "Your own tuples instead of a named network. A tuple lists its cells as hexadecimal digits: "
        "0 to 3 is the first row, 4 to 7 the second.",
    )
    symmetric: bool = key(
        True,
        "With `tuples`: read every tuple from all symmetries of the board, which share its weights "
        "(Szubert & Jaśkowski 2014).",
    )
    alphabet: int = key(
        16,
        "With `tuples`: the number of tiles that a cell distinguishes, with the empty cell: 12 for the tiles up to "
        "2048. Larger tiles are read as those of the downgraded board (Guei et al. 2021); below 15, tables are "
        "smaller.",
        Range(MIN_ALPHABET, MAX_ALPHABET),
    )
    features: tuple[str, ...] = key(
        (), "With `tuples`: extra features, such as large_tiles or empty_cells (Yeh et al. 2016)."
    )
    by_hint: bool = key(
        False, "With `tuples`: separate weights for every hint, which announces the next tile (Threes only)."
    )
    hint_tuples: tuple[str, ...] = key(
        (),
        "With `tuples` and `features`: tuples that are read together with the hint (Threes only; the published program "
        "of Yeh et al. has one).",
    )
    late_tuples: tuple[str, ...] = key(
        (),
        "With `tuples`: further tuples, which join after `late_tuples_from` of the training and learn what the others "
        "leave over. Large tuples do not hold back the first part, and boards that they have not met do not look bad.",
    )
    late_tuples_from: float = key(
        0.0, "With `late_tuples`: the fraction of the training after which they join.", FRACTION
    )
    stages: tuple[str, ...] = key(
        (),
        "The tiles that start the second stage, the third stage and so on, such as 16384+8192; "
        "every stage has its own weights (Yeh et al. 2016).",
    )
    promote: bool = key(
        False,
        "Train all stages together; a weight that a stage has not written yet is read from the previous stage "
        "(weight promotion, Jaśkowski 2016).",
    )
    stages_from: float = key(
        0.0,
        "With `promote`: the fraction of the training during which the later stages are frozen and the first stage "
        "learns all boards.",
        FRACTION,
    )
    start_pool: int = key(
        0,
        "Train the stages one after the other; every later stage starts its games from this number of boards, at "
        "which games of the previous stage reached it (Yeh et al. 2016). 0: train all stages together.",
        Range(0, 10_000_000),
    )
    teacher_fraction: float = key(
        0.0,
        "With `start_pool`: the fraction of a later stage's training during which the previous stage chooses the "
        "moves and the new stage learns from them.",
        FRACTION,
    )
    value_function: str = key("afterstate", "What is valued: afterstate, state or action (Szubert & Jaśkowski 2014).")
    update: str = key(
        "backward",
        "When values are updated: online, after every move, or backward, from the last move of a finished game to "
        "the first (Matsuzaki 2017; TDL2048+ calls the two forward and backward).",
    )
    lambda_: float = key(
        0.0,
        "λ of the TD(λ) return: 0 is TD(0), 1 the score of the rest of the game (Jaśkowski 2016 uses 0.5).",
        FRACTION,
    )
    n_step: int = key(
        0,
        "Cut off the λ-return after this number of moves (5 in Yeh et al. 2016, equation 6). 0: no limit.",
        Range(0, 1_000_000),
    )
    rechoose_next_move: bool = key(
        False,
        "Backward TD(0) of afterstate values: an update chooses the next move again, with the weights as they are "
        "then, instead of taking the move that was played (Chen 2019).",
    )
    value_last_board: bool = key(
        False,
        "Backward TD(0), with state values or `rechoose_next_move`: the last board of a game has the value that the "
        "network gives it (Chen 2019). false: the end of a game has the value 0.",
    )
    step_size: str = key(
        "tc",
        "How the learning rate of a weight is chosen: fixed, or tc for temporal coherence, which adapts it to the "
        "signs of the weight's errors (Beal & Smith 1999, Jaśkowski 2016).",
    )
    alpha: float = key(
        1.0,
        "The learning rate: the fraction of the error that one update removes. It is divided among the weights read, "
        "as TDL2048+ does; the rate per weight of other papers is alpha divided by the number of weights read.",
        Range(0, 2, above=True),
    )
    decay: float = key(
        1.0,
        "Multiply alpha by `decay` when the last `patience` games are no better than the `patience` before them "
        "(Yeh et al. 2016).",
        Range(0, 1, above=True),
    )
    patience: int = key(0, "The number of games that `decay` compares. 0: alpha stays as it is.", Range(0, MAX_COUNT))
    restart: int = key(
        0,
        "Play a game of at least this number of moves again from its middle, and repeat while the new game is as "
        "long (Matsuzaki 2017). 0: never.",
        Range(0, MAX_COUNT),
    )
    model: str = key(
        "",
        "A model file to start from. With `start_pool`, its stages are kept, and training starts with the first "
        "stage that it does not have.",
    )
    optimistic_init: float = key(
        0.0,
        "The value of every board at the start; high values are optimistic and make it explore (Guei 2021).",
        Range(-LARGEST_VALUE, LARGEST_VALUE),
    )
    epsilon: float = key(0.0, "The probability of a random move (ε-greedy exploration).", FRACTION)
    goal_tile: int = key(
        0,
        "Training games end when this tile is made; to learn to win rather than to score (Szubert & Jaśkowski 2014, "
        "VI-A). 0: they continue until no move is legal.",
        Range(0, 131_072),
    )
    goal_reward: int = key(
        0,
        "With `goal_tile`: the reward for making it, besides its points. Scores of training games include it.",
        Range(0, 1_000_000_000),
    )
    goal_only: bool = key(False, "With `goal_tile`: only the goal has a reward, points have none.")
    averaging: float = key(
        0.0,
        "The fraction of the training, at its end, over which snapshots of the weights are averaged; the model is "
        "their mean (Polyak & Juditsky 1992; stochastic weight averaging, Izmailov et al. 2018). With `start_pool`, of "
        "the training of every stage. 0: the model has the last weights.",
        FRACTION,
    )
    downgrade_above: int = key(
        0,
        "The trained model plays boards with larger tiles than this as boards with smaller tiles "
        "(tile-downgrading, Guei et al. 2021). 0: never.",
        Range(0, 131_072),
    )
    games: int = key(
        0,
        "The budget in games; training ends when the first of the two budgets is used up. 0: no limit.",
        Range(0, MAX_COUNT),
    )
    minutes: float = key(0.0, "The budget in minutes of training, without evaluations. 0: no limit.", MINUTES)
    seed: int = key(
        0, "The seed of all random numbers; on one thread, the same seed gives the same weights.", Range(0, MAX_SEED)
    )
    curve_games: int = key(1000, "The number of games in a row of the learning curve.", Range(1, MAX_COUNT))
    evaluate_games: int = key(200, "The number of games of an evaluation during training.", Range(1, 1_000_000))
    evaluate_minutes: float = key(
        5.0, "The time between evaluations, in minutes of training. 0: no evaluations.", MINUTES
    )
    checkpoint_minutes: float = key(
        5.0, "The time between checkpoints, in minutes of training.", Range(0, MINUTES.largest, above=True)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("value_function", VALUE_FUNCTIONS)
        self._one_of("update", UPDATES)
        self._one_of("step_size", STEP_SIZES)
        self._check_network()
        self._check_learning()
        self._check_stages()
        self._check_parts()

    def _check_network(self) -> None:
        if self.late_tuples_from and not self.late_tuples:
            raise ConfigError("late_tuples_from needs late_tuples")
        if self.late_tuples and self.start_pool:
            raise ConfigError("late_tuples does not work with start_pool: every stage learns with all tuples")
        if self.late_tuples and self.optimistic_init:
            raise ConfigError("late_tuples does not work with optimistic_init: they start with weights of 0")
        if self.tuples and self.network:
            raise ConfigError(f'network = "{self.network}" and tuples exclude each other; leave one of them out')
        if self.tuples:
            return
        for name in ("symmetric", "alphabet", "features", "by_hint", "hint_tuples", "late_tuples"):
            if getattr(self, name) != getattr(type(self), name):
                raise ConfigError(f"{name} needs tuples; network = {self._network_name!r} has its own")
        if self._network_name not in NETWORKS:
            hint = did_you_mean(self.network, NETWORKS)
            raise ConfigError(f"network = {self.network!r}: no such network{hint}; allowed: {', '.join(NETWORKS)}")

    def _check_learning(self) -> None:
        if not self.games and not self.minutes:
            raise ConfigError("games or minutes must say how long to train")
        if self.update == "online" and (self.lambda_ > 0 or self.n_step > 1):
            raise ConfigError('update = "online" learns from one move at a time; lambda and n_step need "backward"')
        if self.update == "online" and self.restart:
            raise ConfigError('update = "online" does not keep the moves of a game; restart needs "backward"')
        self._check_next_move()
        if 0 < self.patience < self.curve_games:
            raise ConfigError(
                f"patience = {self.patience}: must be 0 or at least curve_games = {self.curve_games}, "
                "whose rows it compares"
            )
        if self.value_function == "state" and self.optimistic_init > 0:
            raise ConfigError(
                'value_function = "state" does not allow optimistic_init > 0: the end of a game would have the '
                "highest value"
            )

    def _check_next_move(self) -> None:
        for name in ("rechoose_next_move", "value_last_board"):
            if getattr(self, name) and (self.update != "backward" or self.lambda_ > 0 or self.n_step):
                raise ConfigError(f'{name} is for backward TD(0): update = "backward", lambda = 0, n_step = 0')
        if self.rechoose_next_move and self.value_function != "afterstate":
            raise ConfigError('rechoose_next_move needs value_function = "afterstate": others do not value a next move')
        if self.value_last_board and self.value_function != "state" and not self.rechoose_next_move:
            raise ConfigError('value_last_board needs value_function = "state", or rechoose_next_move')

    def _check_stages(self) -> None:
        if self.promote and self.value_function == "action":
            raise ConfigError('promote does not work with value_function = "action"')
        if self.stages_from and not self.promote:
            raise ConfigError("stages_from needs promote: the later stages start from the weights of the first one")
        if self.start_pool and not self.stages:
            raise ConfigError("start_pool needs stages; this config has none")
        if self.teacher_fraction and not self.start_pool:
            raise ConfigError("teacher_fraction needs start_pool: the teacher is the previous stage")
        if self.teacher_fraction and self.epsilon:
            raise ConfigError("teacher_fraction does not work with epsilon: a move is the teacher's or random")
        if self.start_pool and self.promote:
            raise ConfigError("promote trains all stages together, start_pool one after the other; choose one")
        if self.start_pool and self.value_function == "action":
            raise ConfigError('start_pool does not work with value_function = "action"')

    def _check_goal(self) -> None:
        for name in ("goal_reward", "goal_only"):
            if getattr(self, name) and not self.goal_tile:
                raise ConfigError(f"{name} needs goal_tile")
        if self.goal_only and not self.goal_reward:
            raise ConfigError("goal_only needs goal_reward: nothing else would have a reward")
        if self.goal_tile and self.start_pool:
            raise ConfigError("goal_tile does not work with start_pool: later stages start beyond the goal")
        if self.goal_tile:
            try:
                self.make_game().code(self.goal_tile)
            except UsageError as error:
                raise ConfigError(f"goal_tile = {self.goal_tile}: {error}") from None

    def _check_parts(self) -> None:
        for name, part in (
            ("game", self.make_game),
            ("tuples", self._one_stage),
            ("stages", self.make_architecture),
            ("value_function", lambda: network_size(self.make_architecture(), self.value_function)),
        ):
            try:
                part()
            except UsageError as error:
                raise ConfigError(f"{name}: {error}") from None
        try:
            check_downgrade_above(self.downgrade_above, self.make_game())
        except SpecError as error:
            raise ConfigError(str(error)) from None
        self._check_goal()

    @property
    def agent_name(self) -> str:
        """The name of the agent that plays the trained network."""
        return "ntuple"

    @property
    def subject(self) -> str:
        """What is trained, in a word: the name of the network, or `tuples`."""
        return "tuples" if self.tuples else self._network_name

    @property
    def length(self) -> str:
        """The budget in words: `1.2 minutes`, `5,000 games`, `1.2 minutes or 5,000 games`."""
        minutes = f"{self.minutes:g} minutes" if self.minutes else ""
        return " or ".join(filter(None, (minutes, f"{self.games:,} games" if self.games else "")))

    def make_game(self) -> Game:
        """The game to train on."""
        return make_game(self.game)

    def make_architecture(self) -> NTupleArchitecture:
        """The network with all its stages.

        Raises:
            SpecError: The network does not fit the game.
        """
        architecture = dataclasses.replace(self._one_stage(), stages=self.stages, promote=self.promote)
        architecture.check_fits(self.make_game())
        return architecture

    @property
    def _network_name(self) -> str:
        return self.network or DEFAULT_NETWORK

    def _one_stage(self) -> NTupleArchitecture:
        if self.tuples:
            architecture = NTupleArchitecture(
                (*self.tuples, *self.late_tuples),
                self.symmetric,
                self.alphabet,
                self.features,
                self.by_hint,
                hint_tuples=self.hint_tuples,
            )
        else:
            architecture = NETWORKS[self._network_name]
        architecture.check_fits(self.make_game())
        return architecture


def list_presets() -> dict[str, str]:
    """The presets that ship with the package, n-tuple and deep, each with a line that says what it trains.

    >>> list_presets()["minute"]
    'A strong 2048 player in about a minute: 4x6 network, backward TC(0.5).'
    """
    return {name: summary for folder in PRESET_FOLDERS for name, summary in presets_in(folder).items()}


@overload
def read_config(source: A, **changes: object) -> A: ...
@overload
def read_config(source: str | Path, **changes: object) -> AnyConfig: ...
def read_config(source: str | Path | AnyConfig, **changes: object) -> AnyConfig:
    """Read a training configuration of any kind, and change some of its keys.

    Args:
        source: The name of a preset, the path of a TOML file, or a configuration.
        changes: Keys with new values; `lambda_` stands for `lambda`.

    Returns:
        A DeepConfig if there is a key `algorithm`, a TrainingConfig otherwise.

    Raises:
        ConfigError: There is no such preset, a key is unknown, or a value is not allowed.
        FileError: The file cannot be read.

    >>> read_config("minute", seed=7).seed
    7
    >>> read_config("dqn").agent_name
    'dqn'
    """
    if isinstance(source, Config):
        return cast(AnyConfig, source.replace(**changes))
    if not isinstance(source, str | os.PathLike):
        raise ConfigError(f"{source!r}: must be the name of a preset, the path of a file, or a configuration")
    text = read_source(source if isinstance(source, str) else Path(source), *PRESET_FOLDERS)
    try:
        return parse_config(text, **changes)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None


def parse_config(text: str, **changes: object) -> AnyConfig:
    """Read a training configuration of any kind from TOML, and change some of its keys; see `read_config`.

    Raises:
        ConfigError: The text is not TOML, a key is unknown, or a value is not allowed.
    """
    kind: type[Config] = load_object(DEEP_CONFIG, "deep") if _is_deep(text, changes) else TrainingConfig
    return cast(AnyConfig, config_from_toml(kind, text, **changes))


def _is_deep(text: str, changes: dict[str, object]) -> bool:
    try:
        return "algorithm" in changes or "algorithm" in tomllib.loads(text)
    except (RecursionError, ValueError):
        return False  # reading it as a TrainingConfig says what is wrong
