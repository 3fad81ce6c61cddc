"""Files of arrays: readable by others, refused when damaged, and never half written."""

import errno
import hashlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from tests.process import environment
from tilewright._core import files
from tilewright._core.files import (
    read_tensors,
    remove_unfinished,
    replace_file,
    write_bytes,
    write_tensors,
    write_text,
)
from tilewright.errors import FileError

ARRAYS: dict[str, NDArray[Any]] = {
    "weights": np.linspace(-3, 3, 48, dtype=np.float32).reshape(4, 12),
    "whole": np.arange(-20, 20, dtype=np.int16),
    "bytes": np.arange(7, dtype=np.uint8),
    "counts": np.array([2**62, -1], np.int64),
    "words": np.array([2**64 - 1], np.uint64),
    "exact": np.array(0.1, np.float64),
    "none": np.zeros((0, 5), np.float32),
}
ABOUT = {"game": "2048", "config": 'network = "4x6"\n', "zeros": "0" * 64, "who": "Jaśkowski"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A good file."""
    path = tmp_path / "some.safetensors"
    write_tensors(path, ARRAYS, ABOUT)
    return path


def leftovers(folder: Path) -> list[str]:
    return [file.name for file in folder.rglob("*.part")]


def test_the_safetensors_package_reads_the_files(path: Path) -> None:
    found = safetensors.numpy.load_file(path)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
    with safetensors.safe_open(path, "np") as file:
        metadata = file.metadata()
    assert {key: metadata[key] for key in ABOUT} == ABOUT


def test_arrays_and_metadata_read_back(path: Path) -> None:
    found, metadata = read_tensors(path)
    assert {key: metadata[key] for key in ABOUT} == ABOUT
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
        assert isinstance(found[name], np.memmap) == (array.size > 0)


def test_arrays_begin_at_a_multiple_of_64_bytes(path: Path) -> None:
    assert (8 + int.from_bytes(path.read_bytes()[:8], "little")) % 64 == 0


def test_arrays_larger_than_a_chunk_are_written_completely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_CHUNK", 10)
    write_tensors(tmp_path / "chunks", ARRAYS, {})
    found, _ = read_tensors(tmp_path / "chunks")
    assert all(found[name].tobytes() == array.tobytes() for name, array in ARRAYS.items())


def test_a_file_cut_short_anywhere_is_refused(path: Path) -> None:
    content = path.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    ends = {0, 1, 7, 8, 9, 10, header - 1, header, header + 1, len(content) - 1, *range(11, len(content), 29)}
    for end in ends:
        path.write_bytes(content[:end])
        with pytest.raises(FileError, match=path.name):
            read_tensors(path)


def test_a_single_wrong_bit_is_noticed_wherever_it_is(path: Path) -> None:
    content = path.read_bytes()
    indices = random.Random(1).sample(range(8 * len(content)), 250)
    for index in [*range(64), *indices]:
        damaged = bytearray(content)
        damaged[index // 8] ^= 1 << index % 8
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=path.name):
            read_tensors(path)


@pytest.mark.parametrize("more", [b"\0", b" ", b"more" * 100])
def test_bytes_after_the_end_are_refused(path: Path, more: bytes) -> None:
    path.write_bytes(path.read_bytes() + more)
    with pytest.raises(FileError, match=f"{len(more)} bytes too long"):
        read_tensors(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"a text of some length, with more than ten letters\n" * 5,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        b"PK\x03\x04" + bytes(100),
        (2**64 - 1).to_bytes(8, "little") + b"{}" * 50,
        (2**40).to_bytes(8, "little") + b"{}" * 50,
        bytes(8) + b"{}",
        bytes(64),
    ],
    ids=["empty", "a line", "text", "png", "zip", "largest header", "huge header", "no header", "zeros"],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(FileError, match="foreign: "):
        read_tensors(path)


def entry(shape: Any = (2,), offsets: Any = (0, 8), dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def file_with_header(path: Path, header: Any, data: bytes = bytes(8)) -> Path:
    """A file with the right checksum, so that only its header is wrong."""
    zeros = b"0" * 64
    if isinstance(header, dict) and "__metadata__" not in header:
        header |= {"__metadata__": {"sha256": zeros.decode()}}
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text = text.replace(zeros, hashlib.sha256(text + hashlib.sha256(data).digest()).hexdigest().encode())
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def test_a_header_that_is_right_is_read(tmp_path: Path) -> None:
    """So the following headers are refused because of their own faults."""
    tensors, _ = read_tensors(file_with_header(tmp_path / "right", {"a": entry()}))
    assert tensors["a"].tolist() == [0, 0]


@pytest.mark.parametrize(
    "header",
    [
        b"not JSON at all",
        b'{"a": ',
        b"\xff\xfe\xfd{}",
        b"[" * 5000,
        b"[]",
        b"17",
        b"null",
        b'"text"',
        {"__metadata__": None},
        {"__metadata__": []},
        {"__metadata__": {"sha256": "\ud800"}, "a": entry()},
        {"__metadata__": {"sha256": None}, "a": entry()},
        {"__metadata__": {}, "a": entry()},
        {"__metadata__": {"sha256": "0" * 64, "game": None}, "a": entry()},
        {"__metadata__": {"sha256": "0" * 64, "note": "\ud800"}, "a": entry()},
        {"__metadata__": {"sha256": "0" * 64, "game": {"name": "2048"}}, "a": entry()},
        {"__metadata__": {"sha256": "0" * 64, "games": 7}, "a": entry()},
        b'{"__metadata__": {"sha256": "'
        + b"0" * 64
        + b'"}, "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, '
        b'"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}',
        b'{"__metadata__": {"sha256": "' + b"0" * 64 + b'", "game": "2048", "game": "threes"}}',
        {"a": 1},
        {"a": []},
        {"a": {}},
        {"a": entry(dtype="F8")},
        {"a": entry(dtype=["F32"])},
        {"a": entry(shape=2)},
        {"a": entry(shape=["2"])},
        {"a": entry(shape=[2.0])},
        {"a": entry(shape=[True, 2])},
        {"a": entry(shape=[None])},
        {"a": entry(shape=[-2])},
        {"a": entry(shape=[-1, -2])},
        {"a": entry(shape=[3])},
        {"a": entry(shape=[1] * 100 + [2])},
        {"a": entry(shape=[0, 10**30], offsets=[0, 0]), "b": entry()},
        {"a": entry(shape=[float("inf")])},
        {"a": entry(offsets=[0])},
        {"a": entry(offsets=[0, 4, 8])},
        {"a": entry(offsets="08")},
        {"a": entry(offsets=[0, float("inf")])},
        {"a": entry(offsets=[8, 0])},
        {"a": entry(offsets=[-8, 0])},
        {"a": entry(offsets=[4, 12])},
        {"a": entry(), "b": entry()},
        {"a": entry(), "b": entry([1], [4, 8])},
        {"a": entry(), "b": entry(offsets=[8, 16])},
        {"a": entry([2**40], [0, 2**42])},
        {"a": entry([1], [0, 4])},
    ],
    ids=lambda header: str(header)[:60],
)
def test_a_damaged_header_is_refused(tmp_path: Path, header: Any) -> None:
    path = file_with_header(tmp_path / "damaged", header)
    with pytest.raises(FileError, match="damaged: "):
        read_tensors(path)


def test_a_header_without_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes((2**20 + 1).to_bytes(8, "little") + b" " * (2**20 + 100))
    with pytest.raises(FileError, match="a header of 1,048,577 bytes is too long; at most 1,048,576 are read"):
        read_tensors(tmp_path / "long")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs in folders")
def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FileError, match="a pipe or a device, not a file"):
        read_tensors(tmp_path / "fifo")


def test_a_file_of_the_safetensors_package_has_no_checksum(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"weights": np.zeros(3, np.float32)}, tmp_path / "theirs")
    with pytest.raises(FileError, match="has no checksum; not a file of tilewright"):
        read_tensors(tmp_path / "theirs")


def test_a_file_that_cannot_be_read_is_an_error_with_the_reason(path: Path) -> None:
    for wrong, reason in [
        (path.with_name("missing"), "No such file"),
        (path.parent, "Is a directory"),
        (path / "below", "Not a directory"),
        (path.with_name("n" * 300), "File name too long"),
    ]:
        with pytest.raises(FileError, match=reason):
            read_tensors(wrong)


def test_a_file_without_permission_is_a_file_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(FileError, match="cannot be read: Permission denied"):
        read_tensors(path)


def test_a_folder_that_cannot_be_made_is_an_error(path: Path) -> None:
    for wrong in (path / "below.safetensors", path / "far" / "below"):
        with pytest.raises(FileError, match="cannot be written"):
            write_tensors(wrong, ARRAYS, ABOUT)
    assert leftovers(path.parent) == []
    read_tensors(path)


def test_a_path_that_is_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        write_text(tmp_path / "taken", "text")
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("call", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_the_old_file_and_no_temporary_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = path.read_bytes()
    monkeypatch.setattr(call, full)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        write_tensors(path, {"weights": np.ones(1000, np.float32)}, {})
    assert path.read_bytes() == before
    assert leftovers(path.parent) == []


def test_a_disk_that_fills_up_while_writing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel itself refuses: a file of this process may not grow beyond the limit."""
    import resource
    import signal

    before = path.read_bytes()
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(FileError, match="cannot be written: File too large"):
            write_tensors(path, {"weights": np.ones(1_000_000, np.float32)}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert leftovers(path.parent) == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_file_is_not_replaced_when_writing_fails(path: Path, error: type[BaseException]) -> None:
    before = path.read_bytes()

    def fail() -> None:
        with replace_file(path) as file:
            file.write(b"half of it")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == before
    assert leftovers(path.parent) == []


def test_a_file_is_replaced_only_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "text"
    write_text(path, "old")
    with replace_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
        assert len(leftovers(tmp_path)) == 1
    assert path.read_text() == "new"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("step", ["_parse_header", "_map_tensors", "_verify_checksum"])
def test_a_file_that_is_replaced_while_it_is_read_is_the_old_one(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training replaces its model, and somebody else reads it: neither a mixture of two, nor damaged."""
    path, new = tmp_path / "model", tmp_path / "new"
    for file, length in ((path, 300), (new, 20)):
        write_tensors(file, {"weights": np.full(length, length, np.float32)}, {"length": str(length)})
    original = getattr(files, step)

    def replacing(*arguments: Any) -> Any:
        if new.exists():
            new.replace(path)
        return original(*arguments)

    monkeypatch.setattr(files, step, replacing)
    for length in (300, 20):
        tensors, metadata = read_tensors(path)
        assert metadata["length"] == str(length)
        np.testing.assert_array_equal(tensors["weights"], np.full(length, length))


@pytest.fixture
def _umask_of_a_group() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask_of_a_group")
def test_files_have_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    write_text(tmp_path / "text", "for the group to read")
    assert stat.S_IMODE((tmp_path / "text").stat().st_mode) == 0o640


def test_what_a_killed_process_left_is_removed_when_the_file_is_written_again(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from tilewright._core.files import replace_file\n"
        "with replace_file(Path(sys.argv[1])) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = tmp_path / "a[1].table"
    killed = subprocess.run([sys.executable, "-c", code, str(path)], env=environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    write_bytes(path, b"whole")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a[1].table", b"whole")]


def test_two_that_write_the_same_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replace_file(path) as first:
        first.write(b"first")
        write_bytes(path, b"second")
        remove_unfinished(path)
        assert path.read_bytes() == b"second"
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file", b"first")]
