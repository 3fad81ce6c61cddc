"""Policy gradient with a baseline: REINFORCE (Williams 1992) on n-step returns, as in A2C (Mnih et al. 2016).

A policy network plays many games side by side and draws its moves from its own probabilities; with probability ε it
plays any legal move. After `n_step` moves in every game, the gradient of the logarithm of each move's probability is
weighted by its advantage: the return minus the baseline, which is the value of the state by a network of its own.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tilewright.deep.checkpoint import Counters, Tensors
from tilewright.deep.config import DeepConfig
from tilewright.deep.learner import Learner, TrainedNetwork, make_optimizer, network_config
from tilewright.deep.network import BoardNetwork, make_network
from tilewright.deep.vecenv import BoardVecEnv, FinishedGame
from tilewright.envs.options import EnvOptions

__all__ = ["PolicyGradientLearner", "discounted_returns"]

UPDATES_PER_CHUNK = 4


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

    max_grad_norm: ClassVar[float] = 0.5  # as in SB3's A2C

    def __init__(self, config: DeepConfig) -> None:
        """Make environments and networks for a configuration."""
        super().__init__(config)
        shape = replace(network_config(config), algorithm="afterstate")
        self.baseline = make_network(shape, config.seed + 1, self.network.device)
        self._baseline_optimizer = make_optimizer(self.baseline, config.learning_rate)
        options = EnvOptions(config.game, "grid", config.reward, max_invalid_moves=0)
        self.env = BoardVecEnv(options, config.n_envs, reward_scale=config.reward_scale, seed=config.seed)
        self._grids = self.env.reset()

    def _learn_chunk(self) -> list[FinishedGame]:
        for _ in range(UPDATES_PER_CHUNK):
            self._train(*self._play())
        return self.env.pop_finished()

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
            chances = self.behaviour(self.send(grids), self.send(masks)).cpu().numpy().cumsum(axis=1)
        drawn = self.generator.random((len(grids), 1)) * chances[:, -1:]
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
            chosen = self.generator.integers(self.symmetries.count, size=len(grids))
            grids = self.symmetries.transform_grids(grids, chosen)
            targets = self.symmetries.transform_actions(np.tile(np.arange(4), (len(grids), 1)), chosen[:, None])
            actions = self.symmetries.transform_actions(actions, chosen)
            moved = np.empty_like(masks)
            np.put_along_axis(moved, targets, masks, axis=1)
            masks = moved
        inputs, wanted = self.send(grids), self.send(returns)
        values = self.baseline(inputs)[:, 0]
        advantages = wanted - values.detach()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        chances = self.behaviour(inputs, self.send(masks))
        logs = chances.clamp(min=1e-8).log()
        entropy = -(chances * logs).sum(dim=1).mean()
        gain = (logs.gather(1, self.send(actions)[:, None])[:, 0] * advantages).mean()
        loss = -gain - self.config.ent_coef * entropy
        value_loss = self.error(values, wanted)
        self._descend(loss, self.network, self.optimizer)
        self._descend(value_loss, self.baseline, self._baseline_optimizer)
        self._losses.append(float(value_loss.detach()))

    def _networks(self) -> dict[str, BoardNetwork]:
        return {**super()._networks(), "baseline": self.baseline}

    def _trained(self) -> list[TrainedNetwork]:
        return [
            TrainedNetwork(self.network, self.optimizer, "policy."),
            TrainedNetwork(self.baseline, self._baseline_optimizer, "values."),
        ]

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return self.env.arrays()

    def _restore_rest(self, tensors: Tensors, counters: Counters) -> None:
        self.env.check_restored()
        self._grids = self.env.current_grids()
