"""Tables of exact values: one file each, mapped into memory.

A table has the value of every afterstate that can be reached. The value of a move is its reward and the value of its
afterstate, so four look-ups tell everything about a state.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tilewright._core.appending import PATIENCE, write_patiently
from tilewright._core.files import Array, read_tensors, write_tensors
from tilewright._core.jit import writable_view
from tilewright._core.outputs import FileKind, format_of
from tilewright._core.text import excerpt
from tilewright.errors import BoardError, FileError, SpecError, UsageError
from tilewright.exact.kernels import Keys, Values
from tilewright.exact.packing import pack_boards, unpack_boards
from tilewright.exact.policy import ExactPolicy, make_exact_policy
from tilewright.exact.problem import Problem, rules_spec
from tilewright.games.base import Game
from tilewright.games.board import Board, BoardLike
from tilewright.games.policy import act_one
from tilewright.games.rules import ACTIONS, typed_state
from tilewright.games.twenty48 import Twenty48
from tilewright.rng import new_stream

__all__ = ["ExactTable", "load_table"]

FORMAT = "tilewright exact table"
TABLE = FileKind("table of exact values", lambda head: format_of(head) == FORMAT)
VERSION, DISTILLED_VERSION = "1", "2"
_ROUNDING = 1e-9  # by which the sum of probabilities may exceed 1
_COUNTS = ("states", "canonical_states", "live_states")


@dataclass(frozen=True)
class ExactTable:
    """The exact values of a problem; made by `solve`, read by `load_table`.

    >>> table = solve("2048:rows=2,columns=2", goal=32)
    >>> round(table.value, 12)
    0.082887289072
    >>> {move: round(value, 6) for move, value in table.values("2 2 / 4 0").items()}
    {'right': 0.083752, 'down': 0.073611, 'left': 0.083752}

    Attributes:
        problem: What was solved.
        value: The value of a game, before its first tiles are drawn: the expectation over all first boards.
        states: The number of boards with a move to make, or without one, that can be reached; without those that have
            reached the goal.
        canonical_states: The same, symmetric boards counted once.
        live_states: Those of the canonical states that have a legal move.
        seconds: How long it took.
        path: The file of the table; None for one in memory.
        is_distilled: Whether the table has only the boards that players meet most (see `exact.distil`).
    """

    problem: Problem
    value: float
    states: int
    canonical_states: int
    live_states: int
    seconds: float
    path: Path | None
    keys: Keys = field(repr=False)
    afterstate_values: Values = field(repr=False)
    offsets: NDArray[np.int64] = field(repr=False)  # where the layer begins, by half the sum of its tiles
    layer_sizes: NDArray[np.int64] = field(repr=False)  # int64[layers, 3]: sum, canonical states, live states
    is_distilled: bool = False

    @property
    def game(self) -> Game:
        """The game."""
        return self.problem.game

    @property
    def unit(self) -> str:
        """What a value is, in words."""
        return self.problem.unit

    @property
    def bytes(self) -> int:
        """The size of the table."""
        arrays = (self.keys, self.afterstate_values, self.offsets, self.layer_sizes)
        return sum(array.nbytes for array in arrays) if self.path is None else self.path.stat().st_size

    def policy(self) -> ExactPolicy:
        """Return the policy that plays by the table, with a workspace for one thread."""
        return make_exact_policy(self.problem.space, self.keys, self.afterstate_values, self.offsets)

    def values(self, board: BoardLike) -> dict[str, float]:
        """Return the exact value of every legal move; empty when the game is over.

        A move that displaces a wall of an endgame has the value 0: the table does not know what follows.

        Raises:
            BoardError: The board cannot be reached in this game, so the table does not have it.
        """
        position = self.game.parse_position(board)
        policy = self.policy()
        act_one(policy, self.game.rules, typed_state(position.state), new_stream())
        return checked_values(policy, position, is_distilled=self.is_distilled)

    def value_of(self, board: BoardLike) -> float:
        """Return the exact value of a board: the value of its best move, 0 when the game is over.

        Raises:
            BoardError: The board cannot be reached in this game, so the table does not have it.
        """
        return max(self.values(board).values(), default=0.0)

    def check_plays(self, game: Game) -> None:
        """Raise SpecError unless the table is of this game."""
        own = self.problem
        if own.walls and type(game) is Twenty48:
            game = replace(game, start_tiles=own.game.start_tiles)  # an endgame has no first board
        if type(game) is not Twenty48 or rules_spec(game) != rules_spec(own.game):
            raise SpecError(f"{self.path or 'the table'}: is of {own.title}; it cannot play {game.spec}")

    def to_dict(self) -> dict[str, object]:
        """The facts about the table, as `solve --json` prints them."""
        problem = self.problem
        return {
            "game": problem.game.spec,
            "goal": problem.goal,
            "objective": "score" if problem.is_score else "probability",
            "unit": problem.unit,
            "value": self.value,
            **{name: getattr(self, name) for name in _COUNTS},
            "afterstates": len(self.keys),
            "distilled": self.is_distilled,
            "layers": len(self.layer_sizes),
            "seconds": self.seconds,
            "bytes": self.bytes,
            "file": None if self.path is None else str(self.path),
        }

    def save(self, path: Path | str) -> "ExactTable":
        """Write the table to a file, and return it as it is read from there."""
        facts = {name: str(getattr(self, name)) for name in _COUNTS}
        arrays: dict[str, Array | list[Array]] = {"layer_sizes": self.layer_sizes}
        if self.is_distilled:
            arrays["packed"] = pack_boards(self.problem.space, self.keys, self.afterstate_values)
            facts["boards"] = str(len(self.keys))
        else:
            arrays |= {"keys": self.keys, "values": self.afterstate_values, "offsets": self.offsets}
        return write_table(Path(path), self.problem, arrays, facts, self.value, self.seconds)


def checked_values(policy: ExactPolicy, board: Board, *, is_distilled: bool = False) -> dict[str, float]:
    """Return the values that a policy has found for a board.

    Raises:
        BoardError: The table does not have the board.
    """
    if np.isnan(policy.q_values).any():
        walls = "its large tiles are elsewhere, or " if policy.space.walls else ""
        why = "players seldom meet it" if is_distilled else "no game can reach this board"
        raise BoardError(f"{board.game.text(board)!r}: the table does not have it; {walls}{why}")
    found = {action: float(value) for action, value in zip(ACTIONS, policy.q_values, strict=True) if value > -np.inf}
    if policy.space.walls:
        return {action: found.get(action, 0.0) for action in board.game.legal(board)}
    return found


def write_table(
    path: Path,
    problem: Problem,
    arrays: Mapping[str, Array | list[Array]],
    counts: Mapping[str, str],
    value: float,
    seconds: float,
) -> ExactTable:
    """Write a table, and return it as it is read from the file."""
    facts = {"value": repr(value), "seconds": repr(seconds), **counts}
    version = DISTILLED_VERSION if "packed" in arrays else VERSION
    metadata = {"format": FORMAT, "version": version, **problem.to_metadata(), **facts}
    write_patiently(lambda: write_tensors(path, arrays, metadata, TABLE), lambda: PATIENCE)
    return load_table(path)


def load_table(path: Path | str) -> ExactTable:
    """Read a table that `solve` wrote; the file is checked, and mapped into memory.

    Raises:
        FileError: The file cannot be read, is damaged, or is not a table.
    """
    if not isinstance(path, str | Path):
        raise UsageError(f"{excerpt(path)} is not the path of a table")
    path = Path(path)
    arrays, metadata = read_tensors(path)
    if metadata.get("format") != FORMAT:
        raise FileError(f"{path}: not a table of exact values (see `solve`)")
    version = metadata.get("version")
    if version not in (VERSION, DISTILLED_VERSION):
        known = f"{VERSION} and {DISTILLED_VERSION}"
        raise FileError(f"{path}: a table of version {version}; this program reads versions {known}")
    try:
        problem, is_distilled = Problem.from_metadata(metadata), version == DISTILLED_VERSION
        keys, values, offsets = (
            _unpacked(problem, arrays["packed"], int(metadata["boards"]))
            if is_distilled
            else (arrays[name] for name in ("keys", "values", "offsets"))
        )
        table = ExactTable(
            problem=problem,
            value=float(metadata["value"]),
            states=int(metadata["states"]),
            canonical_states=int(metadata["canonical_states"]),
            live_states=int(metadata["live_states"]),
            seconds=float(metadata["seconds"]),
            path=path,
            keys=writable_view(keys),
            afterstate_values=writable_view(values),
            offsets=writable_view(offsets),
            layer_sizes=writable_view(arrays["layer_sizes"]),
            is_distilled=is_distilled,
        )
        _check_arrays(table)
    except (KeyError, ValueError) as error:
        raise FileError(f"{path}: a damaged table: {error}") from None
    return table


def _unpacked(problem: Problem, packed: Array, boards: int) -> tuple[Array, Array, Array]:
    """The arrays of a distilled table.

    Raises:
        ValueError: They are damaged.
    """
    if packed.dtype != np.uint8 or packed.ndim != 1 or boards < 1 or not problem.walls:
        raise ValueError("it is not a distilled table of an endgame")
    return unpack_boards(problem.space, packed, boards)


def _check_arrays(table: ExactTable) -> None:
    """Raise ValueError if a look-up could read outside the arrays, or if a number is none."""
    kinds = [(table.keys, "u8", 1), (table.afterstate_values, "f8", 1), (table.offsets, "i8", 1)]
    kinds.append((table.layer_sizes, "i8", 2))
    if any(array.dtype != np.dtype(kind) or array.ndim != dimensions for array, kind, dimensions in kinds):
        raise ValueError("an array has another type")
    offsets, size = table.offsets, len(table.keys)
    if len(table.afterstate_values) != size or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != size:
        raise ValueError("its arrays do not fit each other")
    if (np.diff(offsets) < 0).any():
        raise ValueError("its layers are not in order")
    if not size:
        raise ValueError("it has no boards")
    largest = sys.float_info.max if table.problem.is_score else 1 + _ROUNDING
    least, most = table.afterstate_values.min(), table.afterstate_values.max()  # NaN if one is
    if not (0 <= least <= most <= largest and 0 <= table.value <= largest and 0 <= table.seconds < math.inf):
        raise ValueError("a value is impossible")
