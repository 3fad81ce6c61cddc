"""Files that grow by whole pieces, on a disk with room and without."""

import os
from pathlib import Path

import pytest

from tests.full_disk import full_disk
from tilewright._core import appending
from tilewright._core.appending import AppendedFile, write_patiently
from tilewright.errors import FileError


def test_pieces_follow_one_header(tmp_path: Path) -> None:
    for piece in (b"1,2\n", b"3,4\n"):
        AppendedFile(tmp_path / "file", b"a,b\n").append(piece)
    assert (tmp_path / "file").read_bytes() == b"a,b\n1,2\n3,4\n"


@pytest.mark.parametrize("limit", [0, 1, 5, 12, 18])
def test_what_does_not_fit_is_kept_and_written_later(limit: int, tmp_path: Path) -> None:
    """The disk is full after any number of bytes; only whole pieces are ever in the file."""
    file, pieces = AppendedFile(tmp_path / "file", b"head\n"), [b"one one\n", b"two two two\n", b"three\n"]
    with full_disk(limit):
        for piece in pieces:
            try:
                file.append(piece)
            except FileError as error:
                assert str(error) == f"{tmp_path}/file: cannot be written: File too large"  # noqa: PT017
            content = (tmp_path / "file").read_bytes()
            assert content in [b"", *(b"head\n" + b"".join(pieces[:n]) for n in (1, 2, 3))]
        assert file.waiting
    file.flush()
    assert file.waiting == 0
    assert (tmp_path / "file").read_bytes() == b"head\n" + b"".join(pieces)


def test_a_folder_that_is_gone_for_a_while_loses_nothing(tmp_path: Path) -> None:
    file = AppendedFile(tmp_path / "folder" / "file")
    with pytest.raises(FileError, match="No such file or directory"):
        file.append(b"one\n")
    (tmp_path / "folder").mkdir()
    file.append(b"two\n")
    assert (tmp_path / "folder" / "file").read_bytes() == b"one\ntwo\n"


def test_a_device_or_a_pipe_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(FileError, match="cannot be written"):
            AppendedFile(path).append(b"text")


def test_a_full_disk_is_waited_for(tmp_path: Path) -> None:
    file, pauses = AppendedFile(tmp_path / "file"), []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            appending_ends.__exit__(None, None, None)

    appending_ends = full_disk()
    appending_ends.__enter__()
    write_patiently(lambda: file.append(b"text") if not file.waiting else file.flush(), lambda: 1000.0, pause)
    assert (tmp_path / "file").read_bytes() == b"text"
    assert pauses == [appending._FIRST_PAUSE, 2 * appending._FIRST_PAUSE, 4 * appending._FIRST_PAUSE]


def test_nobody_waits_for_ever_or_for_what_does_not_pass(tmp_path: Path) -> None:
    def pause(seconds: float) -> None:
        raise AssertionError

    with full_disk(), pytest.raises(FileError, match="File too large"):
        write_patiently(lambda: AppendedFile(tmp_path / "file").append(b"text"), lambda: 0.0, pause)
    with pytest.raises(FileError, match="Is a directory"):
        write_patiently(lambda: AppendedFile(tmp_path).append(b"text"), lambda: 1000.0, pause)
