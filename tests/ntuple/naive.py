"""A network read slowly and plainly: a grid of codes is turned and mirrored, and tuples are looked up cell by cell.

Shared with the package are the shape of a network (its tuples and features are data) and the order of its tables.
"""

from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.threes import Threes
from tilewright.ntuple.patterns import NTupleArchitecture

Codes = tuple[tuple[int, ...], ...]

TABLE_SIZES = {
    "large_tiles": 8**5,
    "empty_cells": 17,
    "distinct_tiles": 16,
    "mergeable_pairs": 25,
    "neighbouring_pairs": 25,
    "hint": 5,
    "middle_tiles": 4**6,
    "merge_counts": 17 * 25 * 25,
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


def tuple_index(codes: Codes, cells: str, alphabet: int = 16) -> int:
    """Bit 3 of all codes in board order, then bit 2 of all, bit 1, bit 0: the digits of a binary number.

    With fewer than 15 tiles: the halves of all codes, then all the remainders, as digits of a mixed number.
    """
    in_order = [codes[cell // 4][cell % 4] for cell in sorted(int(digit, 16) for digit in cells)]
    if alphabet >= 15:
        return int("".join(str(code >> bit & 1) for bit in (3, 2, 1, 0) for code in in_order), 2)
    index = 0
    for code in in_order:
        index = index * ((alphabet + 1) // 2) + code // 2
    for code in in_order:
        index = index * 2 + code % 2
    return index


def table_size(cells: str, alphabet: int) -> int:
    """An even number of tiles for each cell; 16 for 15."""
    size: int = (2 * ((alphabet + 1) // 2)) ** len(cells)
    return size


def within(codes: Codes, alphabet: int) -> Codes:
    """Downgraded; in small alphabets, tiles that are still too large are read as the largest one."""
    seen = downgraded(codes, alphabet - 1)
    return seen if alphabet >= 15 else tuple(tuple(min(code, alphabet - 1) for code in row) for row in seen)


def merge(game: Game, one: int, other: int) -> bool:
    """The rule of the game: equal tiles in 2048; in Threes 1 and 2, and equal tiles from 3 on below the largest."""
    if not one or not other:
        return False
    if isinstance(game, Threes):
        return {one, other} == {1, 2} or (one == other >= 3 and game.tile_values[one] < game.max_tile)
    return one == other


def doubled(game: Game, one: int, other: int) -> bool:
    """Whether one tile is v and the other 2v, where two of v merge: not 1 and 2 of Threes, which merge themselves."""
    small, large = sorted((one, other))
    return small > 0 and merge(game, small, small) and game.tile_values[large] == 2 * game.tile_values[small]


def feature_index(game: Game, name: str, codes: Codes, hint: int) -> int:
    """Counted tile by tile; `hint` is 0 to 3, or more for a bonus."""
    flat = [code for row in codes for code in row]
    neighbours = [pair for lines in (codes, transposed(codes)) for line in lines for pair in pairwise(line)]
    merging = sum(merge(game, *pair) for pair in neighbours)
    doubling = sum(doubled(game, *pair) for pair in neighbours)
    indices: dict[str, int] = {
        "large_tiles": sum(min(flat.count(11 + i), 7) * (1 << 3 * i) for i in range(5)),
        "empty_cells": flat.count(0),
        "distinct_tiles": len(set(flat) - {0}),
        "mergeable_pairs": merging,
        "neighbouring_pairs": doubling,
        "hint": min(hint, 4),
        "middle_tiles": sum(min(flat.count(9 + i), 3) * 4**i for i in range(6)),
        "merge_counts": flat.count(0) * 625 + merging * 25 + doubling,
    }
    return indices[name]


def places_of_codes(shape: NTupleArchitecture, game: Game, codes: Codes, hint: int = 0) -> list[int]:
    """Where the weights are: image by image, tuple by tuple, then the features; those for all hints are neighbours."""
    found = []
    hints, own = (5, min(hint, 4)) if shape.by_hint else (1, 0)
    images = symmetric_images(codes) if shape.symmetric else [codes]
    for symmetry in images:
        offset = 0
        for cells in shape.tuples:
            found.append(offset + hints * tuple_index(symmetry, cells, shape.alphabet) + own)
            offset += hints * table_size(cells, shape.alphabet)
    for name in shape.features:
        found.append(offset + feature_index(game, name, codes, hint))
        offset += TABLE_SIZES[name]
    for symmetry in images:
        begin = offset
        for cells in shape.hint_tuples:
            found.append(begin + 5 * tuple_index(symmetry, cells) + min(hint, 4))
            begin += 5 * 16 ** len(cells)
    return found


def indices(shape: NTupleArchitecture, board: Board) -> list[int]:
    """The same for a board of the package, whose tiles may be too large for the network."""
    if board.game.name == "2048":
        return places_of_codes(shape, board.game, within(board.codes, shape.alphabet))
    return places_of_codes(shape, board.game, board.codes, int(board.state.extra) & 15)


def value(shape: NTupleArchitecture, weights: NDArray[Any], board: Board) -> float:
    return float(sum(float(weights[index]) for index in indices(shape, board)))
