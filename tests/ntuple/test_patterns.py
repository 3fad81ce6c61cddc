"""Networks as data: the named ones, what is refused, and how they print."""

import re

import pytest

from tilewright import SpecError, make_game
from tilewright.ntuple.patterns import NETWORKS, NTupleArchitecture, find_network

YEH = {"012345", "456789", "012456", "45689a"}
# name: tuples, weights as the papers count them, look-ups on a 4x4 board
FACTS = {
    "szubert-small": (17, 860_625, 17),
    "szubert-large": (4, 22_882_500, 32),
    "4x6": (4, 4 * 16**6, 32),
    "5x6": (5, 5 * 16**6, 40),
    "8x6": (8, 8 * 16**6, 64),
    "yeh": (4, 4 * 16**6 + 8**5, 33),
    "yeh-tuned": (4, 4 * 16**6 + 8**5 + 17 + 16 + 25 + 25, 37),
    "yeh-threes": (4, 4 * 16**6 + 8**5 + 5, 34),
    "yeh-threes-tuned": (4, 4 * 16**6 + 8**5 + 5 + 17 + 16 + 25 + 25, 38),
    "yeh-threes-program": (4, 4 * 16**6 + 4**6 + 17 * 25 * 25 + 5 * 16**5, 42),
    "4x6-by-hint": (4, 5 * 4 * 16**6 + 8**5, 33),
    "8x6-by-hint": (8, 5 * 8 * 16**6 + 8**5, 65),
    "2x4": (2, 2 * 16**4, 16),
}


def test_the_facts_below_are_of_all_named_networks() -> None:
    assert set(FACTS) == set(NETWORKS)


@pytest.mark.parametrize("name", FACTS)
def test_a_named_network_has_the_size_its_paper_says(name: str) -> None:
    shape = find_network(name)
    game = make_game("threes" if shape.by_hint or shape.hint_tuples else "2048")
    assert (len(shape.tuples), shape.weight_count(), shape.lookups(game)) == FACTS[name]
    shape.check_fits(game)


def test_the_networks_of_yeh_share_their_tuples() -> None:
    assert all(
        set(NETWORKS[name].tuples) == YEH for name in ("4x6", "yeh", "yeh-tuned", "yeh-threes", "yeh-threes-program")
    )
    assert set(NETWORKS["5x6"].tuples) == YEH | {"89abcd"}


def test_the_small_network_of_szubert_is_every_row_column_and_square() -> None:
    shape = find_network("szubert-small")
    assert not shape.symmetric
    assert set(shape.tuples) == {
        *("0123", "4567", "89ab", "cdef", "048c", "159d", "26ae", "37bf"),
        *("0145", "1256", "2367", "4589", "569a", "67ab", "89cd", "9ade", "abef"),
    }


def test_tables_have_room_for_an_even_number_of_tiles() -> None:
    for alphabet, stored in ((8, 8), (9, 10), (10, 10), (11, 12), (12, 12), (13, 14), (14, 14), (15, 16), (16, 16)):
        shape = NTupleArchitecture(("0123", "01"), alphabet=alphabet, stages=("2048",), features=("hint",))
        assert shape.table_size == 2 * (stored**4 + stored**2 + 5)
        assert shape.weight_count() == 2 * (alphabet**4 + alphabet**2 + 5)


def test_eight_cells_of_twelve_tiles_are_a_table() -> None:
    assert NTupleArchitecture(("01234567",) * 9, alphabet=12).table_size == 9 * 12**8
    with pytest.raises(SpecError, match="a network of 4,299,816,960 weights is too large"):
        NTupleArchitecture(("01234567",) * 10, alphabet=12)


def test_a_network_of_fewer_tiles_says_so() -> None:
    assert str(NTupleArchitecture(("0123",), alphabet=12)).endswith(
        "1 tuples, symmetric, alphabet 12: 20,736 weights, 0.1 MiB"
    )


@pytest.mark.parametrize("alphabet", [8, 12, 14])
def test_a_game_without_downgrading_needs_all_its_tiles(alphabet: int) -> None:
    threes = make_game("threes")
    with pytest.raises(SpecError, match=f"alphabet={alphabet}: boards of threes cannot be downgraded; its tiles need"):
        NTupleArchitecture(("0123",), alphabet=alphabet).check_fits(threes)
    NTupleArchitecture(("0123",), alphabet=15).check_fits(threes)


def test_tables_of_15_tiles_take_four_bits_a_cell() -> None:
    assert NTupleArchitecture(("0123", "01"), alphabet=15).table_size == 16**4 + 16**2
    assert NTupleArchitecture(("0123", "01"), alphabet=15).weight_count() == 15**4 + 15**2
    assert NTupleArchitecture(("01",), features=("empty_cells", "hint")).table_size == 16**2 + 17 + 5


