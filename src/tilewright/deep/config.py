"""Configurations for training deep networks, and the presets that ship."""

import math
from dataclasses import dataclass

from tilewright._core.checks import check_that
from tilewright._core.config import Config, presets_in, read_config
from tilewright.deep.architectures import ARCHITECTURES
from tilewright.errors import ConfigError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["ALGORITHMS", "DEEP_PRESETS", "ENCODINGS", "DeepConfig", "deep_preset_names", "read_deep_config"]

DEEP_PRESETS = "deep/presets"  # the folder of the package
ALGORITHMS = ("dqn", "afterstate")
ENCODINGS = ("onehot", "grid")
LOSSES = ("mse", "huber")
REWARDS = ("score", "log2")  # as in envs.options, which needs Gymnasium

_FRACTIONS = (
    "gamma",
    "exploration_initial_eps",
    "exploration_final_eps",
    "exploration_fraction",
    "prioritized_replay_alpha",
    "prioritized_replay_beta",
    "end_probability",
    "end_fraction",
)
_NOT_NEGATIVE = (
    "penalty",
    "learning_rate_end",
    "learning_starts",
    "total_steps",
    "minutes",
    "seed",
    "evaluate_minutes",
)
_POSITIVE = ("reward_scale", "learning_rate", "checkpoint_minutes")
_AT_LEAST_ONE = (
    "n_step",
    "buffer_size",
    "train_freq",
    "batch_size",
    "target_update_interval",
    "n_envs",
    "curve_games",
    "evaluate_games",
)
_FINITE = ("penalty", "reward_scale", "learning_rate", "learning_rate_end")
_DQN_ONLY = ("n_step", "penalty", "end_probability", "end_fraction", "reward")


