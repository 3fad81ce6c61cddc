"""Solve a game exactly: enumerate its layers upwards, then compute their values downwards."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from tilewright._core.files import Array
from tilewright._core.outputs import check_output
from tilewright._core.parallel import check_threads, default_threads
from tilewright._core.text import excerpt
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.exact.endgame import PREFIX, endgame_problem
from tilewright.exact.estimate import Estimate, check_fits, estimate
from tilewright.exact.kernels import Keys, Values, afterstate_values, state_values
from tilewright.exact.layers import (
    NO_KEYS,
    FirstBoards,
    count_layer,
    first_boards,
    for_blocks,
    moved_states,
    next_states,
)
from tilewright.exact.problem import Problem, as_twenty48
from tilewright.exact.table import ExactTable, load_table, write_table
from tilewright.exact.work_folder import Layers, open_layers, remove_layers
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["Progress", "ProgressFunction", "make_problem", "solve", "solve_problem"]

NO_VALUES = np.empty(0)
_FORWARD = 0.4  # the part of the time that enumeration takes


@dataclass(frozen=True)
class Progress:
    """How far the work is.

    Attributes:
        done: How much of it is done, from 0 to 1; an estimate while the states are still being counted.
        states: The number of canonical states: those found, or those whose values are known.
        total: The number of all of them: estimated, or known.
        is_counting: Whether states are still being enumerated.
        seconds: The time it took.
    """

    done: float
    states: int
    total: int
    is_counting: bool
    seconds: float


ProgressFunction: TypeAlias = Callable[[Progress], None]


def make_problem(game: Game | str, goal: int | None = None) -> Problem:
    """Return the problem of a game and a goal, or of an endgame, as `endgame:L3-256`.

    Raises:
        UsageError: It cannot be solved.
    """
    if isinstance(game, str) and game.startswith(PREFIX):
        if goal is not None:
            raise UsageError(f"goal={excerpt(goal)}: an endgame names its tile itself, such as {PREFIX}L3-256")
        return endgame_problem(game)
    return Problem(as_twenty48(make_game(game)), goal)


def solve(
    game: Game | str = "2048:rows=3,columns=3",
    *,
    goal: int | None = None,
    out: Path | str | None = None,
    threads: int | None = None,
    progress: ProgressFunction | None = None,
) -> ExactTable:
    """Solve a game of 2048 exactly: the best move and its value for every board that can be reached.

    Without a goal, values are expected further scores; with one, probabilities of making that tile. Values are computed
    in 64 bits with the exact probability of a 4. Equal problems give equal bits with any number of threads.

    >>> table = solve("2048:rows=2,columns=3")
    >>> round(table.value, 4), table.canonical_states
    (480.2583, 21752)

    Args:
        game: A game, its spec, or an endgame, such as `endgame:L3-256` (see `exact.endgame`).
        goal: The tile to make; None for the expected score.
        out: The file to write the table to. Finished layers are kept in a folder beside it until the table is written,
            so that the same call continues after an interruption; if the file already is that table, it is read.
        threads: The number of threads; None for all processors.
        progress: Called after every layer.

    Raises:
        UsageError: The problem cannot be solved, or is too large for the memory or the disk of this machine.
        FileError: A file cannot be written.
    """
    return solve_problem(make_problem(game, goal), out=out, threads=threads, progress=progress)


def solve_problem(
    problem: Problem,
    *,
    out: Path | str | None = None,
    threads: int | None = None,
    progress: ProgressFunction | None = None,
) -> ExactTable:
    """Solve a problem; see `solve`."""
    threads = default_threads() if threads is None else threads
    check_threads(threads)
    if out is not None and not isinstance(out, str | Path):
        raise UsageError(f"out={excerpt(out)}: must be a path")
    out = None if out is None else Path(out)
    if out is not None and check_output(out).exists():
        return _finished_before(problem, out)
    needs = estimate(problem, threads)
    check_fits(problem, needs, out)
    with open_layers(out, problem.to_metadata()) as layers:
        return _Solver(problem, layers, threads, needs, progress).run(out)


def _finished_before(problem: Problem, out: Path) -> ExactTable:
    """Return the table that is in the output file already."""
    try:
        table = load_table(out)
    except FileError as error:
        raise FileError(f"{error}; it will not be overwritten: delete it, or choose another output file") from None
    if table.problem.to_metadata() != problem.to_metadata():
        raise FileError(f"{out}: is a table of {table.problem.title}; choose another output file")
    remove_layers(out)
    return table


class _Solver:
    """One problem under way. The sums of the layers go up in steps of 2, from the smallest first board."""

    def __init__(
        self, problem: Problem, layers: Layers, threads: int, needs: Estimate, progress: ProgressFunction | None
    ) -> None:
        self.problem, self.space, self.layers, self.threads = problem, problem.space, layers, threads
        self._first: FirstBoards = first_boards(problem.space, problem.game.start_tiles)
        self._expected = max(1, round(needs.canonical_states))
        self._progress = progress
        self._began = time.perf_counter() - layers.seconds
        self._found = 0  # states
        self._solved = 0  # states

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def run(self, out: Path | None) -> ExactTable:
        try:
            sums = self._enumerate()
            value = self._induce(sums)
        except KeyboardInterrupt:
            self.layers.save(self.seconds, now=True)
            raise
        return self._make_table(sums, value, out)

    def _enumerate(self) -> list[int]:
        """Find all layers; returns their sums in order."""
        lowest, last_first = int(self._first.sums.min()), int(self._first.sums.max())
        sums = []
        total = lowest
        while total <= last_first or any(len(self._afterstates(total - below)) for below in (2, 4)):
            if ("afterstates", total) not in self.layers:
                first = self._first.with_sum(total)
                below = self._afterstates(total - 2), self._afterstates(total - 4)
                states = next_states(self.space, *below, first, self.threads)
                counts = count_layer(self.space, states, self.threads)
                self.layers["counts", total] = np.array([total, counts.canonical, counts.live, counts.boards])
                self.layers["states", total] = states
                self.layers["afterstates", total] = moved_states(self.space, states, self.threads)
                self.layers.save(self.seconds)
            self._found += len(self.layers["states", total])
            sums.append(total)
            self._report(is_counting=True)
            total += 2
        return sums

    def _afterstates(self, total: int) -> Keys:
        return self.layers.get(("afterstates", total), NO_KEYS)

    def _induce(self, sums: list[int]) -> float:
        """Compute the values of all afterstates; returns the value of the game."""
        value = 0.0
        above: dict[int, Values] = {}  # the values of the states of the two layers above
        for total in reversed(sums):
            if ("values", total) not in self.layers:
                self.layers["values", total] = self._afterstate_values(total, above)
                self.layers.save(self.seconds)
            needed = ("values", total - 2) not in self.layers or ("values", total - 4) not in self.layers
            first = self._first.sums == total
            if needed or first.any():
                above[total] = self._state_values(total)
                above.pop(total + 4, None)
            if first.any():
                places = np.searchsorted(self.layers["states", total], self._first.keys[first])
                value += float(self._first.chances[first] @ above[total][places])
            self._solved += len(self.layers["states", total])
            self._report(is_counting=False)
        return value if self.problem.is_score else min(value, 1.0)

    def _afterstate_values(self, total: int, above: dict[int, Values]) -> Values:
        keys = self.layers["afterstates", total]
        into = np.empty(len(keys))
        (twos, of_twos), (fours, of_fours) = (
            (self.layers["states", higher], above[higher]) if higher in above else (NO_KEYS, NO_VALUES)
            for higher in (total + 2, total + 4)
        )

        def work(begin: int, end: int) -> None:
            some, result = keys[begin:end], into[begin:end]
            _check_complete(afterstate_values(self.space, some, twos, of_twos, fours, of_fours, result))

        for_blocks(work, len(keys), self.threads)
        return into

    def _state_values(self, total: int) -> Values:
        states, keys = self.layers["states", total], self.layers["afterstates", total]
        values = self.layers["values", total]
        into = np.empty(len(states))

        def work(begin: int, end: int) -> None:
            _check_complete(state_values(self.space, states[begin:end], keys, values, into[begin:end]))

        for_blocks(work, len(states), self.threads)
        return into

    def _make_table(self, sums: list[int], value: float, out: Path | None) -> ExactTable:
        sizes = np.array([self.layers["counts", total] for total in sums])
        canonical, live, boards = (int(column.sum()) for column in sizes.T[1:])
        offsets = np.zeros(sums[-1] // 2 + 2, np.int64)
        for total in sums:
            offsets[total // 2 + 1] = len(self.layers["afterstates", total])
        offsets = np.cumsum(offsets)
        keys = [self.layers["afterstates", total] for total in sums]
        values = [self.layers["values", total] for total in sums]
        layer_sizes = np.ascontiguousarray(sizes[:, :3])
        if out is None:
            return ExactTable(
                self.problem,
                value,
                boards,
                canonical,
                live,
                self.seconds,
                None,
                np.concatenate(keys),
                np.concatenate(values),
                offsets,
                layer_sizes,
            )
        counts = {"states": str(boards), "canonical_states": str(canonical), "live_states": str(live)}
        arrays: dict[str, Array | list[Array]] = {"keys": keys, "values": values}
        arrays |= {"offsets": offsets, "layer_sizes": layer_sizes}
        return write_table(out, self.problem, arrays, counts, value, self.seconds)

    def _report(self, *, is_counting: bool) -> None:
        if self._progress is None:
            return
        if is_counting:
            total = max(self._expected, self._found)
            self._progress(Progress(_FORWARD * self._found / total, self._found, total, True, self.seconds))
        else:
            done = _FORWARD + (1 - _FORWARD) * self._solved / max(1, self._found)
            self._progress(Progress(done, self._solved, self._found, False, self.seconds))


def _check_complete(missing: int) -> None:
    if missing:
        raise TilewrightError(f"the layers are not complete: {missing} boards are missing; delete the working folder")
