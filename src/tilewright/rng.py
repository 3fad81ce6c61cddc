"""Random streams: every game of a seed has a stream of its own.

A stream is `uint64[2]`, the state of xoroshiro128++ (Blackman & Vigna 2019), advanced in place. Game number `i` of
seed `s` always has the same stream, so results do not depend on the number of threads or machines.
"""

from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.checks import check_integer
from tilewright._core.jit import Word, inline
from tilewright._core.text import excerpt
from tilewright.errors import UsageError

__all__ = [
    "Key",
    "Stream",
    "below",
    "check_stream",
    "low_half",
    "new_stream",
    "next_word",
    "seed_stream",
    "stream_for",
    "stream_key",
]

u64 = np.uint64
Stream: TypeAlias = NDArray[np.uint64]  # uint64[2], advanced in place
Key: TypeAlias = NDArray[np.uint64]  # uint64[2], made from a seed; never changed

_GOLDEN = u64(0x9E3779B97F4A7C15)
_MIX_A, _MIX_B = u64(0xBF58476D1CE4E5B9), u64(0x94D049BB133111EB)
_LOW_32 = u64(0xFFFFFFFF)


def stream_key(seed: int) -> Key:
    """Turn a seed into 128 well-mixed bits (NumPy's SeedSequence), so that neighbouring seeds are unrelated.

    Raises:
        UsageError: The seed is not a whole number from 0 up.
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise UsageError(f"seed {excerpt(seed)}: a seed is a whole number from 0 up")
    return np.random.SeedSequence(int(seed)).generate_state(2, np.uint64).astype(np.uint64)


def new_stream() -> Stream:
    """Allocate a stream; seed it with `seed_stream` before use."""
    return np.zeros(2, np.uint64)


def stream_for(seed: int, number: int = 0) -> Stream:
    """Make the random stream of game `number` of `seed`: the one that `evaluate` uses for that game.

    Games and agents draw from a stream and advance it in place.

    >>> import tilewright as tw
    >>> game, stream = tw.make_game("2048"), tw.stream_for(seed=7)
    >>> board, _ = game.spawn("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", stream)
    >>> board, _ = game.spawn(board, stream)
    >>> board.tiles
    ((2, 2, 0, 2), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0))

    Args:
        seed: A whole number from 0 up.
        number: The number of the game, from 0 up.

    Raises:
        UsageError: A number is negative or not whole.
    """
    check_integer(f"game number {excerpt(number)}", number, 0, 2**64 - 1)
    first, second = map(int, stream_key(seed))
    word = _mix_in_python(first + int(_GOLDEN) * int(number))
    start = _mix_in_python(word ^ second)
    return np.array([start, _mix_in_python(start + word + int(_GOLDEN)) | 1], np.uint64)


def check_stream(stream: object) -> Stream:
    """Return `stream` itself if kernels can advance it, and raise UsageError otherwise."""
    if isinstance(stream, np.ndarray) and stream.dtype == np.uint64 and stream.shape == (2,) and stream.flags.writeable:
        return stream
    raise UsageError(f"{excerpt(stream)} is not a random stream; make one with stream_for(seed)")


def _mix_in_python(word: int) -> int:
    """What `_mix` does, without a kernel: the first move of a fresh installation waits for no compilation of it."""
    word &= 2**64 - 1
    word = (word ^ word >> 30) * int(_MIX_A) & 2**64 - 1
    word = (word ^ word >> 27) * int(_MIX_B) & 2**64 - 1
    return word ^ word >> 31


@inline
def _mix(word: Word) -> Word:
    """The output function of SplitMix64: every input bit affects every output bit."""
    word = (word ^ (word >> u64(30))) * _MIX_A
    word = (word ^ (word >> u64(27))) * _MIX_B
    return word ^ (word >> u64(31))


@inline
def seed_stream(stream: Stream, key: Key, number: Word) -> None:
    """Set `stream`, in place, to the start of the stream of game `number`."""
    word = _mix(key[0] + _GOLDEN * number)
    stream[0] = _mix(word ^ key[1])
    stream[1] = _mix(stream[0] + word + _GOLDEN) | u64(1)  # never both zero


@inline
def _rotate_left(word: Word, places: int) -> Word:
    return (word << u64(places)) | (word >> u64(64 - places))


@inline
def next_word(stream: Stream) -> Word:
    """Draw 64 random bits; advances `stream` in place."""
    first, second = stream[0], stream[1]
    word = _rotate_left(first + second, 17) + first
    second ^= first
    stream[0] = _rotate_left(first, 49) ^ second ^ (second << u64(21))
    stream[1] = _rotate_left(second, 28)
    return word


@inline
def below(word: Word, limit: Word) -> Word:
    """Turn the *high* half of a random word into a number from 0 to limit - 1 (its bias is limit / 2**32)."""
    return ((word >> u64(32)) * limit) >> u64(32)


@inline
def low_half(word: Word) -> Word:
    """The low half of a random word, independent of the half that `below` uses."""
    return word & _LOW_32
