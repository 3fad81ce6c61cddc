"""A network in training: the arrays that learning changes, and the kernels set up for a recipe."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.errors import DivergedError, FileError
from tilewright.learning.exploration import EpsilonGreedy, Exploration, NoExploration
from tilewright.learning.loops import Returns, learn_backwards, learn_online, make_room
from tilewright.learning.methods import make_method
from tilewright.learning.recipe import Recipe
from tilewright.learning.steps import Coherence, FixedStep, StepRule
from tilewright.networks.model import METHODS, Model
from tilewright.networks.stages import UNWRITTEN
from tilewright.playing import Results, make_results
from tilewright.rng import stream_key

__all__ = ["Trainer"]


class Trainer:
    """Plays and learns numbered games; several threads may do so at once, sharing the weights without locks."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.game, self.shape = recipe.make_game(), recipe.make_shape()
        self.lookups = self.shape.lookups(self.game)
        size = METHODS[recipe.method] * self.shape.table_size
        self.weights = _filled(size, recipe.initial / self.lookups)
        if self.shape.promoted_from is not None:
            self.weights[self.shape.promoted_from :] = UNWRITTEN
        self.share = np.array([recipe.share], np.float32)
        self.errors = _filled(2 * size, 0.0) if recipe.rule == "tc" else np.zeros(0, np.float32)
        self._key = stream_key(recipe.seed)

    def learn(self, first: int, count: int) -> Results:
        """Play games number `first` to `first + count - 1` and learn from them."""
        recipe, results = self.recipe, make_results(count)
        tables = self.shape.tables(self.game, self.weights)
        shared = (
            self.game.rules,
            make_method(recipe.method, tables, self.lookups),
            self._rule(),
            self._exploration(),
        )
        room = make_room(self.lookups)
        if recipe.order == "online":
            learn_online(*shared, self._key, first, room, results)
            return results
        returns = Returns(np.float32(recipe.lambda_), recipe.steps)
        done = 0
        while True:
            left = Results(*(array[done:] for array in results))
            done += learn_backwards(*shared, returns, recipe.restart, self._key, first + done, room, left)
            if done == count:
                return results
            room = make_room(self.lookups, 2 * len(room.record.cells))

    def _rule(self) -> StepRule:
        return Coherence(self.share, self.errors) if self.recipe.rule == "tc" else FixedStep(self.share)

    def _exploration(self) -> Exploration:
        epsilon = self.recipe.epsilon
        return EpsilonGreedy(np.uint64(round(epsilon * 2**32))) if epsilon else NoExploration()

    def check_finite(self) -> None:
        """Raise DivergedError if a weight is no longer a number."""
        if not np.isfinite(self.weights.sum(dtype=np.float64)):
            raise DivergedError(f"learning diverged: the weights went to infinity; try a share below {self.share[0]:g}")

    def tensors(self) -> dict[str, NDArray[Any]]:
        """All that learning changes, for a checkpoint."""
        return {"weights": self.weights, "errors": self.errors, "share": self.share}

    def restore(self, tensors: dict[str, NDArray[Any]]) -> None:
        for name, mine in self.tensors().items():
            if name not in tensors or tensors[name].shape != mine.shape or tensors[name].dtype != mine.dtype:
                raise FileError(f"the checkpoint does not fit the recipe: {name} is missing or of another size")
            mine[:] = tensors[name]

    def model(self, origin: dict[str, str]) -> Model:
        return Model(self.game, self.shape, self.recipe.method, self.weights, origin=origin)


def _filled(size: int, value: float) -> NDArray[np.float32]:
    """A new array written at once: large ones then get huge pages, without which look-ups are slow."""
    array = np.empty(size, np.float32)
    array.fill(value)
    return array
