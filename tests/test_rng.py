"""The generator is the published one, and every game has a stream of its own.

Statistical tests are seeded; each would raise a false alarm for one seed in 10,000.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tilewright import rng
from tilewright.errors import UsageError

Words = NDArray[np.uint64]

FALSE_ALARM = 1e-4
ALL = 2**64 - 1
PINNED = [[11985393241934132035, 15120000897381432971], [5479908615016715961, 6705911584801207995]]


def rotate_left(word: int, indices: int) -> int:
    return (word << indices | word >> 64 - indices) & ALL


def xoroshiro128pp(first: int, second: int, count: int) -> list[int]:
    """Blackman & Vigna, xoroshiro128plusplus.c."""
    words = []
    for _ in range(count):
        words.append((rotate_left((first + second) & ALL, 17) + first) & ALL)
        second ^= first
        first = rotate_left(first, 49) ^ second ^ (second << 21 & ALL)
        second = rotate_left(second, 28)
    return words


def _draw(stream, count):  # type: ignore[no-untyped-def]
    out = np.empty(count, np.uint64)
    for i in range(count):
        out[i] = rng.next_word(stream)
    return out


def _draw_below(stream, limit, count):  # type: ignore[no-untyped-def]
    out = np.empty(count, np.uint64)
    for i in range(count):
        out[i] = rng.below(rng.next_word(stream), limit)
    return out


def _halves(words):  # type: ignore[no-untyped-def]
    out = np.empty((2, len(words)), np.uint64)
    for i in range(len(words)):
        out[0, i] = rng.below(words[i], np.uint64(2**32))
        out[1, i] = rng.low_half(words[i])
    return out


def _seeded(key, number):  # type: ignore[no-untyped-def]
    stream = np.empty(2, np.uint64)
    rng.seed_stream(stream, key, number)
    return stream


seeded: Callable[[Words, np.uint64], Words] = numba.njit(_seeded)
draw: Callable[[Any, int], Words] = numba.njit(_draw)
draw_below: Callable[[Any, np.uint64, int], Words] = numba.njit(_draw_below)
halves: Callable[[Words], Words] = numba.njit(_halves)


def test_words_are_the_published_ones() -> None:
    """The first outputs from the state (1, 2), as the reference C code gives them."""
    published = [393217, 669327710093319, 1732421326133921491, 11394790081659126983, 9555452776773192676]
    assert xoroshiro128pp(1, 2, 5) == published
    assert draw(np.array([1, 2], np.uint64), 5).tolist() == published


@pytest.mark.parametrize("state", [(1, 0), (0, 1), (ALL, ALL), (1 << 63, 1), (0x0123456789ABCDEF, 0xFEDCBA9876543210)])
def test_words_follow_the_published_algorithm(state: tuple[int, int]) -> None:
    assert draw(np.array(state, np.uint64), 1000).tolist() == xoroshiro128pp(*state, 1000)


def test_the_state_goes_on_where_it_stopped() -> None:
    stream = rng.stream_for(1)
    first, second = draw(stream, 500), draw(stream, 500)
    assert np.concatenate([first, second]).tolist() == draw(rng.stream_for(1), 1000).tolist()


def test_the_same_seed_and_game_give_the_same_stream() -> None:
    assert rng.stream_for(7, 3).tolist() == rng.stream_for(7, 3).tolist()


def test_streams_are_pinned() -> None:
    """What seed and game stand for must not change unnoticed: recorded results would no longer replay."""
    assert [rng.stream_for(0).tolist(), rng.stream_for(1, 2).tolist()] == PINNED


def test_kernels_and_python_seed_alike() -> None:
    for seed, number in [(0, 0), (1, 2), (2**70, ALL), *((seed, 3**seed) for seed in range(40))]:
        expected = seeded(rng.stream_key(seed), np.uint64(number))
        assert rng.stream_for(seed, number).tolist() == expected.tolist()


def test_streams_of_all_games_and_seeds_differ() -> None:
    games = {tuple(rng.stream_for(1, game).tolist()) for game in range(20_000)}
    seeds = {tuple(rng.stream_for(seed).tolist()) for seed in range(2_000)}
    assert len(games) == 20_000
    assert len(seeds) == 2_000
    assert len(games & seeds) == 1  # game 0 of seed 1 is in both


def test_no_stream_is_all_zero() -> None:
    """The one state that the generator never leaves."""
    assert all(rng.stream_for(0, game).any() for game in range(5_000))


def unrelated(left: Words, right: Words) -> float:
    """The p-value that the top four bits of paired words are independent."""
    table = np.zeros((16, 16))
    np.add.at(table, ((left >> np.uint64(60)).astype(int), (right >> np.uint64(60)).astype(int)), 1)
    return float(stats.chi2_contingency(table).pvalue)


def first_words(streams: list[rng.Stream]) -> Words:
    return np.array([draw(stream, 1)[0] for stream in streams], np.uint64)


def test_neighbouring_games_are_unrelated() -> None:
    words = first_words([rng.stream_for(3, game) for game in range(20_000)])
    assert unrelated(words[:-1], words[1:]) > FALSE_ALARM
    assert stats.kstest(words / 2.0**64, "uniform").pvalue > FALSE_ALARM


def test_neighbouring_seeds_are_unrelated() -> None:
    words = first_words([rng.stream_for(seed) for seed in range(20_000)])
    assert unrelated(words[:-1], words[1:]) > FALSE_ALARM
    assert stats.kstest(words / 2.0**64, "uniform").pvalue > FALSE_ALARM


def test_two_streams_of_one_seed_are_unrelated_word_by_word() -> None:
    one, two = (draw(rng.stream_for(3, game), 100_000) for game in (0, 1))
    assert unrelated(one, two) > FALSE_ALARM


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7, 12, 16, 24])
def test_below_is_uniform(limit: int) -> None:
    drawn = draw_below(rng.stream_for(limit), np.uint64(limit), 120_000)
    counts = np.bincount(drawn.astype(int), minlength=limit)
    assert len(counts) == limit
    assert limit == 1 or stats.chisquare(counts).pvalue > FALSE_ALARM


def test_below_and_low_half_read_different_bits() -> None:
    words = draw(rng.stream_for(9), 1000)
    high, low = halves(words)
    assert [int(a) << 32 | int(b) for a, b in zip(high, low, strict=True)] == words.tolist()


@pytest.mark.parametrize(
    ("seed", "shown"),
    [(-1, "-1"), (1.0, "1.0"), ("1", "'1'"), (None, "None"), (True, "True"), (float("nan"), "nan"), ([1], r"\[1\]")],
)
def test_a_wrong_seed_is_refused_in_one_sentence(seed: Any, shown: str) -> None:
    with pytest.raises(UsageError, match=f"^seed {shown}: a seed is a whole number from 0 up$"):
        rng.stream_for(seed)


@pytest.mark.parametrize("number", [-1, 2**64, 1.5, "0"])
def test_a_wrong_game_number_is_refused(number: Any) -> None:
    with pytest.raises(UsageError, match=r"^game number .*: must be a whole number from 0 to"):
        rng.stream_for(0, number)


@pytest.mark.parametrize("wrong", [None, 7, [1, 2], np.zeros(2), np.zeros(3, np.uint64), "stream"])
def test_what_is_no_stream_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"is not a random stream; make one with stream_for\(seed\)"):
        rng.check_stream(wrong)


def test_seeds_of_numpy_are_seeds() -> None:
    assert rng.stream_for(np.int64(7), np.uint8(3)).tolist() == rng.stream_for(7, 3).tolist()  # type: ignore[arg-type]


def test_seeds_beyond_64_bits_are_seeds() -> None:
    assert rng.stream_for(2**70).tolist() != rng.stream_for(2**70 + 1).tolist()
