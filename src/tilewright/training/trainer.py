"""A network in training: the arrays that learning changes, and the calls of the learning kernels."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from tilewright._core.files import Array, Tensors
from tilewright._core.memory import check_memory
from tilewright.errors import DivergedError, FileError, UsageError
from tilewright.games.policy import GameResults, make_results
from tilewright.games.rules import Rules
from tilewright.learning.averaging import WeightAverage
from tilewright.learning.behaviour import Behaviour, EpsilonGreedy, FollowTeacher, Greedy
from tilewright.learning.goals import make_goal_rules
from tilewright.learning.start_states import StartPool, collect_starts, concatenate_pools, make_start_pool
from tilewright.learning.step_size import FixedStepSize, StepSize, TemporalCoherence
from tilewright.learning.updates import (
    AnyReturns,
    Learner,
    RechosenReturns,
    Returns,
    learn_backward,
    learn_online,
    make_workspace,
)
from tilewright.ntuple.downgrade import Downgraded, make_downgrading
from tilewright.ntuple.model import Model, network_size
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16, freeze_stages, parse_stages
from tilewright.ntuple.value import make_value_function
from tilewright.ntuple.weight_checks import MAX_WEIGHT, find_fault, pieces
from tilewright.ntuple.weights import WeightTables
from tilewright.rng import new_stream, stream_key
from tilewright.training.config import TrainingConfig
from tilewright.training.schedule import Phase

__all__ = ["COLLECTING", "Trainer"]

COLLECTING = 2**40  # numbers of the games that collect start boards begin here for the first stage, then at 2 * 2**40 …
FIRST_PHASE = Phase()
MAX_SNAPSHOTS = 2**30  # of a mean; far more than there ever are
MAX_SCORE = 2**53  # of a game; beyond it, means would not be exact


class Trainer:
    """The network of a configuration in training.

    Several threads may call `learn` at the same time; they share the weights without locks (Hogwild).

    Attributes:
        config: The configuration.
        game: The game.
        architecture: The network with all its stages.
        lookups: The number of weights that a value is the sum of.
        weights: float32[n], changed by `learn`.
        sums: float32[2 * n], the sums E and A of temporal coherence, changed by `learn`; empty for fixed step sizes.
        alpha: float32[1], the learning rate; may be changed between calls.
        average: The mean of the snapshots taken so far; of the current stage, where stages are trained one after the
            other.
        starts: The boards that games of the current stage start from; empty for new games.
        found: The boards collected so far for the next stage.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.game, self.architecture = config.make_game(), config.make_architecture()
        self.lookups = self.architecture.lookups(self.game)
        size = network_size(self.architecture, config.value_function)
        check_memory(self._bytes_needed(size), f"training a network of {size:,} weights")
        self.weights = _filled(size, config.optimistic_init / self.lookups)
        if self.architecture.promoted_from is not None:
            self.weights[self.architecture.promoted_from :] = UNWRITTEN
        self.alpha = np.array([config.alpha], np.float32)
        self.sums = _filled(2 * size, 0.0) if config.step_size == "tc" else np.zeros(0, np.float32)
        self.average = WeightAverage(self.architecture.promoted_from)
        self.starts, self.found = make_start_pool(0), make_start_pool(0)
        self._key = stream_key(config.seed)
        self._rules: Rules = self.game.rules
        if config.goal_tile:
            goal = self.game.code(config.goal_tile)
            self._rules = make_goal_rules(self._rules, goal, config.goal_reward, goal_only=config.goal_only)

    def _bytes_needed(self, size: int) -> int:
        """The memory of all large arrays.

        The mean of snapshots is that of one stage, where stages are trained one after the other; a model then is a copy
        of the stages before and the mean.
        """
        arrays = 3 if self.config.step_size == "tc" else 1
        if not self.config.averaging:
            return 4 * arrays * size
        averages = size + self.architecture.stage_size if self.config.start_pool else size
        return 4 * (arrays * size + averages)

    def start_from(self, model: Model) -> None:
        """Copy the weights of a model, which may have only the first stages.

        Raises:
            UsageError: The model is for another game, network or value function, or its weights are impossible.
        """
        stages, given = self.architecture.stages, model.architecture.stages
        if model.game.spec != self.game.spec:
            raise UsageError(f"a model for {model.game.spec}; the config trains {self.game.spec}")
        if model.value_function != self.config.value_function:
            raise UsageError(
                f"a model of {model.value_function} values; the config trains {self.config.value_function} values"
            )
        if dataclasses.replace(model.architecture, stages=(), promote=False) != self._architecture_until(0):
            raise UsageError("a model of another network than the config's")
        if given != stages[: len(given)] or (given and model.architecture.promote != self.architecture.promote):
            raise UsageError(f"a model with stages at {', '.join(given)}; the stages of the config start differently")
        self.weights[: len(model.weights)] = model.weights
        if model.weights.dtype == np.int16:
            known = self.weights[: len(model.weights)]
            known *= np.float32(model.quantum)
            if model.architecture.promoted_from is not None:
                known[model.weights == UNWRITTEN_16] = UNWRITTEN
        if fault := find_fault(self.weights, self.architecture.promoted_from):
            raise UsageError(f"{fault}: no sound network")

    def warm_up(self) -> None:
        """Load or compile the kernels."""
        self.learn(0, 0)
        if self.config.start_pool:
            self.collect_starts(0, 0)
        if self.config.teacher_fraction:
            self.learn(0, 0, Phase(stage=1, taught=True))
        if self.config.late_tuples_from:
            self.learn(0, 0, Phase(early=True))

    def learn(self, first: int, count: int, phase: Phase = FIRST_PHASE) -> GameResults:
        """Play games number `first` to `first + count - 1` and learn from them.

        Args:
            first: The number of the first game, which determines its random numbers.
            count: The number of games.
            phase: Which stage learns, and whose moves it learns from.

        Returns:
            Scores, numbers of moves and largest tiles of the games.
        """
        config, results = self.config, make_results(count)
        value_function = make_value_function(config.value_function, self._tables(phase), self.lookups)
        learner = Learner(value_function, self._step_size(phase.stage), self._behaviour(phase), self.starts)
        workspace = make_workspace(self.lookups)
        if config.update == "online":
            learn_online(self._rules, learner, self._key, first, workspace, results)
            return results
        done, returns = 0, self._returns()
        while True:
            left = GameResults(*(array[done:] for array in results))
            done += learn_backward(
                self._rules, learner, returns, config.restart, self._key, first + done, workspace, left
            )
            if done == count:
                return results
            workspace = make_workspace(self.lookups, 2 * len(workspace.trajectory.cells))

    def synchronise(self) -> None:
        """Make `weights` what all games so far have taught; nothing is to be done where threads share them."""

    def collect_starts(self, first: int, count: int, stage: int = 0) -> StartPool:
        """Play `count` games of a stage without learning, and note where they reach the next stage."""
        boards = make_start_pool(count)
        collect_starts(
            self.game.rules,
            self._policy(stage, self._averaged_weights(stage)),
            self.starts,
            parse_stages(self.architecture.stages, self.game),
            stage + 1,
            self._key,
            COLLECTING * (stage + 1) + first,
            new_stream(),
            boards,
        )
        return boards

    def keep(self, pools: list[StartPool]) -> None:
        """Add boards from `collect_starts` to `found`, up to the config's `start_pool`."""
        found = concatenate_pools([self.found, *pools])
        self.found = StartPool._make(column[: self.config.start_pool] for column in found)

    def forget_found(self) -> None:
        """Drop the boards collected for the next stage."""
        self.found = make_start_pool(0)

    def take_snapshot(self, stage: int = 0, threads: int = 1) -> None:
        """Take the weights into the mean; those of one stage, where stages are trained one after the other."""
        self.average.add(self._learning_weights(stage), threads)

    def _learning_weights(self, stage: int) -> NDArray[np.float32]:
        return self.weights[self._part(1, stage)] if self.config.start_pool else self.weights

    def _averaged_weights(self, stage: int) -> NDArray[np.float32]:
        """The mean of the snapshots of the current stage, or its own weights if there are none yet."""
        return self.average.mean if len(self.average.mean) else self._learning_weights(stage)

    def start_next_stage(self, stage: int) -> None:
        """End a stage, and start the following games from the boards found, with the initial learning rate.

        The stage that ends keeps the mean of its snapshots: nothing learns from its own weights any more.
        """
        if len(self.average.mean):
            self._learning_weights(stage)[:] = self.average.mean
            self.average.clear()
        self.starts = self.found
        self.forget_found()
        self.alpha[0] = self.config.alpha

    def _tables(self, phase: Phase) -> WeightTables:
        if self.config.start_pool:
            return self._one_stage_tables(self._learning_weights(phase.stage))
        tables = self.architecture.tables(self.game, self.weights)
        if phase.early:
            tuples = len(self.config.tuples)
            tables = tables._replace(masks=tables.masks[:tuples], offsets=tables.offsets[:tuples])
        return tables._replace(stages=freeze_stages(tables.stages)) if phase.frozen else tables

    def _one_stage_tables(self, weights: NDArray[np.float32]) -> WeightTables:
        """One of the stages that are trained one after the other, as a network without stages."""
        return self._architecture_until(0).tables(self.game, weights)

    def _policy(self, stage: int, weights: NDArray[np.float32]) -> Downgraded:
        """A stage that plays without learning; the first one downgrades boards if the config says so."""
        tables = self._one_stage_tables(weights)
        value_function = make_value_function(self.config.value_function, tables, self.lookups)
        return Downgraded(value_function, make_downgrading(self.game, 0 if stage else self.config.downgrade_above))

    def _step_size(self, stage: int) -> StepSize:
        if self.config.step_size == "fixed":
            return FixedStepSize(self.alpha)
        return TemporalCoherence(self.alpha, self.sums[self._part(2, stage)] if self.config.start_pool else self.sums)

    def _part(self, entries: int, stage: int) -> slice:
        """The entries of a stage in an array that has `entries` entries for each weight."""
        size = entries * self.architecture.stage_size
        return slice(stage * size, (stage + 1) * size)

    def _architecture_until(self, stage: int) -> NTupleArchitecture:
        return dataclasses.replace(self.architecture, stages=self.architecture.stages[:stage], promote=False)

    def _behaviour(self, phase: Phase) -> Behaviour:
        if phase.taught:
            return FollowTeacher(self._policy(phase.stage - 1, self._learning_weights(phase.stage - 1)))
        epsilon = self.config.epsilon
        return EpsilonGreedy(np.uint64(round(epsilon * 2**32))) if epsilon else Greedy()

    def _returns(self) -> AnyReturns:
        config = self.config
        if config.rechoose_next_move or config.value_last_board:
            return RechosenReturns(config.rechoose_next_move, config.value_last_board)
        return Returns(np.float32(config.lambda_), config.n_step)

    def check_finite(self) -> None:
        """Raise DivergedError if a weight is infinite, no number, or larger than any value can be."""
        if fault := find_fault(self.weights, self.architecture.promoted_from):
            raise DivergedError(f"learning diverged: {fault}; try an alpha below {self.alpha[0]:g}")

    def tensors(self) -> Tensors:
        """The arrays that learning changes, for a checkpoint; not copies."""
        fixed: Tensors = {"weights": self.weights, "sums": self.sums, "alpha": self.alpha}
        averages: Tensors = {"mean": self.average.mean, "snapshots": self.average.snapshots}
        return {
            **fixed,
            **(averages if self.config.averaging else {}),
            **(self._pools() if self.config.start_pool else {}),
        }

    def _pools(self) -> Tensors:
        pools = {"starts": self.starts, "found": self.found}
        return {f"{name}.{column}": array for name, pool in pools.items() for column, array in pool._asdict().items()}

    def restore(self, tensors: Tensors) -> None:
        """Copy the arrays of a checkpoint, after a look at all that kernels rely on.

        Raises:
            FileError: The checkpoint is of another configuration, or its content is impossible.
        """
        may_differ = {*self._pools(), "mean"}
        for name, mine in self.tensors().items():
            found = tensors.get(name)
            shape = found.shape if found is not None and name in may_differ and found.ndim == 1 else mine.shape
            if found is None or found.shape != shape or found.dtype != mine.dtype:
                raise FileError(f"the checkpoint does not match the config: {name} is missing or has another size")
        if fault := find_fault(tensors["weights"], self.architecture.promoted_from):
            raise FileError(f"the checkpoint is damaged: {fault}")
        if fault := _find_fault_in_sums(tensors["sums"]):
            raise FileError(f"the checkpoint is damaged: {fault}")
        if not 0 <= tensors["alpha"][0] <= np.float32(self.config.alpha):
            raise FileError(f"the checkpoint is damaged: alpha is {tensors['alpha'][0]}")
        if self.config.averaging:
            self._restore_average(tensors["mean"], int(tensors["snapshots"][0]))
        if self.config.start_pool:
            self.starts, self.found = (self._read_pool(tensors, name) for name in ("starts", "found"))
        for mine, name in ((self.weights, "weights"), (self.sums, "sums"), (self.alpha, "alpha")):
            mine[:] = tensors[name]

    def _restore_average(self, mean: Array, snapshots: int) -> None:
        size = len(self._learning_weights(0)) if snapshots else 0
        if not 0 <= snapshots <= MAX_SNAPSHOTS or len(mean) != size:
            raise FileError(f"the checkpoint is damaged: a mean of {len(mean):,} weights and {snapshots:,} snapshots")
        if fault := find_fault(mean, self.architecture.promoted_from):
            raise FileError(f"the checkpoint is damaged: of the mean, {fault}")
        self.average.clear()
        self.average.snapshots[0] = snapshots
        if snapshots:
            self.average.mean = np.array(mean, np.float32)

    def _read_pool(self, tensors: Tensors, name: str) -> StartPool:
        """Copy the start boards of a checkpoint, which must be afterstates with possible scores."""
        pool = StartPool._make(tensors[f"{name}.{column}"].copy() for column in StartPool._fields)
        if len({len(column) for column in pool}) > 1 or len(pool.cells) > self.config.start_pool:
            raise FileError(f"the checkpoint is damaged: the columns of {name} have impossible lengths")
        if not self.game.are_sound(pool.cells, pool.extra, after=True).all():
            raise FileError(
                f"the checkpoint is damaged: {name} has boards that are not afterstates of {self.game.spec}"
            )
        if (pool.scores < 0).any() or (pool.finals < pool.scores).any() or (pool.finals > MAX_SCORE).any():
            raise FileError(f"the checkpoint is damaged: {name} has impossible scores")
        return pool

    def model(self, origin: dict[str, str], stage: int = 0) -> Model:
        """The network as it is now: the mean of its snapshots, if there are any.

        Args:
            origin: What the model's file says about its training.
            stage: The current stage, where stages are trained one after the other; later ones are left out.
        """
        weights = self._averaged_weights(stage)
        if not self.config.start_pool:
            return self._model_of(self.architecture, weights, origin)
        architecture = self._architecture_until(stage)
        if not len(self.average.mean):
            weights = self.weights[: architecture.table_size]
        elif stage:
            weights = np.concatenate([self.weights[: stage * architecture.stage_size], weights])
        return self._model_of(architecture, weights, origin)

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


def _find_fault_in_sums(sums: Array) -> str:
    """Return what is wrong with the sums E and A of temporal coherence, in words; nothing if they are possible."""
    for piece in pieces(sums):  # of an even length: every other entry is an A, which is never negative
        if not (np.abs(piece) <= np.float32(MAX_WEIGHT)).all() or (piece[1::2] < 0).any():
            return "a coherence sum is infinite, no number, or negative"
    return ""


def _filled(size: int, value: float) -> NDArray[np.float32]:
    """A new array, written completely: large arrays then get huge pages, without which lookups are slow."""
    array = np.empty(size, np.float32)
    array.fill(value)
    return array
