"""A deep network that values afterstates, learned by TD: what the n-tuple papers do, with another function.

A move's worth is its reward plus the value of the afterstate it leads to, so the network need not learn what the rules
say already: which moves are legal, what they earn, and where tiles go. The value of an afterstate is drawn towards what
the new tile and the best move after it are worth by a target network, out of a memory of past moves.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from tilewright._core.jit import kernel
from tilewright.deep.config import DeepConfig
from tilewright.deep.learner import Learner, adam, adam_state, epsilon_at, plan_of, restore_adam, set_learning_rate
from tilewright.deep.model import load_weights, weights_of
from tilewright.deep.network import make_network
from tilewright.deep.playing import Games, Player, list_afterstates
from tilewright.deep.symmetry import Symmetries
from tilewright.deep.vecenv import Finished
from tilewright.envs.observations import View, make_view, show, view_shape
from tilewright.errors import FileError
from tilewright.games.rules import Rules, State, largest, slide, spawn, start
from tilewright.rng import stream_for

__all__ = ["AfterstateLearner"]

PIECE = 16  # rounds in one piece of work
LARGEST_GRADIENT = 10.0


@kernel
def begin_some(rules: Rules, games: Games, which: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
    """Begin anew the games `which`; ends: int64[2, n], what the old ones came to, and the scores of all games."""
    for i in which:
        ends[1, i] = largest(rules, State(games.cells[i], games.extra[i]))
        state, ends[0, i] = start(rules, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra


@kernel
def move_all(
    rules: Rules,
    view: View,
    games: Games,
    actions: NDArray[np.int64],
    scores: NDArray[np.int64],
    after: NDArray[np.uint8],
    gains: NDArray[np.float32],
) -> None:
    """A legal move in every game; `after` gets the afterstates, `gains` what the new tiles earned."""
    for i in range(len(actions)):
        moved, reward = slide(rules, State(games.cells[i], games.extra[i]), actions[i])
        show(view, rules, moved, after[i])
        state, gain = spawn(rules, moved, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        scores[i] += reward + gain
        gains[i] = gain


class AfterstateLearner(Learner):
    """TD(0) of afterstate values with a replay memory."""

    def __init__(self, config: DeepConfig) -> None:
        super().__init__(config, make_network(plan_of(config), config.seed))
        self.game, n = config.make_game(), config.n_envs
        self.target = make_network(plan_of(config), config.seed)
        self.player = Player(self.network, config.reward_scale)
        self.generator = np.random.default_rng(config.seed)
        self.symmetries = Symmetries(self.game)
        self.optimiser = adam(self.network, config.learning_rate)
        streams = np.stack([stream_for(config.seed, i) for i in range(n)])
        self.games = Games(np.zeros(n, np.uint64), np.zeros(n, np.uint64), streams)
        self.ends = np.zeros((2, n), np.int64)
        self.view = make_view(self.game, "grid")
        shape = view_shape(self.view)
        size = config.buffer_size // n * n
        self.after = np.zeros((size, *shape), np.uint8)  # the memory: afterstates …
        self.next = np.zeros((size, 2), np.uint64)  # … the states that came of them …
        self.gains = np.zeros(size, np.float32)  # … and what the new tiles earned
        self.losses: list[float] = []
        self._steps, self._done = 0, 0.0
        begin_some(self.game.rules, self.games, np.arange(n), self.ends)

    @property
    def steps(self) -> int:
        return self._steps

    @property
    def epsilon(self) -> float:
        return epsilon_at(self.config, self._done)

    def advance(self, done: float) -> list[Finished]:
        self._done = done
        set_learning_rate(self.optimiser, self.config, done)
        finished: list[Finished] = []
        n, every = self.config.n_envs, self.config.train_freq
        for _ in range(PIECE * max(1, every // n)):
            finished += self._play()
            if self._steps > self.config.learning_starts and self._steps % max(n, every) == 0:
                for _ in range(max(1, n // every)):
                    self._learn()
        return finished

    def _play(self) -> list[Finished]:
        """A move in every game."""
        games, n = self.games, self.config.n_envs
        q_values = self.player.q_values(self.game, games.cells, games.extra)
        over = np.flatnonzero(~np.isfinite(q_values.max(axis=1)))
        finished = []
        if len(over):
            scores = self.ends[0, over].tolist()
            begin_some(self.game.rules, games, over, self.ends)
            finished = [Finished(*end) for end in zip(scores, self.ends[1, over].tolist(), strict=True)]
            q_values[over] = self.player.q_values(self.game, games.cells[over], games.extra[over])
        actions = q_values.argmax(axis=1)
        if self.epsilon:
            chances = np.where(np.isfinite(q_values), self.generator.random((n, 4)), -1)
            actions = np.where(self.generator.random(n) < self.epsilon, chances.argmax(axis=1), actions)
        place = self._steps % len(self.after)
        here = slice(place, place + n)
        after = self.after[here].reshape(n, -1)
        move_all(self.game.rules, self.view, games, actions, self.ends[0], after, self.gains[here])
        self.next[here, 0], self.next[here, 1] = games.cells, games.extra
        before, self._steps = self._steps, self._steps + n
        if before // self.config.target_update_interval != self._steps // self.config.target_update_interval:
            self.target.load_state_dict(self.network.state_dict())
        return finished

    def _learn(self) -> None:
        config = self.config
        places = self.generator.integers(min(self._steps, len(self.after)), size=config.batch_size)
        grids = self.after[places]
        if config.symmetry:
            grids = self.symmetries.of_grids(
                grids, self.generator.integers(self.symmetries.count, size=config.batch_size)
            )
        targets = torch.from_numpy(self.targets(places))
        values = self.network(torch.from_numpy(grids))[:, 0]
        loss = F.mse_loss(values, targets) if config.loss == "mse" else F.smooth_l1_loss(values, targets)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), LARGEST_GRADIENT)
        self.optimiser.step()
        self.losses.append(float(loss.detach()))

    def targets(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """What the afterstates at these places turned out to be worth, in units: gain + γ max (reward + value)."""
        cells, extra = (np.ascontiguousarray(self.next[places, k]) for k in (0, 1))
        n = len(places)
        after, q_values = np.empty((n, 4, *self.after.shape[1:]), np.uint8), np.empty((n, 4), np.float32)
        list_afterstates(self.game.rules, self.view, cells, extra, after.reshape(n, 4, -1), q_values)
        legal = np.isfinite(q_values)
        q_values[legal] = q_values[legal] / self.config.reward_scale + self.target.predict(after[legal])[:, 0]
        best = np.where(legal.any(axis=1), q_values.max(axis=1), 0)
        return (self.gains[places] / self.config.reward_scale + self.config.gamma * best).astype(np.float32)

    def take_losses(self) -> list[float]:
        losses, self.losses = self.losses, []
        return losses

    def _arrays(self) -> dict[str, NDArray[Any]]:
        names = [f"games.{name}" for name in Games._fields]
        memory: dict[str, NDArray[Any]] = {
            "memory.after": self.after,
            "memory.next": self.next,
            "memory.gains": self.gains,
        }
        return {**dict(zip(names, self.games, strict=True)), **memory, "games.ends": self.ends}

    def tensors(self) -> dict[str, NDArray[Any]]:
        networks = {**weights_of(self.network, "network."), **weights_of(self.target, "target.")}
        return {**networks, **adam_state(self.optimiser, self.network), **self._arrays()}

    def counts(self) -> dict[str, Any]:
        return {"steps": self._steps, "generator": self.generator.bit_generator.state}

    def restore(self, tensors: dict[str, NDArray[Any]], counts: dict[str, Any]) -> None:
        load_weights(self.network, tensors, "network.")
        load_weights(self.target, tensors, "target.")
        restore_adam(self.optimiser, self.network, tensors)
        for name, mine in self._arrays().items():
            if name not in tensors or tensors[name].shape != mine.shape:
                raise FileError(f"the checkpoint does not fit the recipe: {name} is missing or of another size")
            mine[:] = tensors[name]
        try:
            self._steps, self.generator.bit_generator.state = counts["steps"], counts["generator"]
        except (KeyError, TypeError, ValueError):
            raise FileError("the checkpoint's counts are damaged") from None
