"""DQN: the training loop of Stable-Baselines3, extended.

Training loop, storage of transitions, target network and the schedule of its updates are those of SB3. Added are double
Q-learning (van Hasselt et al. 2016), dueling networks (Wang et al. 2016), prioritized replay (Schaul et al. 2016),
n-step returns, masks of illegal moves, symmetries, and one seeded random generator in place of the global ones.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.dqn.policies import DQNPolicy
from torch import Tensor

from tilewright.deep.checkpoint import Counters, Tensors, check_grids, check_that_sound, read_counter
from tilewright.deep.config import DeepConfig
from tilewright.deep.devices import receive
from tilewright.deep.learner import Learner, exploration_rate_at
from tilewright.deep.network import BoardNetwork
from tilewright.deep.replay import PrioritizedReplayBuffer
from tilewright.deep.vecenv import BoardVecEnv, FinishedGame
from tilewright.envs.observations import legal_masks, make_grid_encoder
from tilewright.envs.options import EnvOptions

__all__ = ["BoardDQN", "DqnLearner"]

ROUNDS_PER_CHUNK = 4  # a round is train_freq steps, or a step in every game if that is more


class BoardPolicy(DQNPolicy):
    """SB3's pair of online and target network and their optimizer, which are those of a `DqnLearner`."""

    def __init__(self, *spaces: Any, learner: "DqnLearner", **options: Any) -> None:
        """Take over the networks of a learner; the other arguments are those of SB3's `DQNPolicy`."""
        self._learner = learner
        super().__init__(*spaces, **options)

    def _build(self, lr_schedule: Schedule) -> None:
        self.q_net = self._learner.network  # type: ignore[assignment]
        self.q_net_target = self._learner.target  # type: ignore[assignment]
        self.q_net_target.set_training_mode(False)
        self.optimizer = self._learner.optimizer


