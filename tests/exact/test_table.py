"""Tables as files: they read back, go on after `kill -9`, and nothing damaged, foreign or half-written is accepted."""

import errno
import os
import re
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tests.process import run_python
from tilewright._core import files
from tilewright._core.locks import try_lock
from tilewright.exact import work_folder

GAME = "2048:rows=2,columns=3"
IMPOSSIBLE = (float("nan"), float("inf"), float("-inf"), -1.0)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tw.ExactTable:
    return tw.solve(GAME, out=tmp_path_factory.mktemp("table") / "2x3.table", threads=1)


def test_a_table_reads_back(table: tw.ExactTable) -> None:
    assert table.path is not None
    assert list(table.path.parent.iterdir()) == [table.path]  # the working folder has gone
    found = tw.load_table(str(table.path))
    assert found.to_dict() == table.to_dict()
    assert found.problem == table.problem
    assert (found.keys == table.keys).all()
    assert (found.afterstate_values == table.afterstate_values).all()


def test_a_table_in_memory_is_saved(tmp_path: Path, table: tw.ExactTable) -> None:
    saved = tw.solve(GAME, threads=1).save(tmp_path / "table")
    assert saved.value == table.value
    assert (saved.afterstate_values == table.afterstate_values).all()


def test_facts_for_json(table: tw.ExactTable) -> None:
    facts = table.to_dict()
    assert (facts["states"], facts["canonical_states"], facts["live_states"]) == (85_844, 21_752, 17_268)
    assert facts["bytes"] == Path(str(facts["file"])).stat().st_size
    assert facts["objective"] == "score"


def test_what_is_solved_already_is_not_solved_again(table: tw.ExactTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.exact.solve.estimate", None)
    assert tw.solve(GAME, out=table.path).value == table.value


def test_another_file_is_not_overwritten(tmp_path: Path, table: tw.ExactTable) -> None:
    with pytest.raises(tw.FileError, match="is a table of 2048:rows=2,columns=3; choose another output file"):
        tw.solve(GAME, goal=32, out=table.path)
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader, this is not a table at all.")
    with pytest.raises(tw.FileError, match="will not be overwritten"):
        tw.solve(GAME, out=letter)
    assert letter.read_text().startswith("Dear reader")


def test_a_table_that_was_cut_short_or_changed_is_refused(tmp_path: Path, table: tw.ExactTable) -> None:
    assert table.path is not None
    content = table.path.read_bytes()
    damaged = tmp_path / "damaged"
    middle = len(content) // 2
    for bad, reason in (
        (content[:-1], "cut short"),
        (content[:5], "not a safetensors file"),
        (b"", "not a safetensors file"),
        (content + b"\0", "too long"),
        (content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :], "checksum"),
    ):
        damaged.write_bytes(bad)
        with pytest.raises(tw.FileError, match=reason):
            tw.load_table(damaged)
    with pytest.raises(tw.FileError, match="cannot be read"):
        tw.load_table(tmp_path / "nothing")


def test_other_files_of_tilewright_are_no_tables(tmp_path: Path, table: tw.ExactTable) -> None:
    other = tmp_path / "other"
    files.write_tensors(other, {"keys": np.zeros(3, np.uint64)}, {"format": "something"})
    with pytest.raises(tw.FileError, match="not a table of exact values"):
        tw.load_table(other)
    arrays, metadata = files.read_tensors(Path(str(table.path)))
    metadata.pop("sha256")
    files.write_tensors(other, arrays, metadata | {"version": "99"})
    with pytest.raises(tw.FileError, match="a table of version 99"):
        tw.load_table(other)
    for change, reason in (
        ({"offsets": arrays["offsets"][::-1].copy()}, "do not fit"),
        ({"keys": arrays["keys"][1:].copy()}, "do not fit"),
        ({"values": arrays["values"].astype(np.float32)}, "another type"),
        ({"offsets": np.array([0, len(arrays["keys"]), 0, len(arrays["keys"])])}, "not in order"),
        ({"keys": arrays["keys"][:0], "values": arrays["values"][:0], "offsets": np.zeros(2, np.int64)}, "no boards"),
        ({"layer_sizes": np.array(3)}, "another type"),
        *(
            ({"values": np.where(arrays["values"] > 50, bad, arrays["values"])}, "a value is impossible")
            for bad in IMPOSSIBLE
        ),
    ):
        files.write_tensors(other, dict(arrays) | change, metadata)
        with pytest.raises(tw.FileError, match=f"a damaged table: .*{reason}"):
            tw.load_table(other)
    for key, text in (
        ("game", "x"),
        ("goal", "x"),
        ("value", "x"),
        ("value", "nan"),
        ("value", "-1.0"),
        ("seconds", "inf"),
        ("walls", "x"),
        ("walls", "f" * 5000),
        ("walls", "7"),
    ):
        files.write_tensors(other, arrays, metadata | {key: text})
        with pytest.raises(tw.FileError, match="a damaged table"):
            tw.load_table(other)


