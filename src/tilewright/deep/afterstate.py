"""TD(0) learning of afterstate values with a deep network, a replay buffer and a target network.

The value of an action is its reward plus the value of its afterstate. The network therefore need not learn what the
rules say: which moves are legal, their rewards, and where tiles go. The target of an afterstate is the reward of the
new tile plus γ times the largest action value of the following state, by the target network.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import kernel
from tilewright.deep.checkpoint import Counters, Tensors, check_games, check_grids, check_that_sound
from tilewright.deep.config import DeepConfig
from tilewright.deep.learner import ReplayLearner
from tilewright.deep.network import BoardNetwork
from tilewright.deep.policy import GameBatch, NetworkPolicy, compute_afterstates, make_game_batch
from tilewright.deep.vecenv import FinishedGame
from tilewright.envs.observations import Encoder, encode, make_grid_encoder, observation_shape
from tilewright.games.rules import Rules, State, largest, slide, spawn, start
from tilewright.rng import stream_for

__all__ = ["AfterstateBuffer", "AfterstateLearner"]


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


class AfterstateLearner(ReplayLearner):
    """TD(0) of afterstate values as a `Learner`.

    Attributes:
        target: The target network.
        policy: The policy that chooses greedy moves.
        buffer: The replay buffer.
    """

    def __init__(self, config: DeepConfig) -> None:
        """Make games, networks and replay buffer for a configuration."""
        super().__init__(config)
        n = config.n_envs
        self.target = self._make_network()
        self.policy = NetworkPolicy(self.network, config.reward_scale)
        self._games = make_game_batch(n)
        for i in range(n):
            self._games.streams[i] = stream_for(config.seed, i)
        self._scores, self._largest_codes = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._encoder = make_grid_encoder(self.game)
        self.buffer = AfterstateBuffer(
            np.zeros((self.capacity, *observation_shape(self._encoder)), np.uint8),
            np.zeros((self.capacity, 2), np.uint64),
            np.zeros(self.capacity, np.float32),
        )
        start_games(self.game.rules, self._games, np.arange(n), self._scores, self._largest_codes)

    def _advance(self) -> list[FinishedGame]:
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
            chances = np.where(np.isfinite(q_values), self.generator.random((n, 4)), -1)
            explores = self.generator.random(n) < self.exploration_rate
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
        first = self._steps % self.capacity
        rows = slice(first, first + n)
        afterstates = self.buffer.afterstates[rows].reshape(n, -1)
        spawn_rewards = self.buffer.spawn_rewards[rows]
        step_games(self.game.rules, self._encoder, games, actions, self._scores, afterstates, spawn_rewards)
        self.buffer.next_states[rows, 0], self.buffer.next_states[rows, 1] = games.cells, games.extra

    def _train(self, rows: NDArray[np.int64], symmetries: NDArray[np.int64]) -> None:
        """Make one gradient step."""
        grids = self.symmetries.transform_grids(self.buffer.afterstates[rows], symmetries)
        targets = self.send(self.targets(rows))
        values = self.network(self.send(grids))[:, 0]
        self.make_gradient_step(self.error(values, targets))

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

    def _networks(self) -> dict[str, BoardNetwork]:
        return {**super()._networks(), "target": self.target}

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return {
            **{f"games.{name}": array for name, array in self._games._asdict().items()},
            "games.scores": self._scores,
            **{f"buffer.{name}": array for name, array in self.buffer._asdict().items()},
        }

    def _restore_rest(self, tensors: Tensors, counters: Counters) -> None:
        check_games(self.game, *self._games, self._scores)
        check_grids(self.buffer.afterstates, self.game)
        cells, extra = (np.ascontiguousarray(self.buffer.next_states[:, k]) for k in (0, 1))
        check_that_sound(self.game.are_sound(cells, extra).all(), "the replay buffer has impossible states")
        rewards = self.buffer.spawn_rewards
        sound = (np.isfinite(rewards) & (rewards >= 0)).all()
        check_that_sound(sound, "the replay buffer has impossible rewards")