class BoardDQN(DQN):
    """SB3's DQN with the extensions of this module.

    Attributes:
        learner: What owns the networks, the optimizer, the environments and the source of random numbers.
        config: The configuration.
    """

    q_net: BoardNetwork  # type: ignore[assignment]
    q_net_target: BoardNetwork  # type: ignore[assignment]
    replay_buffer: PrioritizedReplayBuffer

    def __init__(self, learner: "DqnLearner") -> None:
        """Make the replay buffer of a learner that has all the rest."""
        self.learner, self.config = learner, learner.config
        self._grid_encoder = make_grid_encoder(learner.game)
        config, device = learner.config, learner.network.device
        # SB3 counts train_freq in steps of all environments together.
        rounds = max(1, config.train_freq // config.n_envs)
        super().__init__(
            BoardPolicy,
            learner.env,
            learning_rate=config.learning_rate,
            buffer_size=config.buffer_size,
            learning_starts=config.learning_starts,
            batch_size=config.batch_size,
            gamma=config.gamma,
            train_freq=rounds,
            gradient_steps=rounds * config.n_envs // config.train_freq,
            target_update_interval=max(config.target_update_interval, config.n_envs),
            exploration_initial_eps=config.exploration_initial_eps,
            exploration_final_eps=config.exploration_final_eps,
            exploration_fraction=config.exploration_fraction,
            replay_buffer_class=PrioritizedReplayBuffer,
            replay_buffer_kwargs={
                "alpha": config.prioritized_replay_alpha if config.prioritized_replay else 0.0,
                "n_step": config.n_step,
                "gamma": config.gamma,
                "over_buffer": config.importance_weights == "buffer",
            },
            policy_kwargs={"learner": learner},
            device=device,
        )
        self.exploration_schedule = lambda remaining: exploration_rate_at(config, 1 - remaining)
        self.set_logger(Logger(None, []))

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        """Do nothing: `learn` is called for one chunk, and its caller sets the progress of the whole training."""

    def _sample_action(
        self, learning_starts: int, action_noise: ActionNoise | None = None, n_envs: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Choose ε-greedy actions, independently in every environment."""
        grids = cast("NDArray[np.uint8]", self._last_obs)
        allowed = self.learner.env.action_masks if self.config.mask else np.ones((n_envs, 4), np.bool_)
        chances = self.learner.generator.random((n_envs, 4))
        actions: NDArray[np.int64] = np.where(allowed, chances, -1).argmax(axis=1)
        if self.num_timesteps >= learning_starts:
            greedy = np.where(allowed, self.q_net.predict(grids), -np.inf).argmax(axis=1)
            actions = np.where(self.learner.generator.random(n_envs) < self.exploration_rate, actions, greedy)
        return actions, actions

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Make gradient steps on batches of the replay buffer and update its priorities.

        Args:
            gradient_steps: The number of gradient steps.
            batch_size: The number of transitions in a batch.
        """
        self.policy.set_training_mode(True)
        learner, symmetries = self.learner, self.learner.symmetries
        beta = 1 - (1 - self.config.prioritized_replay_beta) * self._current_progress_remaining
        for _ in range(gradient_steps):
            batch = self.replay_buffer.sample(batch_size, learner.generator, beta)
            grids, next_grids, actions = batch.grids, batch.next_grids, batch.actions
            if self.config.symmetry:
                chosen = learner.generator.integers(symmetries.count, size=batch_size)
                grids = symmetries.transform_grids(grids, chosen)
                next_grids = symmetries.transform_grids(next_grids, chosen)
                actions = symmetries.transform_actions(actions, chosen)
            returns, discounts = learner.send(batch.returns), learner.send(batch.discounts)
            targets = returns + discounts * self.next_values(next_grids)
            q_values = self.q_net(learner.send(grids)).gather(1, learner.send(actions)[:, None])[:, 0]
            errors = learner.error(q_values, targets, reduction="none")
            learner.make_gradient_step((learner.send(batch.weights) * errors).mean())
            self.replay_buffer.update_priorities(batch.indices, receive(q_values - targets))
        self._n_updates += gradient_steps

    def next_values(self, grids: NDArray[np.uint8]) -> Tensor:
        """Return the values of the best next actions by the target network.

        With `double_q`, the online network chooses the actions.

        Args:
            grids: uint8[n, rows, columns].

        Returns:
            float32[n], without gradients.
        """
        with torch.no_grad():
            inputs = self.learner.send(grids)
            target_values: Tensor = self.q_net_target(inputs)
            choosing_values: Tensor = self.q_net(inputs) if self.config.double_q else target_values
            if self.config.mask:
                illegal = ~self.learner.send(self.legal(grids))
                choosing_values = choosing_values.masked_fill(illegal, -torch.inf)
            return target_values.gather(1, choosing_values.argmax(dim=1, keepdim=True))[:, 0]

    def legal(self, grids: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return the legal moves as bool[n, 4]."""
        masks = np.empty((len(grids), 4), np.bool_)
        legal_masks(self._grid_encoder, self.learner.game.rules, grids.reshape(len(grids), -1), masks)
        return masks


class DqnLearner(Learner):
    """DQN as a `Learner`.

    Attributes:
        target: The target network.
        env: The environments.
        dqn: The algorithm of Stable-Baselines3.
    """

    def __init__(self, config: DeepConfig) -> None:
        """Make environments, networks and replay buffer for a configuration."""
        super().__init__(config)
        self.target = self._make_network()
        options = EnvOptions(
            config.game,
            "grid",
            config.reward,
            config.penalty,
            config.end_probability,
            config.end_fraction,
            config.end_after,
            max_invalid_moves=0,  # exploration ends such rows, and none of the papers has a limit
        )
        self.env = BoardVecEnv(options, config.n_envs, reward_scale=config.reward_scale, seed=config.seed)
        self.dqn = BoardDQN(self)

    def _learn_chunk(self) -> list[FinishedGame]:
        self.dqn._current_progress_remaining = 1 - self._progress
        self.dqn.exploration_rate = self.exploration_rate
        steps = ROUNDS_PER_CHUNK * max(self.config.n_envs, self.config.train_freq)
        self.dqn.learn(steps, reset_num_timesteps=False, log_interval=None)  # type: ignore[arg-type]
        self._steps = self.dqn.num_timesteps
        return self.env.pop_finished()

    def _networks(self) -> dict[str, BoardNetwork]:
        return {**super()._networks(), "target": self.target}

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return self.env.arrays()

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        return {**super().tensors(), **self.dqn.replay_buffer.tensors()}

    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint."""
        return {**super().counters(), "rounds": self.dqn._n_calls, "updates": self.dqn._n_updates}

    def _restore_rest(self, tensors: Tensors, counters: Counters) -> None:
        dqn = self.dqn
        dqn.replay_buffer.restore(tensors)
        dqn.num_timesteps = self._steps
        dqn._n_calls = read_counter(counters, "rounds")
        dqn._n_updates = read_counter(counters, "updates")
        self._check_restored()
        dqn._last_obs = self.env.current_grids()
        dqn._last_episode_starts = np.zeros(self.config.n_envs, np.bool_)

    def _check_restored(self) -> None:
        """Raise FileError unless games, replay buffer and counters of a checkpoint can belong together."""
        game, buffer = self.game, self.dqn.replay_buffer
        self.env.check_restored()
        check_grids(buffer.observations, game)
        check_grids(buffer.next_observations, game)
        rounds = self.dqn._n_calls
        position = (rounds % buffer.buffer_size, rounds >= buffer.buffer_size)
        agree = self._steps == rounds * self.config.n_envs and (buffer.pos, buffer.full) == position
        check_that_sound(agree, "its counters and its replay buffer contradict each other")
