"""Configurations for training deep networks."""

from dataclasses import dataclass

from tilewright._core.checks import Range, check_that
from tilewright._core.config import MAX_COUNT, MAX_SEED, MINUTES, Config, key
from tilewright.deep.architectures import ARCHITECTURES
from tilewright.deep.devices import DEVICE_FORMS, is_device_name
from tilewright.errors import ConfigError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["ALGORITHMS", "ENCODINGS", "REWARD_SCALE", "DeepConfig"]

ALGORITHMS = ("dqn", "afterstate")
ENCODINGS = ("onehot", "grid", "scaled")
IMPORTANCE_WEIGHTS = ("batch", "buffer")
LOSSES = ("mse", "huber")
REWARDS = ("score", "log2")  # as in envs.options, which needs Gymnasium

FRACTION = Range(0, 1)
REWARD_SCALE = Range(1e-6, 1_000_000_000)
_DQN_ONLY = ("n_step", "penalty", "end_probability", "end_fraction", "end_after", "reward", "lookahead")


@dataclass(frozen=True)
class DeepConfig(Config):
    """How a deep network is trained. Every field is a key of the TOML file; a missing key has the default.

    Keys have the names of Stable-Baselines3's `DQN` where it has them. The defaults of the algorithm are the published
    settings of Bouhoula, Castro & Centa, "Reinforcement Learning on 2048" (below: Bouhoula), unless the meaning of
    a key says otherwise. A *step* is one move in one game.

    Raises:
        ConfigError: A value is not allowed, or two values exclude each other.

    >>> DeepConfig(architecture="small", minutes=30).length
    '30 minutes'
    """

    # Problem and network
    algorithm: str = key(
        "dqn", "The algorithm. dqn: Q-learning of action values. afterstate: TD(0) of afterstate values."
    )
    game: str = key("2048", "The game, as a spec. Bouhoula's program starts with two tiles, though the text says one.")
    architecture: str = key("mlp", "The network, such as mlp, cnn_5l or small.")
    encoding: str = key(
        "onehot",
        "The input for a cell. onehot: a plane for each tile. grid: the exponent (Bouhoula, Table II). scaled: the "
        "exponent divided by 16, as Bouhoula's program does for CNNs.",
    )
    lookahead: int = key(
        0,
        "dqn: the number of moves that the input looks ahead, 0 to 2: the network also sees the boards after every "
        "move, or after every two (Iommi, cited by Bouhoula).",
        Range(0, 2),
    )
    dueling: bool = key(True, "dqn: separate heads for state value and advantages (Wang et al. 2016).")
    bfloat16: bool = key(
        False,
        "Compute convolutions in bfloat16 (float16 on mps), which is faster only on devices with such instructions. "
        "Not in Bouhoula.",
    )
    device: str = key(
        "cpu",
        "Where the network is computed: cpu, cuda, cuda:1, mps, or auto for an accelerator if there is one. On cpu, "
        "results are the same bits everywhere.",
    )
    # Algorithm
    double_q: bool = key(True, "dqn: double Q-learning (van Hasselt et al. 2016).")
    prioritized_replay: bool = key(True, "dqn: sample transitions by their TD errors (Schaul et al. 2016).")
    prioritized_replay_alpha: float = key(0.6, "The exponent of the priorities. 0: sample uniformly.", FRACTION)
    prioritized_replay_beta: float = key(
        0.4, "The exponent of the importance weights at the start; it grows to 1 at the end.", FRACTION
    )
    n_step: int = key(
        1, "dqn: the number of rewards in a return before the bootstrapped value (SB3: n_steps).", Range(1, 1000)
    )
    importance_weights: str = key(
        "batch",
        "dqn: what importance weights are divided by. batch: the largest of the batch. buffer: the largest of the "
        "whole replay buffer, as Bouhoula.",
    )
    mask: bool = key(
        False,
        "dqn: never explore or bootstrap from illegal moves; without it they cost `penalty`. Not in Bouhoula.",
    )
    symmetry: bool = key(False, "Apply a random symmetry of the board to every sampled transition. Not in Bouhoula.")
    gamma: float = key(0.99, "The discount factor.", FRACTION)
    loss: str = key("mse", "The loss. mse: squared error. huber: Huber loss, as Bouhoula.")
    # Rewards
    reward: str = key("score", "dqn: score: the points of a move. log2: their logarithm.")
    reward_scale: float = key(1.0, "Rewards are divided by this number before learning.", REWARD_SCALE)
    penalty: float = key(0.0, "dqn: the cost of an invalid move (32 or 512 in Bouhoula).", Range(0, 1_000_000_000))
    end_probability: float = key(
        0.0, "dqn: the probability that an invalid move ends the episode (0.05 in Bouhoula, Table I).", FRACTION
    )
    end_fraction: float = key(
        0.0, "dqn: the largest allowed fraction of invalid moves (0.1 in Bouhoula). 0: no limit.", FRACTION
    )
    end_after: int = key(
        0,
        "dqn: the number of invalid moves up to which their fraction does not end an episode (16 in Bouhoula). 0: the "
        "fraction is tested from the move at which a single invalid move is not too many.",
        Range(0, MAX_COUNT),
    )
    # Exploration
    exploration_initial_eps: float = key(
        0.6, "The probability of a random move at the start; it falls linearly.", FRACTION
    )
    exploration_final_eps: float = key(0.01, "The probability of a random move at the end.", FRACTION)
    exploration_fraction: float = key(0.1, "The fraction of the training in which this probability falls.", FRACTION)
    # Replay buffer and optimizer
    buffer_size: int = key(10_000, "The number of transitions in the replay buffer.", Range(1, 1_000_000_000))
    learning_starts: int = key(10_000, "The number of steps before the first gradient step.", Range(0, MAX_COUNT))
    train_freq: int = key(4, "The number of steps per gradient step.", Range(1, 1_000_000))
    batch_size: int = key(32, "The number of transitions per gradient step.", Range(1, 1_000_000))
    learning_rate: float = key(1e-4, "The learning rate of Adam at the start.", Range(0, 10, above=True))
    learning_rate_end: float = key(
        0.0, "The learning rate at the end, reached linearly. 0: it stays as it is. Not in Bouhoula.", Range(0, 10)
    )
    target_update_interval: int = key(
        1000, "The number of steps between updates of the target network.", Range(1, MAX_COUNT)
    )
    n_envs: int = key(16, "The number of games played side by side (1 in Bouhoula).", Range(1, 100_000))
    # Budget
    total_steps: int = key(
        0,
        "The budget in steps (SB3: total_timesteps); training ends when the first of the two budgets is used up. "
        "0: no limit.",
        Range(0, MAX_COUNT),
    )
    minutes: float = key(0.0, "The budget in minutes of training, without evaluations. 0: no limit.", MINUTES)
    seed: int = key(0, "The seed of all random numbers.", Range(0, MAX_SEED))
    # Progress
    curve_games: int = key(100, "The number of games in a row of the learning curve.", Range(1, MAX_COUNT))
    evaluate_games: int = key(100, "The number of games of an evaluation during training.", Range(1, 10_000))
    evaluate_minutes: float = key(
        5.0, "The time between evaluations, in minutes of training. 0: no evaluations.", MINUTES
    )
    checkpoint_minutes: float = key(
        5.0, "The time between checkpoints, in minutes of training.", Range(0, MINUTES.largest, above=True)
    )

    def __post_init__(self) -> None:
        """Check all values."""
        super().__post_init__()
        self._one_of("algorithm", ALGORITHMS)
        self._one_of("architecture", ARCHITECTURES)
        self._one_of("encoding", ENCODINGS)
        self._one_of("loss", LOSSES)
        self._one_of("reward", REWARDS)
        self._one_of("importance_weights", IMPORTANCE_WEIGHTS)
        self._must(is_device_name(self.device), "device", f"must be {DEVICE_FORMS}")
        try:
            self.make_game()
        except UsageError as error:
            raise ConfigError(f"game = {self.game!r}: {error}") from None
        self._check_together()

    def _must(self, holds: bool, name: str, complaint: str) -> None:
        check_that(holds, f"{name} = {getattr(self, name)!r}", complaint, ConfigError)

    def _check_together(self) -> None:
        """Check values that depend on each other."""
        if not self.total_steps and not self.minutes:
            raise ConfigError("total_steps = 0 and minutes = 0.0: one of them must limit the training")
        self._must(not self.end_after or self.end_fraction > 0, "end_after", "needs end_fraction, which it defers")
        fewest = self.n_envs * (self.n_step + 1)
        self._must(
            self.buffer_size >= fewest,
            "buffer_size",
            f"must be at least n_envs · (n_step + 1) = {fewest:,}",
        )
        if max(self.n_envs, self.train_freq) % min(self.n_envs, self.train_freq):
            raise ConfigError(f"n_envs = {self.n_envs}, train_freq = {self.train_freq}: one must divide the other")
        if self.algorithm == "afterstate":
            for name in _DQN_ONLY:
                default = getattr(DeepConfig, name)
                self._must(
                    getattr(self, name) == default,
                    name,
                    f'must be {default!r} with algorithm = "afterstate", which plays legal moves for their score',
                )

    @property
    def agent_name(self) -> str:
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