@pytest.mark.parametrize(
    ("board", "symmetric", "symmetries"),
    [("4,4", True, 8), ("3,3", True, 8), ("2,3", True, 4), ("4,3", True, 4), ("4,4", False, 1), ("2,4", False, 1)],
)
def test_lookups_are_tuples_in_every_image_and_one_a_feature(board: str, symmetric: bool, symmetries: int) -> None:
    rows, columns = board.split(",")
    game = make_game(f"2048:rows={rows},columns={columns}")
    shape = NTupleArchitecture(("01", "45", "014"), symmetric, features=("empty_cells", "mergeable_pairs"))
    assert shape.symmetry_count(game) == symmetries
    assert shape.lookups(game) == 3 * symmetries + 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tuples": ()}, "a network needs at least one tuple"),
        ({"tuples": ("",)}, "tuple '': must be 1 to 8 cells, hexadecimal digits 0 to f"),
        ({"tuples": ("012345678",)}, "tuple '012345678': must be 1 to 8 cells"),
        ({"tuples": ("0123", "01g")}, "tuple '01g': must be 1 to 8 cells, hexadecimal digits 0 to f"),
        ({"tuples": ("0A",)}, "tuple '0A': must be 1 to 8 cells, hexadecimal digits 0 to f"),
        ({"tuples": ("0120",)}, "tuple '0120': a cell is named twice"),
        ({"tuples": ("01",), "alphabet": 7}, "alphabet=7: must be a whole number from 8 to 16"),
        ({"tuples": ("01",), "alphabet": 17}, "alphabet=17: must be a whole number from 8 to 16"),
        ({"tuples": ("01",), "alphabet": 12.5}, "alphabet=12.5: must be a whole number from 8 to 16"),
        ({"tuples": ("01",), "features": ("emty",)}, "there is no feature 'emty' (did you mean 'empty_cells'?)"),
        (
            {"tuples": ("01",), "features": ("empty_cells", "empty_cells")},
            "features: empty_cells is named twice",
        ),
        (
            {"tuples": ("01234567",)},
            "a network of 4,294,967,296 weights is too large; indices of 32 bits allow 4,294,967,295",
        ),
        ({"tuples": ("0123456",) * 16}, "a network of 4,294,967,296 weights is too large"),
    ],
)
def test_an_impossible_network_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        NTupleArchitecture(**options)  # type: ignore[arg-type]


def test_hints_need_a_game_that_has_them() -> None:
    with pytest.raises(SpecError, match="by_hint: 2048 has no hints"):
        NTupleArchitecture(("01",), by_hint=True).check_fits(make_game("2048"))


def test_an_unknown_network_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        SpecError, match=r"no network 'szubert-smal' \(did you mean 'szubert-small'\?\); there are: .*8x6"
    ):
        find_network("szubert-smal")


@pytest.mark.parametrize(
    ("game", "fits", "leaves"),
    [
        ("2048:rows=2,columns=2", "0145", "0126"),
        ("2048:rows=3,columns=3", "01a", "03"),
        ("threes:rows=2,columns=4,start_tiles=5", "3567", "08"),
        ("threes:rows=4,columns=2,start_tiles=5", "cd", "be"),
    ],
)
def test_a_tuple_that_leaves_the_board_is_refused(game: str, fits: str, leaves: str) -> None:
    NTupleArchitecture((fits,)).check_fits(make_game(game))
    with pytest.raises(SpecError, match=rf"tuple '{leaves}': cell . is not on a \dx\d board"):
        NTupleArchitecture((fits, leaves)).check_fits(make_game(game))


def test_a_network_prints_its_tuples_as_small_boards() -> None:
    assert str(NTupleArchitecture(("0123", "45689a"), features=("empty_cells",))) == "\n".join(
        [
            "■■■■  ····",
            "····  ■■■·",
            "····  ■■■·",
            "····  ····",
            "",
            "2 tuples, symmetric, features empty_cells: 16,842,769 weights, 64.3 MiB",
        ]
    )


def test_many_tuples_print_in_blocks_of_sixteen() -> None:
    blocks = str(find_network("szubert-small")).split("\n\n")
    assert [len(block.splitlines()[0].split()) for block in blocks[:2]] == [16, 1]
    assert blocks[1] == "····\n····\n··■■\n··■■"
    assert blocks[2] == "17 tuples, no symmetry: 860,625 weights, 4.2 MiB"
