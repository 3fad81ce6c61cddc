"""A network read slowly and plainly: a grid of codes is turned and mirrored, and tuples are looked up cell by cell.

Shared with the package are the shape of a network (its tuples and features are data) and the order of its tables.
"""

from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from tilewright.games.board import Board
from tilewright.ntuple.patterns import NTupleArchitecture

Codes = tuple[tuple[int, ...], ...]

TABLE_SIZES = {
    "large_tiles": 8**5,
    "empty_cells": 17,
    "distinct_tiles": 16,
    "mergeable_pairs": 25,
    "neighbouring_pairs": 25,
    "hint": 5,
}


def mirrored(codes: Codes) -> Codes:
    return tuple(row[::-1] for row in codes)


def flipped(codes: Codes) -> Codes:
    return codes[::-1]


def transposed(codes: Codes) -> Codes:
    return tuple(zip(*codes, strict=True))


def symmetric_images(codes: Codes) -> list[Codes]:
    """Eight images of a square board, four of any other, some of them perhaps equal; the board itself is first."""
    square = len(codes) == len(codes[0])
    return [
        symmetry
        for orient in ([codes, transposed(codes)] if square else [codes])
        for symmetry in (orient, mirrored(orient), flipped(orient), flipped(mirrored(orient)))
    ]


def downgraded(codes: Codes, largest_code: int) -> Codes:
    """While a tile is too large, every tile above the largest missing one is halved, if one is missing."""
    while max(map(max, codes)) > largest_code:
        present = {code for row in codes for code in row}
        missing = next((code for code in range(max(present), 0, -1) if code not in present), None)
        if missing is None:
            break
        codes = tuple(tuple(code - 1 if code > missing else code for code in row) for row in codes)
    return codes


def tuple_index(codes: Codes, cells: str) -> int:
    """Bit 3 of all codes in board order, then bit 2 of all, bit 1, bit 0: the digits of a binary number."""
    in_order = [codes[cell // 4][cell % 4] for cell in sorted(int(digit, 16) for digit in cells)]
    return int("".join(str(code >> bit & 1) for bit in (3, 2, 1, 0) for code in in_order), 2)


def feature_index(name: str, codes: Codes, hint: int) -> int:
    """Counted tile by tile; `hint` is 0 to 3, or more for a bonus."""
    flat = [code for row in codes for code in row]
    neighbours = [pair for lines in (codes, transposed(codes)) for line in lines for pair in pairwise(line)]
    steps_apart = [abs(one - other) for one, other in neighbours if one and other]
    indices = {
        "large_tiles": sum(min(flat.count(11 + i), 7) * (1 << 3 * i) for i in range(5)),
        "empty_cells": flat.count(0),
        "distinct_tiles": len(set(flat) - {0}),
        "mergeable_pairs": steps_apart.count(0),
        "neighbouring_pairs": steps_apart.count(1),
        "hint": min(hint, 4),
    }
    return indices[name]


def places_of_codes(shape: NTupleArchitecture, codes: Codes, hint: int = 0) -> list[int]:
    """Where the weights are: image by image, tuple by tuple, then the features; those for all hints are neighbours."""
    found = []
    hints, own = (5, min(hint, 4)) if shape.by_hint else (1, 0)
    for symmetry in symmetric_images(codes) if shape.symmetric else [codes]:
        offset = 0
        for cells in shape.tuples:
            found.append(offset + hints * tuple_index(symmetry, cells) + own)
            offset += hints * 16 ** len(cells)
    for name in shape.features:
        found.append(offset + feature_index(name, codes, hint))
        offset += TABLE_SIZES[name]
    return found


def indices(shape: NTupleArchitecture, board: Board) -> list[int]:
    """The same for a board of the package, whose tiles may be too large for the network."""
    if board.game.name == "2048":
        return places_of_codes(shape, downgraded(board.codes, shape.alphabet - 1))
    return places_of_codes(shape, board.codes, int(board.state.extra) & 15)


def value(shape: NTupleArchitecture, weights: NDArray[Any], board: Board) -> float:
    return float(sum(float(weights[index]) for index in indices(shape, board)))
