"""Networks for shipping: 16 bits a weight, visited weights only, compressed."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.errors import FileError
from tilewright.ntuple.compact import LARGEST, pack, quantised, unpack


def trained_weights(size: int = 50_000, seed: int = 0) -> NDArray[np.float32]:
    """Most weights never visited, the others of very different sizes, both signs."""
    rng = np.random.default_rng(seed)
    weights = np.zeros(size, np.float32)
    visited = rng.random(size) < 0.1
    weights[visited] = rng.normal(0, 1, visited.sum()) * 10 ** rng.uniform(-3, 4, visited.sum())
    return weights


@pytest.mark.parametrize("size", [1, 7, 8, 9, 1000, 50_001])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
def test_what_is_packed_unpacks_as_it_was(size: int, alpha: float) -> None:
    rng = np.random.default_rng(size)
    whole = rng.integers(-LARGEST, LARGEST + 1, size).astype(np.int16) * (rng.random(size) < alpha)
    packed = pack(whole.astype(np.int16))
    assert all(part.dtype == np.uint8 for part in packed.values())
    np.testing.assert_array_equal(unpack(packed, size), whole)


def test_packing_makes_a_sparse_network_small() -> None:
    whole, _ = quantised(trained_weights())
    assert sum(part.nbytes for part in pack(whole).values()) < whole.nbytes / 4


def test_no_weight_is_off_by_more_than_half_a_unit() -> None:
    weights = trained_weights()
    whole, quantum = quantised(weights)
    assert whole.dtype == np.int16
    assert np.abs(whole).max() == LARGEST
    rounding = 0.01  # of a unit: 32-bit floats tell 32,767 units apart to 1/512
    assert np.abs(whole * quantum - weights).max() <= (0.5 + rounding) * quantum
    assert (whole[weights == 0] == 0).all()


@pytest.mark.parametrize("extreme", [123.0, -123.0])
def test_the_largest_weight_of_either_sign_uses_the_whole_range(extreme: float) -> None:
    whole, quantum = quantised(np.array([0, extreme, 1], np.float32))
    assert whole[1] == np.sign(extreme) * LARGEST
    assert quantum == pytest.approx(123 / LARGEST)


def test_an_untrained_network_is_all_zeros() -> None:
    whole, quantum = quantised(np.zeros(10, np.float32))
    assert quantum == 1.0
    assert not whole.any()


def damages() -> dict[str, tuple[dict[str, NDArray[np.uint8]], int]]:
    size = 1000
    whole, _ = quantised(trained_weights(size))
    packed = pack(whole)
    flipped = packed["lower"].copy()
    flipped[len(flipped) // 2] ^= 16
    shorter = pack(whole[:-8])
    one = pack(np.array([5], np.int16))
    return {
        "a flipped bit": ({**packed, "lower": flipped}, size),
        "cut short": ({**packed, "visited": packed["visited"][:-3]}, size),
        "a part missing": ({name: packed[name] for name in ("visited", "upper")}, size),
        "nothing at all": ({**packed, "upper": np.zeros(0, np.uint8)}, size),
        "values of another network": ({**packed, "upper": shorter["lower"], "lower": shorter["lower"]}, size),
        "a single value for all": ({**packed, "upper": one["upper"], "lower": one["lower"]}, size),
        "a single high byte for all": ({**packed, "upper": one["upper"]}, size),
        "a single low byte for all": ({**packed, "lower": one["lower"]}, size),
        "a network too small": (packed, size + 64),
        "a network too large": (packed, size - 64),
    }


@pytest.mark.parametrize("damage", damages())
def test_damaged_bytes_are_refused(damage: str) -> None:
    packed, size = damages()[damage]
    with pytest.raises(FileError, match="the packed weights do not unpack"):
        unpack(packed, size)
