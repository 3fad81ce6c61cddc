"""Seeded streams: one seed gives every game a random stream of its own.

A stream is `uint64[2]`, the state of xoroshiro128++ (Blackman & Vigna 2019), advanced in place. Game number `i` of
seed `s` always gets the same stream, so results do not depend on how games are spread over threads or machines.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Word, inline, kernel
from tilewright.errors import UsageError

__all__ = ["Key", "Stream", "below", "new_stream", "next_word", "seed_stream", "stream_for", "stream_key"]

u64 = np.uint64
Stream: TypeAlias = NDArray[np.uint64]  # uint64[2], advanced in place
Key: TypeAlias = NDArray[np.uint64]  # uint64[2], what a seed stands for; never changed

_GOLDEN = u64(0x9E3779B97F4A7C15)
_MIX_A, _MIX_B = u64(0xBF58476D1CE4E5B9), u64(0x94D049BB133111EB)
_LOW_32 = u64(0xFFFFFFFF)


def stream_key(seed: int) -> Key:
    """What a seed stands for: 128 well-mixed bits (NumPy's SeedSequence), so that near seeds are unrelated."""
    if seed < 0:
        raise UsageError(f"seed {seed}: a seed is a whole number from 0 up")
    return np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)


def new_stream() -> Stream:
    """Room for a stream, to be seeded before use."""
    return np.zeros(2, np.uint64)


def stream_for(seed: int, game: int = 0) -> Stream:
    """The random stream of game number `game` of `seed`."""
    stream = new_stream()
    _seed_from_python(stream, stream_key(seed), np.uint64(game))
    return stream


@inline
def _mix(word: Word) -> Word:
    """The output function of SplitMix64: every input bit reaches every output bit."""
    word = (word ^ (word >> u64(30))) * _MIX_A
    word = (word ^ (word >> u64(27))) * _MIX_B
    return word ^ (word >> u64(31))


@inline
def seed_stream(stream: Stream, key: Key, game: Word) -> None:
    """Set `stream` to the beginning of the stream of game number `game`."""
    word = _mix(key[0] + _GOLDEN * game)
    stream[0] = _mix(word ^ key[1])
    stream[1] = _mix(stream[0] + word + _GOLDEN) | u64(1)  # never both zero


@kernel
def _seed_from_python(stream: Stream, key: Key, game: Word) -> None:
    seed_stream(stream, key, game)


@inline
def _rotate_left(word: Word, places: int) -> Word:
    return (word << u64(places)) | (word >> u64(64 - places))


@inline
def next_word(stream: Stream) -> Word:
    """The next 64 random bits."""
    first, second = stream[0], stream[1]
    word = _rotate_left(first + second, 17) + first
    second ^= first
    stream[0] = _rotate_left(first, 49) ^ second ^ (second << u64(21))
    stream[1] = _rotate_left(second, 28)
    return word


@inline
def below(word: Word, limit: Word) -> Word:
    """A number from 0 to limit - 1 out of the *high* half of a random word (its bias is limit / 2**32)."""
    return ((word >> u64(32)) * limit) >> u64(32)


@inline
def low_half(word: Word) -> Word:
    """The low half of a random word: independent of what `below` uses."""
    return word & _LOW_32
