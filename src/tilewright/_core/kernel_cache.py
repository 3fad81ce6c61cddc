"""The disk cache of compiled kernels.

Numba caches machine code per source file and does not notice that a *called* function in another file changed. All
kernels therefore share one folder whose name is a hash of the package's sources, of Numba's version and of the choices
made while compiling: a stale kernel can never be loaded. The folder is made when the first kernel is saved; importing
the package writes nothing.

Numba unpickles the files of its cache, so whoever can write them can run code. A folder is used only if it belongs to
this user, if nobody else can write to it, and if it is not a link. Damaged files are ignored, and their kernels
compiled again. `TILEWRIGHT_CACHE` names another folder.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
from numba.core.base import BaseContext
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.compiler import CompileResult
from numba.core.typing import Signature

from tilewright._core.folders import make_folders

__all__ = ["KernelCache", "cache_folder", "cache_roots", "why_unsafe"]

_NO_KERNELS = {
    "bench",
    "cli",
    "doctor.py",
    "reproduce",
    "testing.py",
    "training",
    "web",
}  # their changes affect no kernel
_STALE_AFTER_DAYS = 30
_FOLDER_NAME = re.compile("[0-9a-f]{16}")
_DIGEST_BYTES = 32


def cache_roots() -> Iterator[Path]:
    """Yield the folders that may hold the cache, the preferred one first."""
    if chosen := os.environ.get("TILEWRIGHT_CACHE"):
        yield Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:
        pass
    else:
        yield Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "tilewright" / "kernels"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    yield Path(tempfile.gettempdir()) / f"tilewright-{user}"


def why_unsafe(folder: Path) -> str:
    """Return why an existing folder must not hold the cache, or an empty text."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a folder"
    if os.name == "posix" and found.st_uid != os.getuid():
        return "it belongs to another user"
    if os.name == "posix" and found.st_mode & 0o022:
        return "others can write to it"
    return ""


def _can_be_made(folder: Path) -> bool:
    """Tell whether the folder exists or could be made, without making it."""
    for parent in (folder, *folder.parents):
        if parent.exists():
            return parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)
    return False


@functools.cache
def cache_folder(variant: str) -> Path | None:
    """Return the folder of the kernels for exactly these sources, or None where no safe folder can be written.

    Args:
        variant: The choices made while compiling.
    """
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {variant}".encode())
    package = Path(__file__).parents[1]
    for source in sorted(package.rglob("*.py")):
        if source.relative_to(package).parts[0] not in _NO_KERNELS:
            digest.update(source.relative_to(package).as_posix().encode() + source.read_bytes())
    problems = []
    for root in cache_roots():
        folder = root / digest.hexdigest()[:16]
        problem = why_unsafe(root) or why_unsafe(folder)
        if not problem and _can_be_made(folder):
            return folder
        problems.append(f"{root}: {problem or 'it cannot be written'}")
    warnings.warn(f"compiled kernels are not kept: {'; '.join(problems)}; set TILEWRIGHT_CACHE", stacklevel=2)
    return None


def _make_folder(folder: Path) -> None:
    """Make the folder for this user alone, mark it as used, and remove those that were not used for a month."""
    new = not folder.exists()
    make_folders(folder.parent, 0o700)
    folder.mkdir(mode=0o700, exist_ok=True)
    if problem := why_unsafe(folder.parent) or why_unsafe(folder):
        raise OSError(f"{folder}: {problem}")
    os.utime(folder)
    if new:
        oldest = time.time() - _STALE_AFTER_DAYS * 86_400
        for other in folder.parent.iterdir():
            if _FOLDER_NAME.fullmatch(other.name) and other.is_dir() and other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)


@functools.cache
def _hash_of(file: str) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()


@functools.cache
def _mark_used(folder: str) -> None:
    """Keep the folder from being removed, once a process."""
    with contextlib.suppress(OSError):
        os.utime(folder)


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Tells Numba where the kernels of a source file are."""

    def __init__(self, folder: Path, file: str, line: int) -> None:
        self._folder, self._file, self._line = folder, file, line

    def ensure_cache_path(self) -> None:
        _make_folder(self._folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> bytes:
        return _hash_of(self._file)

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Impl(CompileResultCacheImpl):  # type: ignore[misc]
    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        file = inspect.getfile(function)
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(folder, file, self._lineno)
        path = hashlib.sha256(file.encode()).hexdigest()[:8]
        self._filename_base = self.get_filename_base(f"{function.__module__}.{function.__qualname__}.{path}", "")


class _CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Files with a checksum; one that is damaged, or names types that this process cannot import, is not there."""

    def _load_index(self) -> dict[object, str]:
        try:
            found: dict[object, str] = super()._load_index()
        except Exception:  # noqa: BLE001  (whatever unpickling may raise)
            return {}
        return found

    def load(self, key: object) -> object:
        try:
            return super().load(key)
        except Exception:  # noqa: BLE001
            return None

    def _load_data(self, name: str) -> object:
        content = Path(self._data_path(name)).read_bytes()
        checksum, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(data).digest() != checksum:
            return None
        return self._undump(data)

    def _save_data(self, name: str, data: object) -> None:
        dumped = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(dumped).digest() + dumped)

    @staticmethod
    def _undump(data: bytes) -> object:
        from numba.core import caching

        return caching.pickle.loads(data)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel, in the package's folder."""

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        self._name, self._py_func = repr(function), function
        self._impl = _Impl(function, folder)
        self._cache_path = str(folder)
        locator = self._impl.locator
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, locator.get_source_stamp())
        self.enable()

    def load_overload(self, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        """Load a kernel, and mark the folder as used.

        Numba's method first refreshes the context: it imports what it needs to translate functions, and SciPy if that
        is installed. That takes longer than everything else in a start, and only compiling needs it, which refreshes
        the context itself. Machine code of kernels needs nothing of it, as they have no reference counts.
        """
        with self._guard_against_spurious_io_errors():
            found: CompileResult | None = self._load_overload(sig, target_context)
        if found is not None:
            _mark_used(self._cache_path)
        return found

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Save a kernel; where that fails, it is compiled again next time."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warnings.warn(f"a compiled kernel is not kept: {error}; set TILEWRIGHT_CACHE", stacklevel=2)
            self.disable()
