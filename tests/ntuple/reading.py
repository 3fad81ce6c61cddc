"""The package's own reading of a network, board by board."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, kernel
from tilewright.games.board import Board
from tilewright.games.rules import Rules, State, typed_state
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.weights import Indices, WeightTables, state_value


@kernel
def _estimate_once(tables: WeightTables, rules: Rules, state: State, indices: Indices) -> Int:
    return state_value(tables, rules, state, indices, 0)


def read(
    shape: NTupleArchitecture, weights: NDArray[Any], board: Board, quantum: float = 1.0
) -> tuple[list[int], float]:
    """Where the weights of a board are, and its value."""
    game = board.game
    indices = np.zeros(shape.lookups(game), np.uint32)
    value = _estimate_once(shape.tables(game, weights, quantum), game.rules, typed_state(board.state), indices)
    return [int(index) for index in indices], float(value)
