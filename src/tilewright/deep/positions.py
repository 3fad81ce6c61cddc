"""Labelled positions: where they come from, and compact files of them.

A source yields positions in the order of play, n at a time: a move in each of n games side by side. A file holds such a
sequence. It is read from front to back, and then again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.files import read_tensors, write_tensors
from tilewright._core.jit import Int, kernel, writable_view
from tilewright._core.memory import check_memory
from tilewright._core.outputs import FileKind, format_of
from tilewright.deep.checkpoint import Counters, Tensors, check_games, check_that_sound, read_counter, restore_array
from tilewright.deep.policy import GameBatch, make_game_batch
from tilewright.deep.teacher import Labels, Teacher
from tilewright.deep.vecenv import FinishedGame
from tilewright.errors import FileError, UsageError
from tilewright.games import make_known_game
from tilewright.games.base import Game
from tilewright.games.rules import ILLEGAL, Rules, State, largest, slide, spawn, start
from tilewright.rng import stream_for

__all__ = [
    "FORMAT",
    "LabelledGames",
    "PositionSource",
    "Positions",
    "StoredPositions",
    "make_positions",
    "write_positions",
]

FORMAT = "tilewright-positions-1"
POSITIONS = FileKind("file of labelled positions", lambda head: format_of(head) == FORMAT)
NO_GOAL = 1 << 30  # a code above those of all tiles
Words = NDArray[np.uint64]
Student: TypeAlias = Callable[[Words, Words], NDArray[np.int64]]  # the words of some states -> actions


class Positions(NamedTuple):
    """n positions with their labels."""

    cells: Words
    extra: Words
    actions: NDArray[np.uint8]  # uint8[n], the teacher's moves
    q_values: NDArray[np.float32]  # float32[n, 4], the teacher's values in points; float32[n, 0] if they are not kept

    def take(self, rows: NDArray[np.int64]) -> "Positions":
        """Return some of the positions."""
        return Positions(self.cells[rows], self.extra[rows], self.actions[rows], self.q_values[rows])

    def put(self, first: int, others: "Positions") -> None:
        """Overwrite the positions from number `first` on by others."""
        rows = slice(first, first + len(others.cells))
        self.cells[rows], self.extra[rows] = others.cells, others.extra
        self.actions[rows], self.q_values[rows] = others.actions, others.q_values


def make_positions(count: int, *, has_values: bool) -> Positions:
    """Return a number of positions, all zero."""
    return Positions(
        np.zeros(count, np.uint64),
        np.zeros(count, np.uint64),
        np.zeros(count, np.uint8),
        np.zeros((count, 4 if has_values else 0), np.float32),
    )


class PositionSource(ABC):
    """An endless sequence of labelled positions, whose state can be saved."""

    @abstractmethod
    def advance(self, student: Student | None = None) -> tuple[Positions, list[FinishedGame]]:
        """Return the next n positions, and the games that ended before them.

        Args:
            student: Chooses the moves of the games that the teacher does not play.
        """

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        return {}

    @abstractmethod
    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint."""

    @abstractmethod
    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint."""


@kernel
def find_ended(
    rules: Rules, games: GameBatch, actions: NDArray[np.int64], goal_code: Int, codes: NDArray[np.int64]
) -> None:
    """Find the games that are over or have reached a goal.

    Args:
        rules: The rules of the game.
        games: n games.
        actions: int64[n], -1 where no move is legal.
        goal_code: The code of the tile that ends a game.
        codes: int64[n], overwritten by the code of the largest tile where a game has ended, and by -1 elsewhere.
    """
    for i in range(len(actions)):
        code = largest(rules, State(games.cells[i], games.extra[i]))
        codes[i] = code if actions[i] < 0 or code >= goal_code else -1


@kernel
def restart_games(rules: Rules, games: GameBatch, indices: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
    """Replace some games by new ones, which continue their random streams; `games` and `scores` are updated."""
    for i in indices:
        state, scores[i] = start(rules, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra


@kernel
def move_games(rules: Rules, games: GameBatch, actions: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
    """Make a legal move in every game; `games` and `scores` are updated in place."""
    for i in range(len(actions)):
        after, reward = slide(rules, State(games.cells[i], games.extra[i]), actions[i])
        state, spawn_reward = spawn(rules, after, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        scores[i] += reward + spawn_reward


@kernel
def are_labels_sound(
    rules: Rules, cells: Words, extra: Words, actions: NDArray[np.uint8], q_values: NDArray[np.float32]
) -> bool:
    """Return whether every label is a legal move, and every legal move has a finite value.

    Args:
        rules: The rules of the game.
        cells: uint64[n], the first words of states that are sound.
        extra: uint64[n], their second words.
        actions: uint8[n], the labels, below 4.
        q_values: float32[n, 4], or float32[n, 0] without values.
    """
    for i in range(len(actions)):
        for action in range(4):
            is_legal = slide(rules, State(cells[i], extra[i]), action)[1] != ILLEGAL
            if action == actions[i] and not is_legal:
                return False
            if q_values.shape[1] and is_legal and not np.isfinite(q_values[i, action]):
                return False
    return True


class LabelledGames(PositionSource):
    """Games that are played and labelled now. The teacher plays some of them, a student the others.

    Attributes:
        teacher: The teacher.
        num_taught: The number of games that the teacher plays.
        has_values: Whether the values of the teacher are kept.
    """

    def __init__(
        self, teacher: Teacher, num_games: int, seed: int, *, num_taught: int, goal_tile: int = 0, has_values: bool
    ) -> None:
        """Start the games.

        Args:
            teacher: The teacher, which labels every position.
            num_games: The number of games side by side.
            seed: The seed of the games.
            num_taught: The number of games whose moves are the teacher's.
            goal_tile: A game ends when it reaches this tile; 0: only when no move is legal.
            has_values: Whether the values of the teacher are kept.
        """
        self.teacher, self.num_taught, self.has_values = teacher, num_taught, has_values
        self._goal_code = teacher.game.code(goal_tile) if goal_tile else NO_GOAL
        self._games, self._scores = make_game_batch(num_games), np.zeros(num_games, np.int64)
        for i in range(num_games):
            self._games.streams[i] = stream_for(seed, i)
        restart_games(teacher.game.rules, self._games, np.arange(num_games), self._scores)

    def advance(self, student: Student | None = None) -> tuple[Positions, list[FinishedGame]]:
        """Label the positions, then make a move in every game; see `PositionSource.advance`."""
        games, rules = self._games, self.teacher.game.rules
        labels, finished = self._label()
        cells, extra = games.cells.copy(), games.extra.copy()
        actions = labels.actions
        if student is not None and self.num_taught < len(actions):
            rest = slice(self.num_taught, None)
            actions = np.concatenate((actions[: self.num_taught], student(cells[rest], extra[rest])))
        move_games(rules, games, actions, self._scores)
        q_values = labels.q_values if self.has_values else labels.q_values[:, :0]
        return Positions(cells, extra, labels.actions.astype(np.uint8), q_values), finished

    def _label(self) -> tuple[Labels, list[FinishedGame]]:
        """Label the positions of all games; those that have ended are replaced first."""
        games, rules = self._games, self.teacher.game.rules
        labels = self.teacher.label(games.cells, games.extra)
        codes = np.empty(len(labels.actions), np.int64)
        find_ended(rules, games, labels.actions, self._goal_code, codes)
        ended = np.flatnonzero(codes >= 0)
        finished = [FinishedGame(int(self._scores[i]), int(codes[i])) for i in ended]
        if len(ended):
            restart_games(rules, games, ended, self._scores)
            again = self.teacher.label(games.cells[ended], games.extra[ended])
            labels.actions[ended], labels.q_values[ended] = again
        return labels, finished

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return {
            **{f"games.{name}": array for name, array in self._games._asdict().items()},
            "games.scores": self._scores,
            "teacher.stream": self.teacher.stream,
        }

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        return self._arrays()

    def counters(self) -> Mapping[str, object]:
        """Return nothing: the arrays are all there is."""
        return {}

    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint."""
        for name, array in self._arrays().items():
            restore_array(array, tensors, name)
        check_games(self.teacher.game, *self._games, self._scores)
        check_that_sound(self.teacher.stream.any(), "the teacher has no random stream")


