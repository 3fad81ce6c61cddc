"""DQN: the training loop of Stable-Baselines3, extended.

Training loop, storage of transitions, target network and the schedule of its updates are those of SB3. Added are double
Q-learning (van Hasselt et al. 2016), dueling networks (Wang et al. 2016), prioritized replay (Schaul et al. 2016),
n-step returns, masks of illegal moves, symmetries, and one seeded random generator in place of the global ones.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.dqn.policies import DQNPolicy
from torch import Tensor

from tilewright.deep.checkpoint import (
    Counters,
    Tensors,
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
from tilewright.deep.devices import find_device, receive, send
from tilewright.deep.learner import (
    Learner,
    exploration_rate_at,
    learning_rate_at,
    make_optimizer,
    network_config,
    set_learning_rate,
)
from tilewright.deep.network import BoardNetwork, NetworkConfig, make_network
from tilewright.deep.replay import PrioritizedReplayBuffer
from tilewright.deep.symmetry import Symmetries
from tilewright.deep.vecenv import BoardVecEnv, FinishedGame
from tilewright.envs.observations import legal_masks, make_grid_encoder
from tilewright.envs.options import EnvOptions

__all__ = ["BoardDQN", "DqnLearner"]

ROUNDS_PER_CHUNK = 4  # a round is train_freq steps, or a step in every game if that is more


class BoardPolicy(DQNPolicy):
    """SB3's pair of online and target network and their optimizer, with networks of this package."""

    def __init__(
        self, *spaces: Any, network_config: NetworkConfig, seed: int, place: torch.device, **options: Any
    ) -> None:
        """Make the networks on the device `place`; the other arguments are those of SB3's `DQNPolicy`."""
        self._network_config, self._seed, self._place = network_config, seed, place
        super().__init__(*spaces, **options)

    def _build(self, lr_schedule: Schedule) -> None:
        network = make_network(self._network_config, self._seed, self._place)
        self.q_net = network  # type: ignore[assignment]
        self.q_net_target = make_network(self._network_config, self._seed, self._place)  # type: ignore[assignment]
        self.q_net_target.set_training_mode(False)
        self.optimizer = make_optimizer(network, lr_schedule(1))