@pytest.mark.parametrize("phase", ["counting", "solving"])
def test_after_kill_9_the_same_call_goes_on(phase: str, tmp_path: Path, table: tw.ExactTable) -> None:
    out = tmp_path / "2x3.table"
    code = f"""
import os, signal, tilewright as tw
from tilewright.exact import work_folder
work_folder._FILE_BYTES = 50_000

def stop(progress):
    if progress.is_counting == {phase == "counting"} and progress.states > 10_000:
        os.kill(os.getpid(), signal.SIGKILL)

tw.solve({GAME!r}, out={str(out)!r}, threads=1, progress=stop)
"""
    assert run_python(code).returncode == -9
    assert not out.exists()
    kept = sorted((tmp_path / "2x3.table.work").glob("*.safetensors"))
    assert kept
    told: list[int] = []
    found = tw.solve(GAME, out=out, threads=1, progress=lambda progress: told.append(progress.states))
    assert found.value == table.value
    assert (found.afterstate_values == table.afterstate_values).all()
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_after_kill_9_while_the_table_is_written_nothing_is_left(
    moment: str, tmp_path: Path, table: tw.ExactTable
) -> None:
    """Before and after the table takes its place; it replaces nothing else in this folder but files of layers."""
    out = tmp_path / "2x3.table"
    code = f"""
import os, signal
from pathlib import Path
import tilewright as tw
replace = Path.replace
def dying(self, target):
    if Path(target).suffix != ".table":
        return replace(self, target)
    if {moment!r} == "after":
        replace(self, target)
    os.kill(os.getpid(), signal.SIGKILL)
Path.replace = dying
tw.solve({GAME!r}, out={str(out)!r}, threads=1)
"""
    assert run_python(code).returncode == -9
    assert len(list(tmp_path.iterdir())) == 2  # the layers, and the table or what will be the table
    assert tw.solve(GAME, out=out, threads=1).value == table.value
    assert list(tmp_path.iterdir()) == [out]


def test_a_damaged_or_foreign_working_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "table"

    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tw.solve(GAME, out=out, threads=1, progress=stop)
    with pytest.raises(tw.FileError, match="has layers of something else"):
        tw.solve(GAME, goal=32, out=out, threads=1)
    (file,) = (tmp_path / "table.work").glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(tw.FileError, match=re.escape(f"delete the folder {tmp_path / 'table.work'} to begin again")):
        tw.solve(GAME, out=out, threads=1)


def test_two_processes_do_not_solve_the_same_table(tmp_path: Path) -> None:
    with (
        try_lock(tmp_path / "table.work" / "lock"),
        pytest.raises(tw.UsageError, match="another process is solving it"),
    ):
        tw.solve(GAME, out=tmp_path / "table", threads=1)


def test_on_a_full_disk_nothing_is_lost_and_nothing_half_written(
    tmp_path: Path, table: tw.ExactTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_folder, "_FILE_BYTES", 100_000)
    monkeypatch.setattr(work_folder, "PATIENCE", 0.0)
    sync, written = os.fsync, [0]

    def fill_up(handle: int) -> None:
        written[0] += 1
        if written[0] > 6:  # three files and their folder
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", fill_up)
    out = tmp_path / "table"
    with pytest.raises(tw.FileError, match="cannot be written: No space left on device"):
        tw.solve(GAME, out=out, threads=1)
    assert not out.exists()
    assert len(list((tmp_path / "table.work").glob("*.safetensors"))) == 3
    assert not list((tmp_path / "table.work").glob(".*.part"))
    monkeypatch.setattr(os, "fsync", sync)
    assert tw.solve(GAME, out=out, threads=1).value == table.value
