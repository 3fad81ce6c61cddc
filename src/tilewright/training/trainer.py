"""A network in training: the arrays that learning changes, and the kernels set up for a recipe."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.errors import DivergedError, FileError, UsageError
from tilewright.games.policy import GameResults, make_results
from tilewright.learning.behaviour import Behaviour, EpsilonGreedy, FollowTeacher, Greedy
from tilewright.learning.start_states import StartPool, collect_starts, concatenate_pools, make_start_pool
from tilewright.learning.step_size import FixedStepSize, StepSize, TemporalCoherence
from tilewright.learning.updates import Learner, Returns, learn_backward, learn_online, make_workspace
from tilewright.ntuple.downgrade import Downgraded, make_downgrading
from tilewright.ntuple.model import VALUE_FUNCTIONS, Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16, freeze_stages, parse_stages
from tilewright.ntuple.value import make_value_function
from tilewright.ntuple.weights import WeightTables
from tilewright.rng import new_stream, stream_key
from tilewright.training.config import TrainingConfig

__all__ = ["COLLECTING", "Trainer"]

COLLECTING = 2**40  # games played to collect boards are numbered from here on, once more for every stage


class Trainer:
    """Plays and learns numbered games; several threads may do so at once, sharing the weights without locks.

    Where stages are learned in turn, only the weights of `stage` are read and changed, and games begin on `starts`;
    boards for the next stage gather in `found`.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.game, self.architecture = config.make_game(), config.make_architecture()
        self.lookups = self.architecture.lookups(self.game)
        size = VALUE_FUNCTIONS[config.value_function] * self.architecture.table_size
        self.weights = _filled(size, config.optimistic_init / self.lookups)
        if self.architecture.promoted_from is not None:
            self.weights[self.architecture.promoted_from :] = UNWRITTEN
        self.alpha = np.array([config.alpha], np.float32)
        self.sums = _filled(2 * size, 0.0) if config.step_size == "tc" else np.zeros(0, np.float32)
        self.stage = 0
        self.frozen = False  # whether the first stage learns for all of them, for now
        self.teaching = False  # whether the moves are those of the stage before, for now
        self.starts, self.found = make_start_pool(0), make_start_pool(0)
        self._key = stream_key(config.seed)

    def take_over(self, model: Model) -> None:
        """Begin with the weights of a model, which may have the first stages only."""
        stages, its = self.architecture.stages, model.architecture.stages
        if model.game.spec != self.game.spec:
            raise UsageError(f"a model for {model.game.spec}; the recipe is for {self.game.spec}")
        if model.value_function != self.config.value_function:
            raise UsageError(
                f"a model of {model.value_function} values; the recipe learns {self.config.value_function} values"
            )
        if dataclasses.replace(model.architecture, stages=(), promote=False) != self._architecture_until(0):
            raise UsageError("a model of another network than the recipe's")
        if its != stages[: len(its)] or (its and model.architecture.promote != self.architecture.promote):
            raise UsageError(f"a model with stages at {', '.join(its)}; those of the recipe do not begin so")
        self.weights[: len(model.weights)] = model.weights
        if model.weights.dtype == np.int16:
            known = self.weights[: len(model.weights)]
            known *= np.float32(model.quantum)
            if model.architecture.promoted_from is not None:
                known[model.weights == UNWRITTEN_16] = UNWRITTEN

    def warm_up(self) -> None:
        """Load or compile the kernels."""
        self.learn(0, 0)
        if self.config.start_pool:
            self.collect_starts(0, 0)
        if self.config.teacher_fraction:
            self.teaching = True  # by whom does not matter: no game is played
            self.learn(0, 0)
            self.teaching = False

    def learn(self, first: int, count: int) -> GameResults:
        """Play games number `first` to `first + count - 1` and learn from them."""
        config, results = self.config, make_results(count)
        value_function = make_value_function(config.value_function, self._tables(), self.lookups)
        learner = Learner(value_function, self._step_size(), self._behaviour(), self.starts)
        workspace = make_workspace(self.lookups)
        if config.update == "online":
            learn_online(self.game.rules, learner, self._key, first, workspace, results)
            return results
        returns = Returns(np.float32(config.lambda_), config.n_step)
        done = 0
        while True:
            left = GameResults(*(array[done:] for array in results))
            done += learn_backward(
                self.game.rules, learner, returns, config.restart, self._key, first + done, workspace, left
            )
            if done == count:
                return results
            workspace = make_workspace(self.lookups, 2 * len(workspace.trajectory.cells))

    def collect_starts(self, first: int, count: int) -> StartPool:
        """Play so many games without learning: where they reached the next stage."""
        boards = make_start_pool(count)
        collect_starts(
            self.game.rules,
            self._policy(self.stage),
            self.starts,
            parse_stages(self.architecture.stages, self.game),
            self.stage + 1,
            self._key,
            COLLECTING * (self.stage + 1) + first,
            new_stream(),
            boards,
        )
        return boards

    def keep(self, pieces: list[StartPool]) -> None:
        """Add boards that `collect_starts` found, at most as many as the recipe asks for."""
        found = concatenate_pools([self.found, *pieces])
        self.found = StartPool._make(column[: self.config.start_pool] for column in found)

    def forget_found(self) -> None:
        self.found = make_start_pool(0)

    def enter_next_stage(self) -> None:
        """Learn the next stage from now on, from the boards that were found."""
        self.stage += 1
        self.starts = self.found
        self.forget_found()
        self.alpha[0] = self.config.alpha

    def _tables(self) -> WeightTables:
        if self.config.start_pool:
            return self._tables_of(self.stage)
        tables = self.architecture.tables(self.game, self.weights)
        return tables._replace(stages=freeze_stages(tables.stages)) if self.frozen else tables

    def _tables_of(self, stage: int) -> WeightTables:
        """A stage that is learned in turn, as a network without stages."""
        return self._architecture_until(0).tables(self.game, self.weights[self._part(1, stage)])

    def _policy(self, stage: int) -> Downgraded:
        """Return a stage as it plays without learning; the first downgrades boards if the configuration says so."""
        value_function = make_value_function(self.config.value_function, self._tables_of(stage), self.lookups)
        return Downgraded(value_function, make_downgrading(self.game, 0 if stage else self.config.downgrade_above))

    def _step_size(self) -> StepSize:
        if self.config.step_size == "fixed":
            return FixedStepSize(self.alpha)
        return TemporalCoherence(
            self.alpha, self.sums[self._part(2, self.stage)] if self.config.start_pool else self.sums
        )

    def _part(self, each: int, stage: int) -> slice:
        """Where a stage's own entries are, in an array that has so many for each weight."""
        size = each * self.architecture.stage_size
        return slice(stage * size, (stage + 1) * size)

    def _architecture_until(self, stage: int) -> NTupleArchitecture:
        return dataclasses.replace(self.architecture, stages=self.architecture.stages[:stage], promote=False)

    def _behaviour(self) -> Behaviour:
        if self.teaching:
            return FollowTeacher(self._policy(self.stage - 1))
        epsilon = self.config.epsilon
        return EpsilonGreedy(np.uint64(round(epsilon * 2**32))) if epsilon else Greedy()

    def check_finite(self) -> None:
        """Raise DivergedError if a weight is no longer a number."""
        if not np.isfinite(self.weights.sum(dtype=np.float64)):
            raise DivergedError(f"learning diverged: the weights went to infinity; try a share below {self.alpha[0]:g}")

    def tensors(self) -> dict[str, NDArray[Any]]:
        """All that learning changes, for a checkpoint."""
        fixed = {"weights": self.weights, "sums": self.sums, "alpha": self.alpha}
        return fixed | (self._boards() if self.config.start_pool else {})

    def _boards(self) -> dict[str, NDArray[Any]]:
        pools = {"starts": self.starts, "found": self.found}
        return {f"{pool}.{name}": column for pool, boards in pools.items() for name, column in boards._asdict().items()}

    def restore(self, tensors: dict[str, NDArray[Any]], stage: int = 0) -> None:
        """Go back to a checkpoint that was made in that stage."""
        for name, mine in self.tensors().items():
            same_size = name in self._boards() or (name in tensors and tensors[name].shape == mine.shape)
            if name not in tensors or not same_size or tensors[name].dtype != mine.dtype:
                raise FileError(f"the checkpoint does not fit the recipe: {name} is missing or of another size")
        for mine, name in ((self.weights, "weights"), (self.sums, "sums"), (self.alpha, "alpha")):
            mine[:] = tensors[name]
        if self.config.start_pool:
            self.starts, self.found = (
                StartPool._make(tensors[f"{pool}.{name}"].copy() for name in StartPool._fields)
                for pool in ("starts", "found")
            )
        self.stage = stage

    def model(self, origin: dict[str, str]) -> Model:
        """The network as it is; where stages are learned in turn, with those that were begun."""
        if not self.config.start_pool:
            return self._model_of(self.architecture, self.weights, origin)
        architecture = self._architecture_until(self.stage)
        return self._model_of(architecture, self.weights[: architecture.table_size], origin)

    def _model_of(
        self, architecture: NTupleArchitecture, weights: NDArray[np.float32], origin: dict[str, str]
    ) -> Model:
        return Model(
            self.game,
            architecture,
            self.config.value_function,
            weights,
            origin=origin,
            downgrade_above=self.config.downgrade_above,
        )


def _filled(size: int, value: float) -> NDArray[np.float32]:
    """A new array written at once: large ones then get huge pages, without which look-ups are slow."""
    array = np.empty(size, np.float32)
    array.fill(value)
    return array
