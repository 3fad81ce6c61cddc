"""How a deep network is trained: the configuration of `tilewright train dqn` and its like."""

from dataclasses import dataclass
from typing import Any

from tilewright._core.config import Config, presets_in, read_config
from tilewright.deep.architectures import find_architecture
from tilewright.errors import ConfigError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["DEEP_PRESETS", "DeepConfig", "deep_preset_names", "read_deep_config"]

DEEP_PRESETS = "deep/presets"  # the folder of the package
LEARNERS = ("dqn", "afterstate")
ENCODINGS = ("onehot", "grid")
LOSSES = ("mse", "huber")


@dataclass(frozen=True)
class DeepConfig(Config):
    """Every field is a key of the TOML file; what is left out has the default here.

    The defaults of the algorithm are the published settings of Bouhoula, Castro & Centa.
    """

    algorithm: str = "dqn"  # dqn: values of actions; afterstate: values of boards before a tile comes
    game: str = "2048"
    architecture: str = "mlp"
    encoding: str = "onehot"  # what the network sees of a cell: one plane a tile, or the exponent itself
    double: bool = True  # dqn: the network that learns chooses the next move, the target network values it
    dueling: bool = True  # dqn: one output for the board, four for how much better a move is than the mean
    prioritised: bool = True  # dqn: what surprised is learned from more often
    n_step: int = 1  # dqn: rewards of so many moves count before the network's own value
    mask: bool = False  # dqn: invalid moves are never tried nor valued; without it they cost `penalty`
    symmetry: bool = False  # a board is learned as any of its eight images
    reward: str = "score"
    penalty: float = 0.0
    end_probability: float = 0.0  # an invalid move ends the game with this probability
    end_fraction: float = 0.0  # a game ends when more than this share of its moves was invalid; 0: never
    gamma: float = 0.99
    reward_scale: float = 1.0  # rewards are counted in so many points
    exploration_initial_eps: float = 0.6  # share of random moves at the beginning …
    exploration_final_eps: float = 0.01  # … and after this part of the training:
    exploration_fraction: float = 0.1
    buffer_size: int = 10_000  # moves that are remembered
    priority_alpha: float = 0.6  # prioritised: 0 is uniform, 1 by the error
    priority_beta: float = 0.4  # prioritised: how much of the bias is made good at the beginning; all at the end
    learning_starts: int = 10_000  # moves before learning starts
    train_freq: int = 4  # moves for each step of learning
    batch_size: int = 32
    learning_rate: float = 1e-4
    learning_rate_end: float = 0.0  # at the end, in a straight line; 0: as at the beginning
    target_update_interval: int = 1000  # moves after which the target network is brought up to date
    loss: str = "mse"
    bfloat16: bool = False  # convolutions in 16 bits; faster on processors that can
    n_envs: int = 16  # games played at once
    total_steps: int = 0  # how long to train: moves, minutes, or whichever comes first; 0: no limit
    minutes: float = 0.0
    seed: int = 0
    curve_games: int = 100  # games a point of the learning curve
    evaluate_games: int = 100  # games of a test along the way
    evaluate_minutes: float = 5.0  # a test every so many minutes; 0: none
    checkpoint_minutes: float = 5.0

    def __post_init__(self) -> None:
        self._one_of("algorithm", LEARNERS)
        self._one_of("encoding", ENCODINGS)
        self._one_of("loss", LOSSES)
        self._one_of("reward", ("score", "log2"))
        for key in (
            "gamma",
            "exploration_initial_eps",
            "exploration_final_eps",
            "exploration_fraction",
            "priority_alpha",
            "priority_beta",
            "end_probability",
            "end_fraction",
        ):
            self._between(key, 0, 1)
        for key in (
            "penalty",
            "learning_rate_end",
            "learning_starts",
            "total_steps",
            "minutes",
            "seed",
            "evaluate_minutes",
        ):
            self._between(key, 0, None)
        for key in ("reward_scale", "learning_rate", "checkpoint_minutes"):
            self._between(key, 0, None, above=True)
        for key in (
            "n_step",
            "buffer_size",
            "train_freq",
            "batch_size",
            "target_update_interval",
            "n_envs",
            "curve_games",
        ):
            self._between(key, 1, None)
        self._between("evaluate_games", 1, None)
        if not self.total_steps and not self.minutes:
            raise ConfigError("total_steps or minutes must say how long to train")
        if self.buffer_size < self.n_envs * (self.n_step + 1):
            raise ConfigError(
                f"buffer_size = {self.buffer_size}: must hold at least n_step + 1 moves of each environment"
            )
        if max(self.n_envs, self.train_freq) % min(self.n_envs, self.train_freq):
            raise ConfigError(f"n_envs = {self.n_envs} and train_freq = {self.train_freq}: one must divide the other")
        self._check_learner()
        for key, part in (("game", self.make_game), ("architecture", lambda: find_architecture(self.architecture))):
            try:
                part()
            except UsageError as error:
                raise ConfigError(f"{key}: {error}") from None

    def _check_learner(self) -> None:
        if self.algorithm == "dqn":
            return
        for key in ("n_step", "penalty", "end_probability", "end_fraction", "reward"):
            if getattr(self, key) != getattr(type(self), key):
                raise ConfigError(f'{key} goes with algorithm = "dqn"; "afterstate" plays legal moves for their score')

    @property
    def player(self) -> str:
        """The agent that plays what was trained."""
        return self.algorithm

    @property
    def subject(self) -> str:
        """What is trained, in a word."""
        return self.architecture

    @property
    def length(self) -> str:
        """How long it trains, in words."""
        minutes = f"{self.minutes:g} minutes" if self.minutes else ""
        return " or ".join(filter(None, (minutes, f"{self.total_steps:,} steps" if self.total_steps else "")))

    def make_game(self) -> Game:
        return make_game(self.game)


def deep_preset_names() -> dict[str, str]:
    """The presets, each with the first line of its file."""
    return presets_in(DEEP_PRESETS)


def read_deep_config(source: str, **changes: Any) -> DeepConfig:
    """A recipe from a preset's name or a TOML file, with some keys changed.

    >>> read_deep_config("dqn", seed=7).seed
    7
    """
    return read_config(DeepConfig, source, DEEP_PRESETS, **changes)
