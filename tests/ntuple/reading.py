"""The package's own reading of a network, board by board."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.games.board import Board
from tilewright.games.state_kernels import typed_state
from tilewright.games.rules import Rules, State
from tilewright._core.jit import Int, kernel
from tilewright.ntuple.patterns import NetworkShape
from tilewright.ntuple.weights import Places, Tables, estimate


@kernel
def _estimate_once(tables: Tables, rules: Rules, state: State, places: Places) -> Int:
    return estimate(tables, rules, state, places, 0)


def read(shape: NetworkShape, weights: NDArray[Any], board: Board, unit: float = 1.0) -> tuple[list[int], float]:
    """Where the weights of a board are, and its value."""
    game = board.game
    places = np.zeros(shape.lookups(game), np.uint32)
    value = _estimate_once(shape.tables(game, weights, unit), game.rules, typed_state(board.state), places)
    return [int(place) for place in places], float(value)
