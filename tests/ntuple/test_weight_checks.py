"""What kernels rely on in weights: finite numbers, and marks in later stages only."""

import numpy as np
import pytest

from tilewright.ntuple import weight_checks
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16
from tilewright.ntuple.weight_checks import find_fault


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2e30, -1.1e38, UNWRITTEN])
@pytest.mark.parametrize("place", [0, 4, 8, 11])
def test_a_bad_weight_is_found_wherever_it_is(bad: float, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_checks, "_PIECE", 5)
    weights = np.linspace(-1e6, 1e6, 12, dtype=np.float32)
    weights[10] = UNWRITTEN
    assert find_fault(weights, 10) == ""
    assert find_fault(weights) == "weight 10 is marked as unwritten, which only later stages can be"
    weights[place] = bad
    assert (find_fault(weights, 10) == "") == (bad == UNWRITTEN and place >= 10)


def test_16_bits_hold_numbers_or_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_checks, "_PIECE", 2)
    weights = np.array([-32_767, 32_767, 0, UNWRITTEN_16], np.int16)
    assert find_fault(weights, 3) == ""
    assert find_fault(weights, 4) == find_fault(weights) != ""
