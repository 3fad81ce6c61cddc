"""Outputs: what may be replaced, and what never is."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright import evaluate
from tilewright._core.files import write_tensors, write_text
from tilewright._core.html import HTML, page
from tilewright._core.outputs import MODEL, FileKind, check_different, check_output
from tilewright._core.plots import PNG, new_figure, png
from tilewright._core.tables import CSV, PARQUET, write_table
from tilewright.errors import FileError, UsageError
from tilewright.play.recording import RECORDING

KINDS = {"png": PNG, "csv": CSV, "parquet": PARQUET, "html": HTML, "model": MODEL, "recording": RECORDING}


def model(path: Path) -> None:
    write_tensors(path, {"weights": np.zeros(3, np.float32)}, {"format": "tilewright-model-3"})


def checkpoint(path: Path) -> None:
    write_tensors(path, {"weights": np.zeros(3, np.float32)}, {"format": "tilewright-checkpoint-3"})


WRITERS: dict[str, Callable[[Path], object]] = {
    "png": lambda path: path.write_bytes(png(new_figure(1.0, 1.0))),
    "csv": lambda path: write_table(path, {"number": [0, 1], "score": [8, None]}),
    "parquet": lambda path: path.write_bytes(b"PAR1" + bytes(20)),
    "html": lambda path: path.write_text(page("title", "<p>text</p>")),
    "model": model,
    "recording": lambda path: evaluate("random", games=1, record=path),
    "checkpoint": checkpoint,
    "notes": lambda path: path.write_text("my thesis, chapter one\nit begins, after a while\n"),
    "script": lambda path: path.write_text("import os, sys\n"),
    "toml": lambda path: path.write_text('games = 5\nnetwork = "4x6"\n'),
    "zip": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(100)),
    "zeros": lambda path: path.write_bytes(bytes(100)),
    "theirs": lambda path: path.write_bytes((2).to_bytes(8, "little") + b"{}"),
}


@pytest.mark.parametrize("there", WRITERS)
def test_a_file_is_replaced_by_one_of_its_kind_alone(there: str, tmp_path: Path) -> None:
    """Whatever it is called: the content decides."""
    path = tmp_path / "output.png"
    WRITERS[there](path)
    before = path.read_bytes()
    for name, kind in KINDS.items():
        if name == there:
            check_output(path, kind)
            continue
        with pytest.raises(
            FileError, match=f"output.png: is not an? {kind.name}, and is left as it is; force replaces it"
        ):
            check_output(path, kind)
        check_output(path, kind, force=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", [*KINDS.values(), None])
def test_what_is_no_file_is_never_replaced(kind: FileKind | None, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/dev/null")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    for path, reason in [
        (tmp_path / "pipe", "a pipe or a device"),
        (Path("/dev/null"), "a pipe or a device"),
        (tmp_path / "link", "a pipe or a device"),
        (tmp_path / "folder", "Is a directory"),
        (Path(), "Is a directory"),
        (Path("/"), "Is a directory"),
        (tmp_path / "file" / "below", "Not a directory"),
        (tmp_path / ("n" * 300), "File name too long"),
        (tmp_path / "nu\0ll", "no file can have this name"),
        (tmp_path / "loop", ""),
    ]:
        with pytest.raises(FileError, match=f"cannot be written: {reason}"):
            check_output(path, kind, force=True)
    assert (tmp_path / "pipe").is_fifo()


def test_an_input_is_never_replaced_by_whatever_name_it_goes(tmp_path: Path) -> None:
    model(tmp_path / "model")
    (tmp_path / "hard").hardlink_to(tmp_path / "model")
    (tmp_path / "soft").symlink_to("model")
    for name in ("model", "hard", "soft", "./model"):
        with pytest.raises(FileError, match="is read by this command, and cannot be written"):
            check_output(tmp_path / name, MODEL, inputs=[tmp_path / "model"], force=True)
    check_output(tmp_path / "other", MODEL, inputs=[tmp_path / "model", tmp_path / "missing"])


def test_an_empty_file_has_no_kind(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for kind in KINDS.values():
        check_output(tmp_path / "empty", kind)


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    check_different(tmp_path / "a", None, tmp_path / "b", None)
    with pytest.raises(UsageError, match="is given for two outputs"):
        check_different(tmp_path / "a", tmp_path / "b", tmp_path / "." / "a")


def test_a_link_leads_to_the_file_that_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "text")
    for text in ("first", "second"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "far" / "text").read_text() == text
    assert (tmp_path / "link").is_symlink()


def test_a_name_of_any_length_that_the_system_allows_is_written(tmp_path: Path) -> None:
    for name in ("n" * 255, "ñ" * 127):
        write_text(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"


def test_tables_images_and_models_go_through_the_check(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("my thesis")
    with pytest.raises(FileError, match="is not a CSV table"):
        evaluate("random", games=2).to_csv(notes)
    with pytest.raises(FileError, match="is not a file of recorded games"):
        evaluate("random", games=2, record=notes)
    assert notes.read_text() == "my thesis"
    evaluate("random", games=2).to_csv(notes, force=True)
    assert notes.read_text().startswith("number,seed,score")
