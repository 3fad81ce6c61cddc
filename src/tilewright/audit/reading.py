"""How an engine shows its boards and numbers its moves: found out by playing."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.audit.engines import Engine, Shown, View
from tilewright.audit.rules import ALL_RULES, Tiles, added_tiles, slide
from tilewright.errors import UsageError
from tilewright.games.rules import ACTIONS

__all__ = ["Reading", "learn_to_read"]

_MOVES = 400  # that are played to find out
_MOVES_A_GAME = 40  # an engine may get stuck without an end
_MIN_EXPLAINED = 0.5  # the smallest part of them that must be moves of 2048


@dataclass(frozen=True)
class Reading:
    """How to read an engine.

    Attributes:
        encoding: The form of its boards: tile values, exponents or planes.
        directions: The direction of each action.
        decode: Turns what it shows into tile values.
    """

    encoding: str
    directions: tuple[str, ...]
    decode: Callable[[Shown], Tiles]

    def tiles(self, view: View) -> Tiles:
        """Read a board."""
        return self.decode(view.board)


def learn_to_read(engine: Engine, seed: int) -> Reading:
    """Play some random moves, and find the encoding of the boards and the direction of each action.

    A direction is found by majority: an engine that slides wrongly on some boards is still understood.

    Raises:
        UsageError: What the engine shows cannot be read as boards of 2048.
    """
    arrays, played, errors = _play(engine, seed)
    encoding, decode = _find_encoding(arrays)
    votes: Counter[tuple[int, str]] = Counter()
    changed = 0
    for before, action, after in played:
        old, new = decode(before), decode(after)
        changed += old != new
        votes.update((action, direction) for direction in ACTIONS if old != new and _explains(old, direction, new))
    best = max(itertools.permutations(ACTIONS), key=lambda order: sum(votes[pair] for pair in enumerate(order)))
    explained = sum(votes[pair] for pair in enumerate(best))
    if errors and not changed:
        raise UsageError(f"the engine cannot be played with actions from 0 to 3: {errors[0]}")
    if explained < _MIN_EXPLAINED * changed or not changed:
        raise UsageError(
            f"only {explained} of {changed} changes of the board are moves of 2048: what the engine "
            f"shows cannot be read as boards ({encoding})"
        )
    return Reading(encoding, best, decode)


def _play(engine: Engine, seed: int) -> tuple[list[Shown], list[tuple[Shown, int, Shown]], list[str]]:
    """Make random moves; return the arrays, the steps, and the errors that actions raised, as illegal ones may."""
    errors: list[str] = []
    choices = np.random.default_rng(seed)
    game, played = seed, []
    view = engine.reset(game)
    arrays = [view.board.copy()]
    for number in range(_MOVES):
        allowed = [action for action in range(4) if view.legal is None or view.legal[action]] or list(range(4))
        action = int(choices.choice(allowed))
        before = view.board.copy()
        try:
            view, _ = engine.step(action)
        except Exception as error:  # noqa: BLE001  (whatever an engine raises)
            errors.append(f"{type(error).__name__}: {error}".partition("\n")[0])
            continue
        arrays.append(view.board.copy())
        played.append((before, action, arrays[-1]))
        if view.over or view.truncated or number % _MOVES_A_GAME == 0:
            game += 1
            view = engine.reset(game)
    return arrays, played, errors


def _explains(before: Tiles, direction: str, after: Tiles) -> bool:
    """Whether a board follows from a move by the right rules or by usual wrong ones, and at most two new tiles."""
    for rule in ALL_RULES:
        moved, _ = slide(before, direction, rule)
        added = added_tiles(moved, after)
        if moved != before and added is not None and len(added) <= 2:
            return True
    return False


def _find_encoding(arrays: list[Shown]) -> tuple[str, Callable[[Shown], Tiles]]:
    shape = arrays[0].shape
    if len(shape) == 3:
        return _planes(arrays, shape)
    side = int(np.sqrt(arrays[0].size))
    if len(shape) == 2 and min(shape) >= 2:
        board_shape = shape
    elif side * side == arrays[0].size and side >= 2:
        board_shape = (side, side)
    else:
        raise UsageError(f"observations of the shape {shape} are not boards that can be read")
    seen = {float(number) for array in arrays for number in array.reshape(-1)}
    if any(number < 0 or number != int(number) for number in seen):
        raise UsageError("the observations contain numbers that are neither tiles nor exponents")
    if seen & {1.0, 3.0, 5.0}:
        return "exponents", lambda array: _to_tiles(array.reshape(board_shape), lambda code: 2**code if code else 0)
    return "tile values", lambda array: _to_tiles(array.reshape(board_shape), lambda tile: tile)


def _planes(arrays: list[Shown], shape: tuple[int, ...]) -> tuple[str, Callable[[Shown], Tiles]]:
    """Planes of zeros and ones, along the longest axis."""
    axis = int(np.argmax(shape))
    sums = np.stack([array.sum(axis=axis) for array in arrays])
    if not (sums <= 1).all() or (sums.min() == sums.max() == 0):
        raise UsageError(f"observations of the shape {shape} are not planes of zeros and ones")
    has_empty_plane = bool((sums == 1).all())

    def decode(array: Shown) -> Tiles:
        codes = array.argmax(axis=axis) + (0 if has_empty_plane else array.max(axis=axis))
        return _to_tiles(codes, lambda code: 2**code if code else 0)

    return f"planes of zeros and ones, {'x'.join(map(str, shape))}", decode


def _to_tiles(array: Shown, value: Callable[[int], int]) -> Tiles:
    return tuple(tuple(value(int(number)) for number in row) for row in array)