class StoredPositions(PositionSource):
    """Positions that are read from a file, from front to back and then again.

    Attributes:
        positions: All positions of the file.
    """

    def __init__(self, path: Path, game: Game, teacher: str, count: int, *, has_values: bool) -> None:
        """Read a file.

        Args:
            path: The file.
            game: The game that the positions must belong to.
            teacher: The spec of the agent that must have labelled them.
            count: The number of positions of an `advance`.
            has_values: Whether the values of the teacher are needed.

        Raises:
            FileError: The file cannot be read, is damaged, or holds other positions.
        """
        tensors, metadata = read_tensors(path)
        if metadata.get("format") != FORMAT:
            raise FileError(
                f"{path}: no file of labelled positions: its format is {metadata.get('format', 'none')[:60]}"
            )
        try:
            found = make_known_game(metadata.get("game", "")).spec
        except UsageError as error:
            raise FileError(f"{path}: its game: {error}") from None
        for what, given, wanted in (("game", found, game.spec), ("teacher", metadata.get("teacher", ""), teacher)):
            if given != wanted:
                raise FileError(f"{path}: its {what} is {given[:100]}, not {wanted}")
        if has_values and "q_values" not in tensors:
            raise FileError(f"{path}: it has the teacher's moves only, not its values")
        self.positions, self._ends = _read_positions(path, game, tensors, has_values)
        self._count, self._next = count, 0

    def advance(self, student: Student | None = None) -> tuple[Positions, list[FinishedGame]]:
        """Return the next positions; see `PositionSource.advance`. There are no games for a student to play."""
        size = len(self.positions.cells)
        first, self._next = self._next, self._next + self._count
        rows = np.arange(first, self._next) % size
        finished: list[FinishedGame] = []
        for begin in range(first - first % size, self._next, size):
            ends = self._ends[(self._ends[:, 0] >= first - begin) & (self._ends[:, 0] < self._next - begin)]
            finished += [FinishedGame(score, code) for _, score, code in ends.tolist()]
        return self.positions.take(rows), finished

    def counters(self) -> Mapping[str, object]:
        """Return how far the file was read."""
        return {"next_position": self._next}

    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint."""
        self._next = read_counter(counters, "next_position")


def _read_positions(path: Path, game: Game, tensors: Tensors, has_values: bool) -> tuple[Positions, NDArray[np.int64]]:
    """Return the positions and the ends of the games of a file whose content is sound."""
    try:
        cells, actions, ends = tensors["cells"], tensors["actions"], tensors["ends"]
        n = len(cells)
        extra = tensors.get("extra", np.zeros(n, np.uint64))
        q_values = tensors["q_values"] if has_values else np.zeros((n, 0), np.float32)
    except (KeyError, TypeError):
        raise FileError(f"{path}: an array is missing") from None
    wanted = {
        "cells": (cells, np.uint64, (n,)),
        "extra": (extra, np.uint64, (n,)),
        "actions": (actions, np.uint8, (n,)),
        "q_values": (q_values, np.float32, (n, 4 if has_values else 0)),
        "ends": (ends, np.int64, (len(ends), 3)),
    }
    for name, (array, dtype, shape) in wanted.items():
        if array.dtype != dtype or array.shape != shape or not n:
            raise FileError(f"{path}: the array {name} is damaged")
    positions = Positions(cells, extra, actions, q_values)  # type: ignore[arg-type]
    sound = bool(game.are_sound(positions.cells, positions.extra).all() and (positions.actions < 4).all())
    sound = sound and are_labels_sound(
        game.rules,
        writable_view(positions.cells),
        writable_view(positions.extra),
        writable_view(positions.actions),
        writable_view(positions.q_values),
    )
    sound = sound and bool((positions.q_values < np.inf).all())
    codes = len(game.tile_values)
    sound = sound and bool(((ends >= 0) & (ends < [n, 1 << 60, codes])).all())  # type: ignore[operator]
    if not sound:
        raise FileError(f"{path}: it holds positions or labels that are impossible in {game.spec}")
    return positions, np.array(ends, np.int64)


def write_positions(path: Path, source: LabelledGames, count: int) -> None:
    """Write at least `count` positions to a file of 9 bytes a position, 25 with values.

    The second word of the states is left out where it is always 0, as in 2048 below 65536.

    Args:
        path: The file.
        source: Where the positions come from; it is advanced.
        count: The number of positions.

    Raises:
        FileError: The file cannot be written.
        UsageError: There is not enough memory.
    """
    check_memory(2 * count * (33 if source.has_values else 17), f"a file of {count:,} labelled positions")
    parts: list[Positions] = []
    ends: list[tuple[int, int, int]] = []
    done = 0
    while done < count:
        positions, finished = source.advance()
        ends += [(done, game.score, game.largest_code) for game in finished]
        parts.append(positions)
        done += len(positions.cells)
    tensors = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in Positions._fields
        if any(getattr(part, name).any() for part in parts) or name in ("cells", "actions")
    }
    tensors["ends"] = np.array(ends, np.int64).reshape(-1, 3)
    metadata = {"format": FORMAT, "game": source.teacher.game.spec, "teacher": source.teacher.agent.spec}
    write_tensors(path, tensors, metadata, POSITIONS)
