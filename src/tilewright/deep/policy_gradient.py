"""Policy gradient with a baseline: REINFORCE (Williams 1992) on n-step returns, as in A2C (Mnih et al. 2016).

A policy network plays many games side by side and draws its moves from its own probabilities; with probability ε it
plays any legal move. After `n_step` moves in every game, the gradient of the logarithm of each move's probability is
weighted by its advantage: the return minus the baseline, which is the value of the state by a network of its own.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tilewright.deep.checkpoint import (
    Counters,
    Tensors,
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
from tilewright.deep.model import DeepModel
from tilewright.deep.network import BoardNetwork, make_network
from tilewright.deep.symmetry import Symmetries
from tilewright.deep.vecenv import BoardVecEnv, FinishedGame
from tilewright.envs.options import EnvOptions

__all__ = ["PolicyGradientLearner", "discounted_returns"]

UPDATES_PER_CHUNK = 4
MAX_GRAD_NORM = 0.5  # as in SB3's A2C


def discounted_returns(
    rewards: NDArray[np.float32], dones: NDArray[np.bool_], last_values: NDArray[np.float32], gamma: float
) -> NDArray[np.float32]:
    """Return the sums of the rewards to the end of the episode, or to the value of the last state.

    Args:
        rewards: float32[moves, games].
        dones: bool[moves, games], True where the move ended the episode.
        last_values: float32[games], the values of the states after the last moves.
        gamma: The discount factor.

    Returns:
        float32[moves, games].

    >>> rewards, dones = np.ones((3, 1), np.float32), np.array([[False], [True], [False]])
    >>> discounted_returns(rewards, dones, np.array([10], np.float32), 0.5)[:, 0].tolist()
    [1.5, 1.0, 6.0]
    """
    returns = np.empty_like(rewards)
    following = last_values
    for step in reversed(range(len(rewards))):
        following = rewards[step] + gamma * np.where(dones[step], 0, following)
        returns[step] = following
    return returns


class PolicyGradientLearner(Learner):
    """Policy gradient as a `Learner`.

    Attributes:
        env: The environments.
        baseline: The network of the values of states.
    """

    def __init__(self, config: DeepConfig) -> None:
        """Make environments and networks for a configuration."""
        device, shape = find_device(config.device), network_config(config)
        super().__init__(config, make_network(shape, config.seed, device))
        self.baseline = make_network(replace(shape, algorithm="afterstate"), config.seed + 1, device)
        options = EnvOptions(config.game, "grid", config.reward, max_invalid_moves=0)
        self.env = BoardVecEnv(options, config.n_envs, reward_scale=config.reward_scale, seed=config.seed)
        self._grids = self.env.reset()
        self._generator = np.random.default_rng(config.seed)
        self._symmetries = Symmetries(self.env.games.game)
        self._optimizers = [make_optimizer(each, config.learning_rate) for each in (self.network, self.baseline)]
        self._losses: list[float] = []
        self._steps, self._progress = 0, 0.0

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
        for optimizer in self._optimizers:
            set_learning_rate(optimizer, learning_rate_at(self.config, progress))
        for _ in range(UPDATES_PER_CHUNK):
            self._train(*self._play())
        finished, self.env.finished = self.env.finished, []
        return finished

    def _play(self) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.int64], NDArray[np.float32]]:
        """Make `n_step` moves in every game: the grids, masks and actions, and the returns of the actions."""
        config, env = self.config, self.env
        grids, masks, actions, rewards, dones = [], [], [], [], []
        for _ in range(config.n_step):
            grids.append(self._grids.copy())
            masks.append(env.action_masks.copy())
            actions.append(self._draw(grids[-1], masks[-1]))
            env.step_async(actions[-1])
            self._grids, reward, done, _ = env.step_wait()
            rewards.append(reward)
            dones.append(done)
        self._steps += config.n_step * config.n_envs
        values = self.baseline.predict(self._grids)[:, 0]
        returns = discounted_returns(np.stack(rewards), np.stack(dones), values, config.gamma)
        return np.concatenate(grids), np.concatenate(masks), np.concatenate(actions), returns.reshape(-1)

    def _draw(self, grids: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draw a move for every game from the behaviour policy."""
        with torch.inference_mode():
            chances = self.behaviour(self._send(grids), self._send(masks)).cpu().numpy().cumsum(axis=1)
        drawn = self._generator.random((len(grids), 1)) * chances[:, -1:]
        return np.minimum((chances <= drawn).sum(axis=1), 3)

    def behaviour(self, grids: Tensor, masks: Tensor) -> Tensor:
        """Return the probabilities of the moves: (1 - ε) π + ε / number of legal moves.

        Args:
            grids: uint8[n, rows, columns].
            masks: bool[n, 4], True where a move is legal.

        Returns:
            float32[n, 4], 0 where a move is illegal.
        """
        policy = F.softmax(self.network(grids).masked_fill(~masks, -torch.inf), dim=1)
        uniform = masks.float() / masks.sum(dim=1, keepdim=True)
        return (1 - self.exploration_rate) * policy + self.exploration_rate * uniform

    def _train(
        self,
        grids: NDArray[np.uint8],
        masks: NDArray[np.bool_],
        actions: NDArray[np.int64],
        returns: NDArray[np.float32],
    ) -> None:
        """Make one gradient step of the policy and one of the baseline."""
        if self.config.symmetry:
            chosen = self._generator.integers(self._symmetries.count, size=len(grids))
            grids = self._symmetries.transform_grids(grids, chosen)
            targets = self._symmetries.transform_actions(np.tile(np.arange(4), (len(grids), 1)), chosen[:, None])
            actions = self._symmetries.transform_actions(actions, chosen)
            moved = np.empty_like(masks)
            np.put_along_axis(moved, targets, masks, axis=1)
            masks = moved
        inputs, wanted = self._send(grids), self._send(returns)
        values = self.baseline(inputs)[:, 0]
        advantages = wanted - values.detach()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        chances = self.behaviour(inputs, self._send(masks))
        logs = chances.clamp(min=1e-8).log()
        entropy = -(chances * logs).sum(dim=1).mean()
        gain = (logs.gather(1, self._send(actions)[:, None])[:, 0] * advantages).mean()
        loss = -gain - self.config.ent_coef * entropy
        value_loss = F.mse_loss(values, wanted) if self.config.loss == "mse" else F.smooth_l1_loss(values, wanted)
        for optimizer, network, part in zip(
            self._optimizers, (self.network, self.baseline), (loss, value_loss), strict=True
        ):
            optimizer.zero_grad()
            part.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), MAX_GRAD_NORM)
            optimizer.step()
        self._losses.append(float(value_loss.detach()))

    def _send(self, array: NDArray[np.generic]) -> Tensor:
        return send(array, self.network.device)

    def pop_losses(self) -> list[float]:
        """Return the losses of the baseline in all gradient steps since the last call."""
        losses, self._losses = self._losses, []
        return losses

    def model(self, origin: dict[str, str]) -> DeepModel:
        """Return the policy as a model; its logits have no scale."""
        return DeepModel(self.network, 1.0, origin)

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        found = {**get_weights(self.network, "network."), **get_weights(self.baseline, "baseline.")}
        for name, network, optimizer in self._trained():
            found |= {f"{name}.{key}": array for key, array in optimizer_tensors(optimizer, network).items()}
        return {**found, **self.env.arrays()}

    def _trained(self) -> list[tuple[str, BoardNetwork, torch.optim.Adam]]:
        networks = ("policy", self.network), ("values", self.baseline)
        return [(name, network, self._optimizers[i]) for i, (name, network) in enumerate(networks)]

    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint."""
        return {"steps": self._steps, "generator": generator_state(self._generator)}

    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint; see `Learner.restore`."""
        set_weights(self.network, tensors, "network.")
        set_weights(self.baseline, tensors, "baseline.")
        for name, network, optimizer in self._trained():
            prefix = f"{name}."
            own = {key[len(prefix) :]: array for key, array in tensors.items() if key.startswith(prefix)}
            restore_optimizer(optimizer, network, own)
        for name, array in self.env.arrays().items():
            restore_array(array, tensors, name)
        self.env.check_restored()
        self._grids = self.env.current_grids()
        self._steps = read_counter(counters, "steps")
        check_that_sound(self._steps % self.config.n_envs == 0, "its counters contradict each other")
        restore_generator(self._generator, counters.get("generator"))