class BoardDQN(DQN):
    """SB3's DQN with the extensions of this module.

    Attributes:
        config: The configuration.
        board_env: The environments.
        generator: The source of random numbers.
        symmetries: The symmetries of the board.
        losses: The losses of all gradient steps; the caller empties the list.
    """

    q_net: BoardNetwork  # type: ignore[assignment]
    q_net_target: BoardNetwork  # type: ignore[assignment]
    replay_buffer: PrioritizedReplayBuffer

    def __init__(self, config: DeepConfig, env: BoardVecEnv) -> None:
        """Make networks and replay buffer for a configuration."""
        self.config, self.board_env = config, env
        self.generator = np.random.default_rng(config.seed)
        self.symmetries = Symmetries(env.games.game)
        self.losses: list[float] = []
        self._grid_encoder = make_grid_encoder(env.games.game)
        self._place = find_device(config.device)
        # SB3 counts train_freq in steps of all environments together.
        rounds = max(1, config.train_freq // config.n_envs)
        super().__init__(
            BoardPolicy,
            env,
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
            policy_kwargs={"network_config": network_config(config), "seed": config.seed, "place": self._place},
            device=self._place,
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
        allowed = self.board_env.action_masks if self.config.mask else np.ones((n_envs, 4), np.bool_)
        chances = self.generator.random((n_envs, 4))
        actions: NDArray[np.int64] = np.where(allowed, chances, -1).argmax(axis=1)
        if self.num_timesteps >= learning_starts:
            greedy = np.where(allowed, self.q_net.predict(grids), -np.inf).argmax(axis=1)
            actions = np.where(self.generator.random(n_envs) < self.exploration_rate, actions, greedy)
        return actions, actions

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Make gradient steps on batches of the replay buffer and update its priorities.

        Args:
            gradient_steps: The number of gradient steps.
            batch_size: The number of transitions in a batch.
        """
        self.policy.set_training_mode(True)
        beta = 1 - (1 - self.config.prioritized_replay_beta) * self._current_progress_remaining
        for _ in range(gradient_steps):
            batch = self.replay_buffer.sample(batch_size, self.generator, beta)
            grids, next_grids, actions = batch.grids, batch.next_grids, batch.actions
            if self.config.symmetry:
                chosen = self.generator.integers(self.symmetries.count, size=batch_size)
                grids = self.symmetries.transform_grids(grids, chosen)
                next_grids = self.symmetries.transform_grids(next_grids, chosen)
                actions = self.symmetries.transform_actions(actions, chosen)
            returns, discounts = self._send(batch.returns), self._send(batch.discounts)
            targets = returns + discounts * self.next_values(next_grids)
            q_values = self.q_net(self._send(grids)).gather(1, self._send(actions)[:, None])[:, 0]
            loss_of = F.mse_loss if self.config.loss == "mse" else F.smooth_l1_loss
            loss = (self._send(batch.weights) * loss_of(q_values, targets, reduction="none")).mean()
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.q_net.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
            self.replay_buffer.update_priorities(batch.indices, receive(q_values - targets))
            self.losses.append(float(loss.detach()))
        self._n_updates += gradient_steps

    def _send(self, array: NDArray[Any]) -> Tensor:
        return send(array, self._place)

    def next_values(self, grids: NDArray[np.uint8]) -> Tensor:
        """Return the values of the best next actions by the target network.

        With `double_q`, the online network chooses the actions.

        Args:
            grids: uint8[n, rows, columns].

        Returns:
            float32[n], without gradients.
        """
        with torch.no_grad():
            inputs = self._send(grids)
            target_values: Tensor = self.q_net_target(inputs)
            choosing_values: Tensor = self.q_net(inputs) if self.config.double_q else target_values
            if self.config.mask:
                illegal = ~self._send(self.legal(grids))
                choosing_values = choosing_values.masked_fill(illegal, -torch.inf)
            return target_values.gather(1, choosing_values.argmax(dim=1, keepdim=True))[:, 0]

    def legal(self, grids: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return the legal moves as bool[n, 4]."""
        masks = np.empty((len(grids), 4), np.bool_)
        legal_masks(self._grid_encoder, self.board_env.games.game.rules, grids.reshape(len(grids), -1), masks)
        return masks


class DqnLearner(Learner):
    """DQN as a `Learner`.

    Attributes:
        env: The environments.
        dqn: The algorithm of Stable-Baselines3.
    """

    def __init__(self, config: DeepConfig) -> None:
        """Make environments, networks and replay buffer for a configuration."""
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
        self.dqn = BoardDQN(config, self.env)
        super().__init__(config, self.dqn.q_net)

    @property
    def steps(self) -> int:
        """The number of moves since the start of the training."""
        return self.dqn.num_timesteps

    @property
    def exploration_rate(self) -> float:
        """The current probability of a random move, ε."""
        return exploration_rate_at(self.config, 1 - self.dqn._current_progress_remaining)

    def learn(self, progress: float) -> list[FinishedGame]:
        """Play and learn for one chunk of steps; see `Learner.learn`."""
        self.dqn._current_progress_remaining = 1 - progress
        self.dqn.exploration_rate = self.exploration_rate
        set_learning_rate(self.dqn.policy.optimizer, learning_rate_at(self.config, progress))
        steps = ROUNDS_PER_CHUNK * max(self.config.n_envs, self.config.train_freq)
        self.dqn.learn(steps, reset_num_timesteps=False, log_interval=None)  # type: ignore[arg-type]
        finished, self.env.finished = self.env.finished, []
        return finished

    def pop_losses(self) -> list[float]:
        """Return the losses of all gradient steps since the last call."""
        losses, self.dqn.losses = self.dqn.losses, []
        return losses

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        return {
            **get_weights(self.network, "network."),
            **get_weights(self.dqn.q_net_target, "target."),
            **optimizer_tensors(self.dqn.policy.optimizer, self.network),
            **self.dqn.replay_buffer.tensors(),
            **self.env.arrays(),
        }

    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint."""
        dqn = self.dqn
        return {
            "steps": dqn.num_timesteps,
            "rounds": dqn._n_calls,
            "updates": dqn._n_updates,
            "generator": generator_state(dqn.generator),
        }

    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint; see `Learner.restore`."""
        dqn = self.dqn
        set_weights(self.network, tensors, "network.")
        set_weights(dqn.q_net_target, tensors, "target.")
        restore_optimizer(dqn.policy.optimizer, self.network, tensors)
        dqn.replay_buffer.restore(tensors)
        for name, array in self.env.arrays().items():
            restore_array(array, tensors, name)
        dqn.num_timesteps = read_counter(counters, "steps")
        dqn._n_calls = read_counter(counters, "rounds")
        dqn._n_updates = read_counter(counters, "updates")
        self._check_restored()
        restore_generator(dqn.generator, counters.get("generator"))
        dqn._last_obs = self.env.current_grids()
        dqn._last_episode_starts = np.zeros(self.config.n_envs, np.bool_)

    def _check_restored(self) -> None:
        """Raise FileError unless games, replay buffer and counters of a checkpoint can belong together."""
        game, buffer = self.env.games.game, self.dqn.replay_buffer
        self.env.check_restored()
        check_grids(buffer.observations, game)
        check_grids(buffer.next_observations, game)
        rounds = self.dqn._n_calls
        position = (rounds % buffer.buffer_size, rounds >= buffer.buffer_size)
        agree = self.dqn.num_timesteps == rounds * self.config.n_envs and (buffer.pos, buffer.full) == position
        check_that_sound(agree, "its counters and its replay buffer contradict each other")
