"""Every instruction, and its portable form where there is one, agrees with plain integers."""

import json
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.process import run_python
from tilewright._core import bits, jit

Words = NDArray[np.uint64]

EDGES = [0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 63, 2**64 - 1, 2**64 - 2, 0x1111111111111111, 0x8000000000000001]


@pytest.fixture(scope="module")
def words() -> Words:
    """Edge cases, words with one bit, dense words, and sparse ones."""
    random = np.random.default_rng(20480)
    dense = random.integers(0, 2**64, 3000, np.uint64)
    sparse = dense[:1000] & dense[1000:2000] & dense[2000:]
    return np.concatenate([np.array(EDGES + [1 << bit for bit in range(64)], np.uint64), dense, sparse])


@pytest.fixture(scope="module")
def pairs(words: Words) -> tuple[Words, Words]:
    """All pairs of edge cases, and random pairs."""
    first, second = np.meshgrid(np.array(EDGES, np.uint64), np.array(EDGES, np.uint64))
    shuffled = np.random.default_rng(3).permutation(words)
    return np.concatenate([first.ravel(), words]), np.concatenate([second.ravel(), shuffled])


def over_words(instruction: Any) -> Callable[[Words], Words]:
    def loop(words):  # type: ignore[no-untyped-def]
        out = np.empty_like(words)
        for i in range(len(words)):
            out[i] = instruction(words[i])
        return out

    compiled: Callable[[Words], Words] = numba.njit(loop)
    return compiled


def over_pairs(instruction: Any) -> Callable[[Words, Words], Words]:
    def loop(words, masks):  # type: ignore[no-untyped-def]
        out = np.empty_like(words)
        for i in range(len(words)):
            out[i] = instruction(words[i], masks[i])
        return out

    compiled: Callable[[Words, Words], Words] = numba.njit(loop)
    return compiled


def plain_pdep(word: int, mask: int) -> int:
    indices = [bit for bit in range(64) if mask >> bit & 1]
    return sum((word >> i & 1) << index for i, index in enumerate(indices))


def plain_pext(word: int, mask: int) -> int:
    indices = [bit for bit in range(64) if mask >> bit & 1]
    return sum((word >> index & 1) << i for i, index in enumerate(indices))


def test_popcount_counts_set_bits(words: Words) -> None:
    assert over_words(bits.popcount)(words).tolist() == [word.bit_count() for word in words.tolist()]


def test_trailing_zeros_is_the_index_of_the_lowest_bit_and_64_for_zero(words: Words) -> None:
    expected = [(word & -word).bit_length() - 1 if word else 64 for word in words.tolist()]
    assert over_words(bits.trailing_zeros)(words).tolist() == expected


@pytest.mark.parametrize("instruction", [bits.pdep, bits.pdep_portable])
def test_pdep_spreads_low_bits_to_the_mask(instruction: Any, pairs: tuple[Words, Words]) -> None:
    expected = [plain_pdep(word, mask) for word, mask in zip(*map(np.ndarray.tolist, pairs), strict=True)]
    assert over_pairs(instruction)(*pairs).tolist() == expected


@pytest.mark.parametrize("instruction", [bits.pext, bits.pext_portable])
def test_pext_gathers_the_bits_under_the_mask(instruction: Any, pairs: tuple[Words, Words]) -> None:
    expected = [plain_pext(word, mask) for word, mask in zip(*map(np.ndarray.tolist, pairs), strict=True)]
    assert over_pairs(instruction)(*pairs).tolist() == expected


def test_prefetch_changes_nothing_and_never_faults_even_far_outside() -> None:
    def loop(array, indices):  # type: ignore[no-untyped-def]
        for index in indices:
            bits.prefetch(array, index)
        return array.sum()

    array = np.arange(1000, dtype=np.float32)
    indices = np.array([0, 999, 1000, 10**12], np.uint64)
    assert numba.njit(loop)(array, indices) == 499_500
    assert array.tolist() == list(range(1000))


GAMES_OF_BOTH = """
import json
import tilewright as tw
found = {}
for game in map(tw.make_game, ("2048", "2048:rows=3,columns=2", "threes")):
    for agent in map(tw.make_agent, ("random", "greedy")):
        result = tw.evaluate(agent, game, games=200, seed=5, threads=1)
        found[f"{agent.spec} {game.spec}"] = [result.scores.tolist(), result.moves.tolist(), result.codes.tolist()]
wide = tw.make_game("2048").parse("65536 32768 0 2 / 0 0 0 0 / 0 0 131072 0 / 0 0 0 0")
after, _ = tw.make_game("threes").slide(tw.make_game("threes").parse("1 2 0 3 / 0 0 0 1 / 0 0 0 0 / 6 6 0 0"), "left")
found["symmetries"] = [repr(symmetric) for board in (wide, after) for symmetric in board.game.symmetries(board)]
"""


@pytest.mark.slow
def test_portable_kernels_play_the_very_same_games() -> None:
    here: dict[str, Any] = {}
    exec(GAMES_OF_BOTH, here)  # noqa: S102
    script = GAMES_OF_BOTH + "from tilewright._core.jit import portable\nprint(json.dumps([portable(), found]))"
    there = run_python(script, TILEWRIGHT_PORTABLE="1")
    assert there.returncode == 0, there.stderr
    assert json.loads(there.stdout) == [True, here["found"]]


def test_portable_is_forced_by_the_environment_and_not_by_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_PORTABLE", raising=False)
    chosen = jit.portable.__wrapped__()
    for text, forced in [("1", True), ("yes", True), ("0", chosen), ("", chosen)]:
        monkeypatch.setenv("TILEWRIGHT_PORTABLE", text)
        assert jit.portable.__wrapped__() == forced


def test_processors_with_slow_or_no_bit_gathering_get_portable_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_PORTABLE", raising=False)
    for name, features, expected in [
        ("znver3", {"bmi2": True}, False),
        ("znver2", {"bmi2": True}, True),
        ("sandybridge", {"bmi2": False}, True),
        ("apple-m1", {}, True),
    ]:
        monkeypatch.setattr(llvmlite.binding, "get_host_cpu_name", lambda name=name: name)
        monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda found=features: found)
        assert jit.portable.__wrapped__() is expected
