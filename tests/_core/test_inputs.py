"""Inputs: files only, of a length that can be, with a clear line for anything else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.process import run_python
from tilewright import load_model, read_games
from tilewright._core.files import read_tensors
from tilewright._core.inputs import open_input, read_text, shown
from tilewright.errors import FileError
from tilewright.training.config import read_config

READERS: dict[str, Callable[[Path], object]] = {
    "config": read_config,
    "tensors": read_tensors,
    "model": load_model,
    "recording": lambda path: list(read_games(path)),
    "text": read_text,
}


@pytest.mark.parametrize("reader", READERS)
def test_inputs_that_never_end_are_refused_at_once(reader: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    for name in ("pipe.toml", "zero.toml"):
        with pytest.raises(FileError, match=f"{name}: cannot be read: a pipe or a device, not a file"):
            READERS[reader](tmp_path / name)


@pytest.mark.parametrize("reader", READERS)
def test_names_that_cannot_be_are_one_line(reader: str, tmp_path: Path) -> None:
    for name, reason in [("nu\0ll", "no file can have this name"), ("\ud800", "no file can have this name")]:
        with pytest.raises(FileError, match=reason):
            READERS[reader](tmp_path / name)
    with pytest.raises(FileError, match="File name too long") as error:
        READERS[reader](tmp_path / ("n" * 5000 + ".toml"))
    assert len(str(error.value)) < 1000
    with pytest.raises(FileError, match="Is a directory"):
        READERS[reader](tmp_path)


def test_a_text_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * 11)
    assert read_text(tmp_path / "long", 11) == "x" * 11
    with pytest.raises(FileError, match="longer than 10 bytes"):
        read_text(tmp_path / "long", 10)
    (tmp_path / "latin").write_bytes("Jaśkowski".encode("utf-16"))
    with pytest.raises(FileError, match="latin: cannot be read: not text"):
        read_text(tmp_path / "latin")


def test_standard_input_is_read_where_it_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with (tmp_path / "file").open() as file, open_input(Path(f"/dev/fd/{file.fileno()}")) as found:
        assert found.read() == b"text"


def test_paths_in_messages_are_one_line_of_bounded_length() -> None:
    assert shown("runs/minute") == "runs/minute"
    assert shown("a\nb\x1b[2Jc") == "a?b?[2Jc"
    assert len(shown("x" * 10_000)) == 301


def test_without_compilation_there_is_one_clear_line() -> None:
    code = """
import tilewright
try:
    tilewright.evaluate("random", games=1)
except tilewright.UsageError as error:
    print(error)
"""
    found = run_python(code, NUMBA_DISABLE_JIT="1")
    assert found.stdout == "NUMBA_DISABLE_JIT is set; the kernels of tilewright must be compiled: unset it\n", (
        found.stderr
    )
