"""Finished layers: in memory, and in a folder as soon as enough of them are finished.

A file of the folder has some layers and is written completely or not at all, so that after `kill -9` the work goes on
from the last file.
"""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tilewright._core.appending import PATIENCE, write_patiently
from tilewright._core.files import Array, make_folder, read_tensors, remove_unfinished, write_tensors
from tilewright._core.jit import writable_view
from tilewright._core.locks import try_lock
from tilewright.errors import FileError, UsageError

__all__ = ["Layers", "open_layers", "remove_layers", "work_folder_of"]

_FILE_BYTES = 1 << 27
_FILE_SECONDS = 20.0
FORMAT = "tilewright layers"


class Layers:
    """Arrays by name and sum.

    Args:
        folder: Where to keep them; None for memory alone.
        identity: What they belong to; a folder of something else is refused.
    """

    def __init__(self, folder: Path | None, identity: Mapping[str, str]) -> None:
        self._folder, self._identity = folder, {**identity, "format": FORMAT}
        self._arrays: dict[str, Array] = {}
        self._waiting: list[str] = []  # not in a file yet
        self._files = 0
        self._saved_at = time.monotonic()
        self.seconds = 0.0  # how long the work took until now
        if folder is not None:
            self._read(folder)

    def _read(self, folder: Path) -> None:
        for unfinished in folder.glob(".*.part"):
            unfinished.unlink()
        for file in sorted(folder.glob("*.safetensors")):
            try:
                arrays, metadata = read_tensors(file)
            except FileError as error:
                raise FileError(f"{error}; delete the folder {folder} to begin again") from None
            seconds = float(metadata.pop("seconds", "0"))
            metadata.pop("sha256")
            if metadata != self._identity:
                raise FileError(f"{folder}: has layers of something else; delete it, or choose another output file")
            self._arrays.update((name, writable_view(array)) for name, array in arrays.items())
            self.seconds, self._files = seconds, self._files + 1

    def __contains__(self, key: tuple[str, int]) -> bool:
        return _name(key) in self._arrays

    def __getitem__(self, key: tuple[str, int]) -> Array:
        return self._arrays[_name(key)]

    def get(self, key: tuple[str, int], default: Array) -> Array:
        """Return an array, or `default` if there is none."""
        return self._arrays.get(_name(key), default)

    def __setitem__(self, key: tuple[str, int], array: Array) -> None:
        self._arrays[_name(key)] = array
        self._waiting.append(_name(key))

    def save(self, seconds: float, *, now: bool = False) -> None:
        """Write the layers that are not in a file yet, if they are many or old.

        Args:
            seconds: How long the work took until now.
            now: Whether to write them in any case.
        """
        if self._folder is None or not self._waiting:
            return
        size = sum(self._arrays[name].nbytes for name in self._waiting)
        if not now and size < _FILE_BYTES and time.monotonic() - self._saved_at < _FILE_SECONDS:
            return
        file = self._folder / f"{self._files:06d}.safetensors"
        arrays: dict[str, Array | list[Array]] = {name: self._arrays[name] for name in self._waiting}
        metadata = {**self._identity, "seconds": repr(seconds)}
        write_patiently(lambda: write_tensors(file, arrays, metadata), lambda: PATIENCE)
        mapped, _ = read_tensors(file)
        self._arrays.update((name, writable_view(array)) for name, array in mapped.items())
        self._waiting, self._files, self._saved_at = [], self._files + 1, time.monotonic()


def _name(key: tuple[str, int]) -> str:
    return f"{key[0]}/{key[1]}"


def work_folder_of(out: Path) -> Path:
    """The folder that keeps finished layers until the table `out` is written."""
    return out.with_name(f"{out.name}.work")


@contextmanager
def open_layers(out: Path | None, identity: Mapping[str, str]) -> Iterator[Layers]:
    """Open the layers of the table that will be written to `out`, and remove their folder when the block ends well.

    Raises:
        UsageError: Another process works on the same table.
        FileError: The folder cannot be used.
    """
    if out is None:
        yield Layers(None, identity)
        return
    folder = work_folder_of(out)
    make_folder(folder)
    with try_lock(folder / "lock") as is_ours:
        if not is_ours:
            raise UsageError(f"{out}: another process is solving it at this moment")
        remove_unfinished(out)
        yield Layers(folder, identity)
        shutil.rmtree(folder, ignore_errors=True)


def remove_layers(out: Path) -> None:
    """Remove the layers of a table that is written; a process was killed after it had written it."""
    folder = work_folder_of(out)
    if not folder.is_dir():
        return
    with try_lock(folder / "lock") as is_ours:
        if is_ours:
            shutil.rmtree(folder, ignore_errors=True)
