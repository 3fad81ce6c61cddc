"""The estimate is near the truth where that is known, and what cannot fit is refused before anything is done."""

from pathlib import Path

import pytest

import tilewright as tw
from tilewright.exact import estimate as module
from tilewright.exact.estimate import estimate, most_boards
from tilewright.exact.solve import make_problem


@pytest.mark.parametrize(
    ("rows", "columns", "goal", "states"),
    [
        (2, 2, None, 110),
        (2, 3, None, 21_752),
        (3, 3, 64, 609_981),
        (2, 4, None, 4_980_767),
        (3, 3, 1024, 29_063_397),
        (3, 3, None, 48_713_519),
        (3, 4, None, 739_648_886_170 / 0.65),  # published: the number of afterstates
    ],
)
def test_the_number_of_states_is_right_within_a_factor_of_two(
    rows: int, columns: int, goal: int | None, states: float
) -> None:
    found = estimate(make_problem(f"2048:rows={rows},columns={columns}", goal), threads=1)
    assert 0.5 < found.canonical_states / states < 2


def test_the_bound_is_above_every_layer() -> None:
    table = tw.solve("2048:rows=2,columns=3", threads=1)
    bound = most_boards(cells=6, largest_code=7)
    for total, canonical, _ in table.layer_sizes:
        assert canonical <= bound[total // 2]
    assert table.states < bound.sum()


def test_too_little_memory_is_refused_before_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 300_000_000)
    with pytest.raises(
        tw.UsageError, match=r"about 8 million states need \d+ MB of memory, and 300 MB are free"
    ) as caught:
        tw.solve("2048:rows=2,columns=4")
    assert "write the table to a file" in str(caught.value)
    monkeypatch.setattr(module, "available_memory", lambda: 1_000)
    with pytest.raises(tw.UsageError, match=r"are free; solve a smaller board or a smaller goal$"):
        tw.solve("2048:rows=2,columns=2", out=tmp_path / "table")
    assert list(tmp_path.iterdir()) == []


def test_too_little_disk_is_refused_before_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr("shutil.disk_usage", lambda folder: Usage)
    with pytest.raises(tw.UsageError, match=r"need 626 kB of disk, and 1.0 kB are free"):
        tw.solve("2048:rows=2,columns=3", out=tmp_path / "folder" / "table")
    assert list(tmp_path.iterdir()) == []


def test_the_whole_game_is_refused() -> None:
    with pytest.raises(tw.UsageError, match="quadrillion states need"):
        tw.solve("2048")
