"""DQN: Stable-Baselines3's loop, with what it lacks.

Its loop of playing and learning, its replay memory, target network and schedule are used as they are. Added are double
Q-learning (van Hasselt et al. 2016), dueling heads (Wang et al. 2016, in the network), priorities (in the replay),
masks of legal moves, symmetric images, and chance from one seeded generator: no global one is touched.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.logger import Logger
from stable_baselines3.dqn.policies import DQNPolicy
from torch import Tensor

from tilewright.deep.config import DeepConfig
from tilewright.deep.learner import Learner, adam, adam_state, epsilon_at, plan_of, restore_adam, set_learning_rate
from tilewright.deep.model import load_weights, weights_of
from tilewright.deep.network import BoardNetwork, NetworkPlan, make_network
from tilewright.deep.replay import BoardReplay
from tilewright.deep.symmetry import Symmetries
from tilewright.deep.vecenv import BoardVecEnv, Finished
from tilewright.envs.batch import Status
from tilewright.envs.observations import legal_on_grids, make_view
from tilewright.envs.options import EnvOptions
from tilewright.errors import FileError

__all__ = ["BoardDQN", "DqnLearner"]

PIECE = 4  # rounds of playing and learning in one piece of work


class BoardPolicy(DQNPolicy):
    """SB3's pair of networks and optimiser, with a network of ours."""

    def __init__(self, *spaces: Any, plan: NetworkPlan, seed: int, **options: Any) -> None:
        self._plan, self._seed = plan, seed
        super().__init__(*spaces, **options)

    def _build(self, lr_schedule: Any) -> None:
        network = make_network(self._plan, self._seed)
        self.q_net = network  # type: ignore[assignment]
        self.q_net_target = make_network(self._plan, self._seed)  # type: ignore[assignment]
        self.q_net_target.set_training_mode(False)
        self.optimizer = adam(network, lr_schedule(1))


class BoardDQN(DQN):
    """DQN on boards, by a recipe."""

    q_net: BoardNetwork  # type: ignore[assignment]
    q_net_target: BoardNetwork  # type: ignore[assignment]
    replay_buffer: BoardReplay

    def __init__(self, config: DeepConfig, env: BoardVecEnv) -> None:
        self.config, self.boards = config, env
        self.generator = np.random.default_rng(config.seed)
        self.symmetries = Symmetries(env.boards.game)
        self.losses: list[float] = []
        self._grid = make_view(env.boards.game, "grid")
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
            replay_buffer_class=BoardReplay,
            replay_buffer_kwargs={
                "alpha": config.priority_alpha if config.prioritised else 0.0,
                "n_steps": config.n_step,
                "gamma": config.gamma,
            },
            policy_kwargs={"plan": plan_of(config), "seed": config.seed},
            device="cpu",
        )
        self.exploration_schedule = lambda left: epsilon_at(config, 1 - left)
        self.set_logger(Logger(None, []))

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        """Whoever calls `learn` for a piece of the work says how much of all of it is left."""

    def _sample_action(self, learning_starts: int, action_noise: Any = None, n_envs: int = 1) -> Any:
        """ε-greedy, with a coin for every environment."""
        grids: Any = self._last_obs
        allowed = self.boards.masks if self.config.mask else np.ones((n_envs, 4), np.bool_)
        chances = self.generator.random((n_envs, 4))
        actions: NDArray[np.int64] = np.where(allowed, chances, -1).argmax(axis=1)  # any of those allowed, alike
        if self.num_timesteps >= learning_starts:
            greedy = np.where(allowed, self.q_net.predict(grids), -np.inf).argmax(axis=1)
            actions = np.where(self.generator.random(n_envs) < self.exploration_rate, actions, greedy)
        return actions, actions

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        self.policy.set_training_mode(True)
        beta = 1 - (1 - self.config.priority_beta) * self._current_progress_remaining
        for _ in range(gradient_steps):
            sample = self.replay_buffer.draw(batch_size, self.generator, beta)
            grids, next_grids, actions = sample.grids, sample.next_grids, sample.actions
            if self.config.symmetry:
                which = self.generator.integers(self.symmetries.count, size=batch_size)
                grids, next_grids = (self.symmetries.of_grids(some, which) for some in (grids, next_grids))
                actions = self.symmetries.of_actions(actions, which)
            rewards, discounts = torch.from_numpy(sample.rewards), torch.from_numpy(sample.discounts)
            targets = rewards + discounts * self.next_values(next_grids)
            values = self.q_net(torch.from_numpy(grids)).gather(1, torch.from_numpy(actions)[:, None])[:, 0]
            errors = F.mse_loss if self.config.loss == "mse" else F.smooth_l1_loss
            loss = (torch.from_numpy(sample.weights) * errors(values, targets, reduction="none")).mean()
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.q_net.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
            self.replay_buffer.learned(sample.places, (values - targets).detach().numpy())
            self.losses.append(float(loss.detach()))
        self._n_updates += gradient_steps

    def next_values(self, grids: NDArray[np.uint8]) -> Tensor:
        """What the target network thinks of the best next move; with `double` the other network chooses it."""
        with torch.no_grad():
            seen = torch.from_numpy(grids)
            values: Tensor = self.q_net_target(seen)
            chosen_by: Tensor = self.q_net(seen) if self.config.double else values
            if self.config.mask:
                chosen_by = chosen_by.masked_fill(~torch.from_numpy(self.legal(grids)), -torch.inf)
            return values.gather(1, chosen_by.argmax(dim=1, keepdim=True))[:, 0]

    def legal(self, grids: NDArray[np.uint8]) -> NDArray[np.bool_]:
        masks = np.empty((len(grids), 4), np.bool_)
        legal_on_grids(self._grid, self.boards.boards.game.rules, grids.reshape(len(grids), -1), masks)
        return masks


