"""Memory: what is too large is refused with both numbers, before it is taken."""

from pathlib import Path

import pytest

from tilewright._core import memory
from tilewright._core.memory import available_memory, check_memory
from tilewright.errors import FileError


def test_what_does_not_fit_is_refused_with_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 3_000_000_000)
    check_memory(3_000_000_000, "it")
    with pytest.raises(FileError, match=r"^a network takes 4,398.0 GB of memory; 3.0 GB are available$"):
        check_memory(2**42, "a network", FileError)


def test_where_the_system_says_nothing_everything_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    check_memory(2**80, "it")


@pytest.mark.parametrize(
    ("limit", "expected"), [("1000000\n", 400_000), ("max\n", None), ("500000\n", 0), (None, None)]
)
def test_the_limit_of_a_container_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str | None, expected: int | None
) -> None:
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
        (tmp_path / "memory.current").write_text("600000\n")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:     2000 kB\n")
    assert available_memory() == (2_048_000 if expected is None else expected)
