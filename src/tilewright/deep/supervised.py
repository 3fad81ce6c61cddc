"""Supervised learning from a teacher: its moves, or its values of afterstates.

Positions come from games of the teacher or of the network itself, or from a file. The newest are kept in a buffer, from
which batches are drawn, so that a batch has positions of many games.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tilewright.deep.checkpoint import Counters, Tensors, check_that_sound
from tilewright.deep.config import DeepConfig
from tilewright.deep.learner import ReplayLearner
from tilewright.deep.policy import NetworkPolicy, compute_afterstates
from tilewright.deep.positions import (
    LabelledGames,
    Positions,
    PositionSource,
    StoredPositions,
    make_positions,
    write_positions,
)
from tilewright.deep.teacher import Teacher
from tilewright.deep.vecenv import FinishedGame
from tilewright.envs.observations import encode_batch, legal_masks, make_grid_encoder, observation_shape
from tilewright.errors import UsageError
from tilewright.games.base import Game

__all__ = ["SupervisedLearner", "make_source"]


def make_source(config: DeepConfig, game: Game) -> PositionSource:
    """Return the positions of a configuration; a file that does not exist is written first.

    Raises:
        UsageError: The teacher cannot play the game, or has no values to learn.
        FileError: A file cannot be read or written, or holds other positions.
    """
    teacher, has_values = Teacher(config.teacher, game, config.seed), config.labels == "values"
    if has_values and not teacher.has_values:
        raise UsageError(
            f'teacher = "{config.teacher}": it has no values in points; with labels = "moves" its moves are learned'
        )
    games = LabelledGames(
        teacher,
        config.n_envs,
        config.seed,
        num_taught=round(config.n_envs * config.teacher_fraction),
        goal_tile=config.goal_tile,
        has_values=has_values,
    )
    if not config.data:
        return games
    path = Path(config.data)
    if not path.exists():
        write_positions(path, games, config.data_positions)
    return StoredPositions(path, game, teacher.agent.spec, config.n_envs, has_values=has_values)


class SupervisedLearner(ReplayLearner):
    """Supervised learning as a `Learner`. A step is one labelled position.

    Attributes:
        source: Where the positions come from.
        policy: The greedy policy of the network.
        buffer: The newest positions; the oldest are overwritten.
    """

    def __init__(self, config: DeepConfig) -> None:
        """Make the network, the games and the buffer for a configuration."""
        super().__init__(config)
        self.source = make_source(config, self.game)
        self.policy = NetworkPolicy(self.network, config.reward_scale)
        self.buffer = make_positions(self.capacity, has_values=self._has_values)
        self._encoder = make_grid_encoder(self.game)
        self._accuracy = 0.0
        self._matches: list[float] = []

    @property
    def _has_values(self) -> bool:
        return self.config.labels == "values"

    @property
    def exploration_rate(self) -> float:
        """The probability of a random move: 0, nobody explores."""
        return 0.0

    @property
    def accuracy(self) -> float:
        """The fraction of the positions of the last chunk's batches in which the network chose the teacher's move."""
        return self._accuracy

    def _learn_chunk(self) -> list[FinishedGame]:
        finished = super()._learn_chunk()
        if self._matches:
            self._accuracy, self._matches = sum(self._matches) / len(self._matches), []
        return finished

    def _advance(self) -> list[FinishedGame]:
        """Put the next positions into the buffer."""
        positions, finished = self.source.advance(self._choose)
        self.buffer.put(self._steps % self.capacity, positions)
        self._steps += len(positions.cells)
        return finished

    def _choose(self, cells: NDArray[np.uint64], extra: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the network's moves in n states."""
        return self.policy.q_values(self.game, cells, extra).argmax(axis=1)

    def _train(self, rows: NDArray[np.int64], symmetries: NDArray[np.int64]) -> None:
        """Make one gradient step."""
        loss, matches = (self._loss_of_values if self._has_values else self._loss_of_moves)(
            self.buffer.take(rows), symmetries
        )
        self.make_gradient_step(loss)
        self._matches.append(float(matches.float().mean()))

    def _loss_of_moves(self, batch: Positions, symmetries: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of the teacher's moves, and where the network chooses them."""
        n, shape = len(batch.cells), observation_shape(self._encoder)
        grids = np.empty((n, *shape), np.uint8)
        encode_batch(self._encoder, self.game.rules, batch.cells, batch.extra, grids.reshape(n, -1))
        grids = self.symmetries.transform_grids(grids, symmetries)
        actions = self.send(self.symmetries.transform_actions(batch.actions.astype(np.int64), symmetries))
        logits = self.network(self.send(grids))
        if self.config.mask:
            masks = np.empty((n, 4), np.bool_)
            legal_masks(self._encoder, self.game.rules, grids.reshape(n, -1), masks)
            logits = logits.masked_fill(~self.send(masks), -torch.inf)
        return F.cross_entropy(logits, actions), logits.argmax(dim=1) == actions

    def _loss_of_values(self, batch: Positions, symmetries: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the loss of the values of all legal moves, and where the network chooses the teacher's move."""
        config, n, shape = self.config, len(batch.cells), observation_shape(self._encoder)
        grids, rewards = np.empty((n, 4, *shape), np.uint8), np.empty((n, 4), np.float32)
        compute_afterstates(self.game.rules, self._encoder, batch.cells, batch.extra, grids.reshape(n, 4, -1), rewards)
        legal = np.isfinite(rewards)
        afterstates = self.symmetries.transform_grids(grids[legal], np.repeat(symmetries, legal.sum(axis=1)))
        values = self.network(self.send(afterstates))[:, 0]
        mask = self.send(legal)
        found = self.send(rewards / np.float32(config.reward_scale)).masked_scatter(
            mask, values + self.send(rewards[legal] / np.float32(config.reward_scale))
        )
        wanted = self.send(np.where(legal, batch.q_values, -np.inf) / np.float32(config.reward_scale))
        loss = values.new_zeros(())
        if config.vf_coef:
            loss = loss + config.vf_coef * self.error(found[mask], wanted[mask])
        if config.temperature:
            scale = config.reward_scale / config.temperature
            log_policy = F.log_softmax(found * scale, dim=1).masked_fill(~mask, 0.0)
            target = F.softmax(wanted * scale, dim=1)
            loss = loss - (target * log_policy).sum(dim=1).mean()
        return loss, found.argmax(dim=1) == self.send(batch.actions.astype(np.int64))

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return {f"buffer.{name}": array for name, array in self.buffer._asdict().items()}

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        return {**super().tensors(), **self.source.tensors()}

    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint."""
        return {**super().counters(), **self.source.counters()}

    def _restore_rest(self, tensors: Tensors, counters: Counters) -> None:
        buffer = self.buffer
        check_that_sound(self.game.are_sound(buffer.cells, buffer.extra).all(), "the buffer has impossible states")
        sound = (buffer.actions < 4).all() and not np.isnan(buffer.q_values).any()
        check_that_sound(sound, "the buffer has impossible labels")
        self.source.restore(tensors, counters)
