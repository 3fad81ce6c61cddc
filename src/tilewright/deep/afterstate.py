"""TD(0) learning of afterstate values with a deep network, a replay buffer and a target network.

The value of an action is its reward plus the value of its afterstate. The network therefore need not learn what the
rules say: which moves are legal, their rewards, and where tiles go. The target of an afterstate is the reward of the
new tile plus γ times the largest action value of the following state, by the target network.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from tilewright._core.jit import kernel
from tilewright.deep.checkpoint import (
    Counters,
    Tensors,
    check_games,
    check_grids,
    check_that_sound,
    generator_state,
    get_weights,
    optimizer_tensors,
    read_counter,
    restore_array,
    restore_generator,
    restore_optimizer,
    set_weights,
)
from tilewright.deep.config import DeepConfig
from tilewright.deep.devices import find_device, send
from tilewright.deep.learner import (
    Learner,
    exploration_rate_at,
    learning_rate_at,
    make_optimizer,
    network_config,
    set_learning_rate,
)
from tilewright.deep.network import make_network
from tilewright.deep.policy import GameBatch, NetworkPolicy, compute_afterstates, make_game_batch
from tilewright.deep.symmetry import Symmetries
from tilewright.deep.vecenv import FinishedGame
from tilewright.envs.observations import Encoder, encode, make_grid_encoder, observation_shape
from tilewright.games.rules import Rules, State, largest, slide, spawn, start
from tilewright.rng import stream_for

__all__ = ["AfterstateBuffer", "AfterstateLearner"]

ROUNDS_PER_CHUNK = 16  # a round is train_freq steps, or a step in every game if that is more
MAX_GRAD_NORM = 10.0  # as in SB3's DQN


@kernel
def start_games(
    rules: Rules,
    games: GameBatch,
    indices: NDArray[np.int64],
    scores: NDArray[np.int64],
    largest_codes: NDArray[np.int64],
) -> None:
    """Replace some games by new ones, which continue their random streams.

    Args:
        rules: The rules of the game.
        games: All games, updated in place.
        indices: int64[m], the games to replace.
        scores: int64[n], the scores of all games, updated in place.
        largest_codes: int64[n], overwritten at `indices` by the largest tiles of the old games.
    """
    for i in indices:
        largest_codes[i] = largest(rules, State(games.cells[i], games.extra[i]))
        state, scores[i] = start(rules, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra


@kernel
def step_games(
    rules: Rules,
    encoder: Encoder,
    games: GameBatch,
    actions: NDArray[np.int64],
    scores: NDArray[np.int64],
    afterstates: NDArray[np.uint8],
    spawn_rewards: NDArray[np.float32],
) -> None:
    """Make a legal move in every game.

    Args:
        rules: The rules of the game.
        encoder: The encoder of the afterstates.
        games: The games, updated in place.
        actions: int64[n].
        scores: int64[n], updated in place.
        afterstates: uint8[n, size], overwritten.
        spawn_rewards: float32[n], overwritten by the rewards of the new tiles.
    """
    for i in range(len(actions)):
        after, reward = slide(rules, State(games.cells[i], games.extra[i]), actions[i])
        encode(encoder, rules, after, afterstates[i])
        state, spawn_reward = spawn(rules, after, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        scores[i] += reward + spawn_reward
        spawn_rewards[i] = spawn_reward


class AfterstateBuffer(NamedTuple):
    """A replay buffer of afterstates and of what followed them; the oldest transitions are overwritten."""

    afterstates: NDArray[np.uint8]  # uint8[size, rows, columns]
    next_states: NDArray[np.uint64]  # uint64[size, 2], after the new tile
    spawn_rewards: NDArray[np.float32]  # float32[size], the rewards of the new tiles


class AfterstateLearner(Learner):
    """TD(0) of afterstate values as a `Learner`.

    Attributes:
        game: The game.
        target: The target network.
        policy: The policy that chooses greedy moves.
        buffer: The replay buffer.
    """

    def __init__(self, config: DeepConfig) -> None:
        """Make games, networks and replay buffer for a configuration."""
        device = find_device(config.device)
        super().__init__(config, make_network(network_config(config), config.seed, device))
        self.game, n = config.make_game(), config.n_envs
        self.target = make_network(network_config(config), config.seed, device)
        self.policy = NetworkPolicy(self.network, config.reward_scale)
        self._generator = np.random.default_rng(config.seed)
        self._symmetries = Symmetries(self.game)
        self._optimizer = make_optimizer(self.network, config.learning_rate)
        self._games = make_game_batch(n)
        for i in range(n):
            self._games.streams[i] = stream_for(config.seed, i)
        self._scores, self._largest_codes = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._encoder = make_grid_encoder(self.game)
        size = config.buffer_size // n * n
        self.buffer = AfterstateBuffer(
            np.zeros((size, *observation_shape(self._encoder)), np.uint8),
            np.zeros((size, 2), np.uint64),
            np.zeros(size, np.float32),
        )
        self._losses: list[float] = []
        self._steps, self._progress = 0, 0.0
        start_games(self.game.rules, self._games, np.arange(n), self._scores, self._largest_codes)

    @property
    def steps(self) -> int:
        """The number of moves since the start of the training."""
        return self._steps

    @property
    def exploration_rate(self) -> float:
        """The current probability of a random move, ε."""
        return exploration_rate_at(self.config, self._progress)

    def learn(self, progress: float) -> list[FinishedGame]:
        """Play and learn for one chunk of steps; see `Learner.learn`."""
        self._progress = progress
        set_learning_rate(self._optimizer, learning_rate_at(self.config, progress))
        finished: list[FinishedGame] = []
        n, train_freq = self.config.n_envs, self.config.train_freq
        for _ in range(ROUNDS_PER_CHUNK * max(1, train_freq // n)):
            finished += self._play()
            if self._steps > self.config.learning_starts and self._steps % max(n, train_freq) == 0:
                for _ in range(max(1, n // train_freq)):
                    self._train()
        return finished

    def _play(self) -> list[FinishedGame]:
        """Make a move in every game; games that are over are replaced first."""
        games, n = self._games, self.config.n_envs
        q_values = self.policy.q_values(self.game, games.cells, games.extra)
        over = np.flatnonzero(~np.isfinite(q_values.max(axis=1)))
        finished = []
        if len(over):
            scores = self._scores[over].tolist()
            start_games(self.game.rules, games, over, self._scores, self._largest_codes)
            codes = self._largest_codes[over].tolist()
            finished = [FinishedGame(*ended) for ended in zip(scores, codes, strict=True)]
            q_values[over] = self.policy.q_values(self.game, games.cells[over], games.extra[over])
        actions = q_values.argmax(axis=1)
        if self.exploration_rate:
            chances = np.where(np.isfinite(q_values), self._generator.random((n, 4)), -1)
            explores = self._generator.random(n) < self.exploration_rate
            actions = np.where(explores, chances.argmax(axis=1), actions)
        self._store(actions)
        before, self._steps = self._steps, self._steps + n
        interval = self.config.target_update_interval
        if before // interval != self._steps // interval:
            self.target.load_state_dict(self.network.state_dict())
        return finished

    def _store(self, actions: NDArray[np.int64]) -> None:
        """Make the moves and write the transitions to the buffer."""
        games, n = self._games, self.config.n_envs
        first = self._steps % len(self.buffer.afterstates)
        rows = slice(first, first + n)
        afterstates = self.buffer.afterstates[rows].reshape(n, -1)
        spawn_rewards = self.buffer.spawn_rewards[rows]
        step_games(self.game.rules, self._encoder, games, actions, self._scores, afterstates, spawn_rewards)
        self.buffer.next_states[rows, 0], self.buffer.next_states[rows, 1] = games.cells, games.extra

    def _train(self) -> None:
        """Make one gradient step."""
        config = self.config
        stored = min(self._steps, len(self.buffer.afterstates))
        indices = self._generator.integers(stored, size=config.batch_size)
        grids = self.buffer.afterstates[indices]
        if config.symmetry:
            chosen = self._generator.integers(self._symmetries.count, size=config.batch_size)
            grids = self._symmetries.transform_grids(grids, chosen)
        targets = send(self.targets(indices), self.network.device)
        values = self.network(send(grids, self.network.device))[:, 0]
        loss = F.mse_loss(values, targets) if config.loss == "mse" else F.smooth_l1_loss(values, targets)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRAD_NORM)
        self._optimizer.step()
        self._losses.append(float(loss.detach()))

    def targets(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the TD targets of afterstates in the buffer: spawn reward + γ max (reward + target value).

        Args:
            indices: int64[n].

        Returns:
            float32[n], divided by `reward_scale`.
        """
        cells, extra = (np.ascontiguousarray(self.buffer.next_states[indices, k]) for k in (0, 1))
        n, shape = len(indices), self.buffer.afterstates.shape[1:]
        afterstates, q_values = np.empty((n, 4, *shape), np.uint8), np.empty((n, 4), np.float32)
        compute_afterstates(self.game.rules, self._encoder, cells, extra, afterstates.reshape(n, 4, -1), q_values)
        legal = np.isfinite(q_values)
        q_values[legal] = q_values[legal] / self.config.reward_scale + self.target.predict(afterstates[legal])[:, 0]
        best = np.where(legal.any(axis=1), q_values.max(axis=1), 0)
        spawn_rewards = self.buffer.spawn_rewards[indices] / self.config.reward_scale
        return (spawn_rewards + self.config.gamma * best).astype(np.float32)

    def pop_losses(self) -> list[float]:
        """Return the losses of all gradient steps since the last call."""
        losses, self._losses = self._losses, []
        return losses

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays that are restored in place."""
        return {
            **{f"games.{name}": array for name, array in self._games._asdict().items()},
            "games.scores": self._scores,
            **{f"buffer.{name}": array for name, array in self.buffer._asdict().items()},
        }

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        return {
            **get_weights(self.network, "network."),
            **get_weights(self.target, "target."),
            **optimizer_tensors(self._optimizer, self.network),
            **self._arrays(),
        }

    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint."""
        return {"steps": self._steps, "generator": generator_state(self._generator)}

    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint; see `Learner.restore`."""
        set_weights(self.network, tensors, "network.")
        set_weights(self.target, tensors, "target.")
        restore_optimizer(self._optimizer, self.network, tensors)
        for name, array in self._arrays().items():
            restore_array(array, tensors, name)
        check_games(self.game, *self._games, self._scores)
        check_grids(self.buffer.afterstates, self.game)
        cells, extra = (np.ascontiguousarray(self.buffer.next_states[:, k]) for k in (0, 1))
        check_that_sound(self.game.are_sound(cells, extra).all(), "the replay buffer has impossible states")
        rewards = self.buffer.spawn_rewards
        sound = (np.isfinite(rewards) & (rewards >= 0)).all()
        check_that_sound(sound, "the replay buffer has impossible rewards")
        self._steps = read_counter(counters, "steps")
        check_that_sound(self._steps % self.config.n_envs == 0, "its counters contradict each other")
        restore_generator(self._generator, counters.get("generator"))