@dataclass(frozen=True)
class DeepConfig(Config):
    """How a deep network is trained. Every field is a key of the TOML file; a missing key has the default.

    Keys have the names of Stable-Baselines3's `DQN` where it has them. The defaults of the algorithm are the published
    settings of Bouhoula, Castro & Centa, "Reinforcement Learning on 2048" (below: Bouhoula), unless a comment says
    otherwise. A *step* is one move in one game.

    Raises:
        ConfigError: A value is not allowed, or two values exclude each other.

    >>> DeepConfig(architecture="small", minutes=30).length
    '30 minutes'
    """

    # Problem and network
    algorithm: str = "dqn"  # dqn: Q-learning of action values; afterstate: TD(0) of afterstate values
    game: str = "2048"  # a game's spec; Bouhoula starts with one tile: 2048:start_tiles=1
    architecture: str = "mlp"  # a name of deep.architectures
    encoding: str = "onehot"  # the input of a cell. onehot: a plane for each tile; grid: its exponent (Table II)
    dueling: bool = True  # dqn: separate heads for state value and advantages (Wang et al. 2016)
    bfloat16: bool = False  # compute convolutions in bfloat16: faster only on CPUs with such instructions; ours
    # Algorithm
    double_q: bool = True  # dqn: double Q-learning (van Hasselt et al. 2016)
    prioritized_replay: bool = True  # dqn: sample transitions by their TD errors (Schaul et al. 2016)
    prioritized_replay_alpha: float = 0.6  # exponent of the priorities; 0 samples uniformly
    prioritized_replay_beta: float = 0.4  # exponent of the importance weights at the start; it grows to 1 at the end
    n_step: int = 1  # dqn: rewards in a return before the bootstrapped value (SB3: n_steps)
    mask: bool = False  # dqn: never explore or bootstrap from illegal moves; without it they cost `penalty`; ours
    symmetry: bool = False  # apply a random symmetry of the board to every sampled transition; ours
    gamma: float = 0.99  # discount factor
    loss: str = "mse"  # mse: squared error; huber: Huber loss, as Bouhoula
    # Rewards
    reward: str = "score"  # dqn: score: the points of a move; log2: their logarithm
    reward_scale: float = 1.0  # rewards are divided by this number before learning
    penalty: float = 0.0  # dqn: cost of an invalid move; Bouhoula: 32 or 512
    end_probability: float = 0.0  # dqn: probability that an invalid move ends the episode; Bouhoula: 0.05 in Table I
    end_fraction: float = 0.0  # dqn: largest allowed fraction of invalid moves, 0 for no limit; Bouhoula: 0.1
    # Exploration: ε falls linearly from the initial to the final value
    exploration_initial_eps: float = 0.6
    exploration_final_eps: float = 0.01
    exploration_fraction: float = 0.1  # fraction of the training in which ε falls
    # Replay buffer and optimizer
    buffer_size: int = 10_000  # transitions in the replay buffer
    learning_starts: int = 10_000  # steps before the first gradient step
    train_freq: int = 4  # steps per gradient step
    batch_size: int = 32  # transitions per gradient step
    learning_rate: float = 1e-4  # of Adam, at the start
    learning_rate_end: float = 0.0  # at the end, reached linearly; 0 keeps the learning rate constant; ours
    target_update_interval: int = 1000  # steps between updates of the target network
    n_envs: int = 16  # games played side by side; Bouhoula: 1
    # Budget
    total_steps: int = 0  # steps to train; 0 for no limit (SB3: total_timesteps)
    minutes: float = 0.0  # minutes to train; 0 for no limit; with both, the first limit counts
    seed: int = 0
    # Progress
    curve_games: int = 100  # training games per point of the learning curve
    evaluate_games: int = 100  # games per evaluation during training
    evaluate_minutes: float = 5.0  # minutes between evaluations; 0 for none
    checkpoint_minutes: float = 5.0  # minutes between checkpoints

    def __post_init__(self) -> None:
        """Check all values."""
        self._one_of("algorithm", ALGORITHMS)
        self._one_of("architecture", ARCHITECTURES)
        self._one_of("encoding", ENCODINGS)
        self._one_of("loss", LOSSES)
        self._one_of("reward", REWARDS)
        for key in _FRACTIONS:
            self._between(key, 0, 1)
        for key in _NOT_NEGATIVE:
            self._between(key, 0, None)
        for key in _POSITIVE:
            self._between(key, 0, None, above=True)
        for key in _AT_LEAST_ONE:
            self._between(key, 1, None)
        for key in _FINITE:
            self._must(math.isfinite(getattr(self, key)), key, "must be finite")
        try:
            self.make_game()
        except UsageError as error:
            raise ConfigError(f"game = {self.game!r}: {error}") from None
        self._check_together()

    def _must(self, holds: bool, key: str, complaint: str) -> None:
        check_that(holds, f"{key} = {getattr(self, key)!r}", complaint, ConfigError)

    def _check_together(self) -> None:
        """Check values that depend on each other."""
        if not self.total_steps and not self.minutes:
            raise ConfigError("total_steps = 0 and minutes = 0.0: one of them must limit the training")
        fewest = self.n_envs * (self.n_step + 1)
        self._must(
            self.buffer_size >= fewest,
            "buffer_size",
            f"must be at least n_envs · (n_step + 1) = {fewest:,}",
        )
        if max(self.n_envs, self.train_freq) % min(self.n_envs, self.train_freq):
            raise ConfigError(f"n_envs = {self.n_envs}, train_freq = {self.train_freq}: one must divide the other")
        if self.algorithm == "afterstate":
            for key in _DQN_ONLY:
                default = getattr(DeepConfig, key)
                self._must(
                    getattr(self, key) == default,
                    key,
                    f'must be {default!r} with algorithm = "afterstate", which plays legal moves for their score',
                )

    @property
    def player(self) -> str:
        """The name of the agent that plays the trained model."""
        return self.algorithm

    @property
    def subject(self) -> str:
        """A short name of what is trained."""
        return self.architecture

    @property
    def length(self) -> str:
        """The budget in words: `30 minutes`, `1,000,000 steps`, or both."""
        minutes = f"{self.minutes:g} minutes" if self.minutes else ""
        return " or ".join(filter(None, (minutes, f"{self.total_steps:,} steps" if self.total_steps else "")))

    def make_game(self) -> Game:
        """Return the game that is learned."""
        return make_game(self.game)


def deep_preset_names() -> dict[str, str]:
    """Return the names of the presets, each with the first line of its file.

    >>> sorted(deep_preset_names())
    ['deep-afterstate', 'dqn', 'dqn-paper', 'dqn-paper-mlp']
    """
    return presets_in(DEEP_PRESETS)


def read_deep_config(source: str, **changes: object) -> DeepConfig:
    """Read a configuration.

    Args:
        source: The name of a preset, or the path of a TOML file.
        **changes: Keys that replace those of the source.

    Raises:
        ConfigError: A key is unknown, or a value is not allowed.
        FileError: The file cannot be read.

    >>> read_deep_config("dqn", seed=7).seed
    7
    """
    return read_config(DeepConfig, source, DEEP_PRESETS, **changes)