class DqnLearner(Learner):
    """DQN as a session drives it: in pieces, with all that changes in arrays."""

    def __init__(self, config: DeepConfig) -> None:
        options = EnvOptions(
            config.game, "grid", config.reward, config.penalty, config.end_probability, config.end_fraction
        )
        self.env = BoardVecEnv(options, config.n_envs, reward_scale=config.reward_scale, seed=config.seed)
        self.dqn = BoardDQN(config, self.env)
        super().__init__(config, self.dqn.q_net)

    @property
    def steps(self) -> int:
        return self.dqn.num_timesteps

    @property
    def epsilon(self) -> float:
        return epsilon_at(self.config, 1 - self.dqn._current_progress_remaining)

    def advance(self, done: float) -> list[Finished]:
        self.dqn._current_progress_remaining = 1 - done
        self.dqn.exploration_rate = self.epsilon
        set_learning_rate(self.dqn.policy.optimizer, self.config, done)
        rounds = max(self.config.n_envs, self.config.train_freq)
        self.dqn.learn(PIECE * rounds, reset_num_timesteps=False, log_interval=None)  # type: ignore[arg-type]
        finished, self.env.finished = self.env.finished, []
        return finished

    def take_losses(self) -> list[float]:
        losses, self.dqn.losses = self.dqn.losses, []
        return losses

    def tensors(self) -> dict[str, NDArray[Any]]:
        status = {f"boards.{name}": np.asarray(array) for name, array in self.env.boards.status._asdict().items()}
        status["boards.over"] = status["boards.over"].view(np.uint8)
        return {
            **weights_of(self.network, "network."),
            **weights_of(self.dqn.q_net_target, "target."),
            **adam_state(self.dqn.policy.optimizer, self.network),
            **self.dqn.replay_buffer.tensors(),
            **status,
            "boards.masks": self.env.masks.view(np.uint8),
        }

    def counts(self) -> dict[str, Any]:
        dqn = self.dqn
        generator = dqn.generator.bit_generator.state
        return {"steps": dqn.num_timesteps, "rounds": dqn._n_calls, "updates": dqn._n_updates, "generator": generator}

    def restore(self, tensors: dict[str, NDArray[Any]], counts: dict[str, Any]) -> None:
        dqn, status = self.dqn, self.env.boards.status
        load_weights(self.network, tensors, "network.")
        load_weights(dqn.q_net_target, tensors, "target.")
        restore_adam(dqn.policy.optimizer, self.network, tensors)
        dqn.replay_buffer.restore(tensors)
        for name in Status._fields:
            mine, kept = getattr(status, name), tensors.get(f"boards.{name}")
            if kept is None or kept.shape != mine.shape:
                raise FileError(f"the checkpoint does not fit the recipe: boards.{name} is missing or of another size")
            mine[:] = kept
        self.env.masks = np.array(tensors["boards.masks"]).view(np.bool_)
        try:
            dqn.num_timesteps, dqn._n_calls, dqn._n_updates = (counts[key] for key in ("steps", "rounds", "updates"))
            dqn.generator.bit_generator.state = counts["generator"]
        except (KeyError, TypeError, ValueError):
            raise FileError("the checkpoint's counts are damaged") from None
        dqn._last_obs = self.env.look()
        dqn._last_episode_starts = np.zeros(self.config.n_envs, np.bool_)
