"""Configurations for training deep networks."""

from dataclasses import dataclass

from tilewright._core.checks import Range, check_that
from tilewright._core.config import MAX_COUNT, MAX_SEED, MINUTES, Config, key
from tilewright.agents import make_agent
from tilewright.deep.architectures import ARCHITECTURES
from tilewright.deep.devices import DEVICE_FORMS, is_device_name
from tilewright.errors import ConfigError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["AGENTS", "ALGORITHMS", "ENCODINGS", "REWARD_SCALE", "DeepConfig"]

# The agents that play deep networks.
AGENTS = ("dqn", "afterstate", "policy")
ALGORITHMS = ("dqn", "afterstate", "supervised", "policy-gradient")
LABELS = ("moves", "values")
ENCODINGS = ("onehot", "grid", "scaled")
IMPORTANCE_WEIGHTS = ("batch", "buffer")
LOSSES = ("mse", "huber")
REWARDS = ("score", "log2")  # as in envs.options, which needs Gymnasium

FRACTION = Range(0, 1)
REWARD_SCALE = Range(1e-6, 1_000_000_000)
_DQN_ONLY = ("n_step", "penalty", "end_probability", "end_fraction", "end_after", "reward", "lookahead")
_NOT_POLICY_GRADIENT = tuple(name for name in _DQN_ONLY if name not in ("n_step", "reward"))
_SUPERVISED_ONLY = (
    *("teacher", "labels", "teacher_fraction", "goal_tile", "temperature", "vf_coef", "data", "data_positions"),
)


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
        "dqn",
        "The algorithm. dqn: Q-learning of action values. afterstate: TD(0) of afterstate values. supervised: from the "
        "labels of a teacher. policy-gradient: REINFORCE with a baseline (A2C).",
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
        1,
        "dqn, policy-gradient: the number of rewards in a return before the bootstrapped value (SB3: n_steps).",
        Range(1, 1000),
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
    # Teacher
    teacher: str = key("", "supervised: the agent that labels positions, as a spec, such as expectimax:depth=2.")
    labels: str = key(
        "moves",
        "supervised: what is learned from the teacher. moves: a policy, by the cross-entropy of its moves (Kondo & "
        "Matsuzaki 2019). values: afterstate values.",
    )
    teacher_fraction: float = key(
        1.0,
        "supervised: the fraction of the games that the teacher plays. The network plays the others, and the teacher "
        "labels their positions (DAgger, Ross et al. 2011).",
        FRACTION,
    )
    goal_tile: int = key(0, "supervised: a game ends when it reaches this tile. 0: no such end.", Range(0, MAX_COUNT))
    temperature: float = key(
        0.0,
        "supervised, labels = values: the temperature, in points, of two softmax policies, by the teacher's action "
        "values and by the network's, whose divergence is a part of the loss (policy distillation, Rusu et al. 2016). "
        "0: no such part.",
        Range(0, 1_000_000_000),
    )
    vf_coef: float = key(
        1.0, "supervised, labels = values: the weight of the error of the values in the loss.", Range(0, 1_000_000)
    )
    data: str = key(
        "",
        "supervised: a file of labelled positions. If there is none, it is written first. Empty: positions are "
        "labelled as they are needed, and not kept.",
    )
    data_positions: int = key(1_000_000, "supervised: the number of positions in a new file.", Range(1, 10_000_000_000))
    ent_coef: float = key(
        0.0, "policy-gradient: the weight of the entropy of the policy in the loss.", Range(0, 1_000_000)
    )
    # Rewards
    reward: str = key("score", "dqn, policy-gradient: score: the points of a move. log2: their logarithm.")
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
        self._one_of("labels", LABELS)
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
            self._must_be_default(_DQN_ONLY, "which plays legal moves for their score")
        if self.algorithm == "policy-gradient":
            self._must_be_default(_NOT_POLICY_GRADIENT, "which plays legal moves")
        else:
            self._must_be_default(("ent_coef",), "which has no stochastic policy")
        if self.algorithm == "supervised":
            self._must_be_default((*_DQN_ONLY, "bfloat16"), "which learns from a teacher")
            self._check_teacher()
        else:
            self._must_be_default(_SUPERVISED_ONLY, "which has no teacher")

    def _must_be_default(self, names: tuple[str, ...], reason: str) -> None:
        for name in names:
            default = getattr(DeepConfig, name)
            complaint = f'must be {default!r} with algorithm = "{self.algorithm}", {reason}'
            self._must(getattr(self, name) == default, name, complaint)

    def _check_teacher(self) -> None:
        self._must(bool(self.teacher), "teacher", "must be an agent, such as expectimax:depth=2")
        try:
            make_agent(self.teacher)
        except UsageError as error:
            raise ConfigError(f"teacher = {self.teacher!r}: {error}") from None
        if self.labels == "moves":
            self._must(not self.temperature, "temperature", 'needs labels = "values"')
        else:
            self._must(self.temperature > 0 or self.vf_coef > 0, "vf_coef", "nothing is learned without a temperature")
        self._must(
            not self.data or self.teacher_fraction == 1, "teacher_fraction", "must be 1.0 with positions of a file"
        )
        if self.goal_tile:
            try:
                self.make_game().code(self.goal_tile)
            except UsageError as error:
                raise ConfigError(f"goal_tile = {self.goal_tile}: {error}") from None

    @property
    def agent_name(self) -> str:
        """The name of the agent that plays the trained model."""
        if self.algorithm == "policy-gradient":
            return "policy"
        if self.algorithm == "supervised":
            return "policy" if self.labels == "moves" else "afterstate"
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
