"""Compiling: the decorators that kernels wear, and the disk cache they are loaded from.

Numba caches machine code per source file and does not notice that a *called* function in another file
changed. All kernels therefore share one cache folder whose name is a hash of the package's sources, of
Numba's version and of the choices made while compiling: a stale kernel can never be loaded.
"""

import ctypes
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import llvmlite.binding
import numba
import numpy as np
from numba import types
from numba.core import config
from numba.core.caching import IndexDataCacheFile
from numba.extending import overload
from numpy.typing import NDArray

from tilewright._core.linking import DeferredCompiler, Helper

__all__ = [
    "Int",
    "Word",
    "allocating_kernel",
    "cache_folder",
    "implements",
    "inline",
    "kernel",
    "linked",
    "portable",
    "specialise",
    "writable_view",
]

F = TypeVar("F", bound=Callable[..., Any])

# What scalars are in a kernel is settled when it is compiled, out of sight of a type checker.
Word: TypeAlias = Any  # uint64
Int: TypeAlias = Any  # int64

_ALWAYS = {"error_model": "numpy", "no_cfunc_wrapper": True}
_OF_HELPERS = {**_ALWAYS, "_nrt": False, "no_cpython_wrapper": True, "pipeline_class": DeferredCompiler}
_NO_KERNELS = {
    "bench",
    "cli",
    "reproduce",
    "testing.py",
    "training",
    "web",
}  # folders whose changes no kernel can notice
_STALE_AFTER_DAYS = 30
_FOLDER_NAME = re.compile("[0-9a-f]{16}")
_SLOW_BIT_GATHERING = {"bdver4", "znver1", "znver2"}  # pext and pdep are microcoded there


@functools.cache
def portable() -> bool:
    """Whether kernels must do without the BMI2 instructions (`TILEWRIGHT_PORTABLE=1` forces it)."""
    if os.environ.get("TILEWRIGHT_PORTABLE", "0") not in ("", "0"):
        return True
    features = llvmlite.binding.get_host_cpu_features()
    return not features.get("bmi2", False) or llvmlite.binding.get_host_cpu_name() in _SLOW_BIT_GATHERING


def writable_view(array: NDArray[Any]) -> NDArray[Any]:
    """The same array for kernels that only read it: Numba would compile them anew for one that is marked read-only,
    as those of mapped files and of other processes are."""
    if array.flags.writeable or not array.size:
        return array
    memory: Any = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # keeps it alive
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled kernels for exactly these sources; made on first use."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {portable()}".encode())
    package = Path(__file__).parents[1]
    for source in sorted(package.rglob("*.py")):
        if source.relative_to(package).parts[0] in _NO_KERNELS:
            continue
        digest.update(source.relative_to(package).as_posix().encode() + source.read_bytes())
    for root in _cache_roots():
        folder = root / digest.hexdigest()[:16]
        try:
            if not folder.exists():
                folder.mkdir(parents=True)
                _remove_stale(root)
            os.utime(folder)
        except OSError:
            continue
        return folder
    raise OSError("no folder for compiled kernels can be written; set TILEWRIGHT_CACHE to one that can")


def _cache_roots() -> Iterator[Path]:
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


def _remove_stale(root: Path) -> None:
    """Forget the kernels of sources that were not used for a month; whatever else is in the folder is not ours."""
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    for folder in root.iterdir():
        if _FOLDER_NAME.fullmatch(folder.name) and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _our_cache() -> Iterator[None]:
    """Numba reads its cache folder while decorating; other users' Numba code keeps its own."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
    try:
        yield
    finally:
        config.CACHE_DIR = before


class _Index(IndexDataCacheFile):  # type: ignore[misc]
    """A list of the kernels on disk that a process can read even if it cannot import every type that is named there.

    Numba would fail on a policy type that some script made up for itself; here the list then counts as empty.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # noqa: BLE001  (whatever importing a stranger's module may raise)
            return {}


def _cached(**options: Any) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        with _our_cache():
            compiled: Any = numba.njit(cache=True, nogil=True, **_ALWAYS, **options)(function)
        compiled._cache._cache_file.__class__ = _Index
        return compiled  # type: ignore[no-any-return]

    return decorate


def kernel(function: F) -> F:
    """Compile `function` on first call, without the GIL, and keep the machine code on disk.

    A kernel owns no memory: its arrays are arguments, and it makes none. Numba then counts no references; every count
    is an atomic operation, and together they took a quarter of the time of learning.
    """
    return _cached(_nrt=False)(function)


def allocating_kernel(function: F) -> F:
    """A kernel that may make arrays: for what is done once, or rarely."""
    return _cached(_nrt=True)(function)


def specialise(function: F, *arguments: Any) -> F:
    """The machine code of a kernel for arguments of these types, without the look at their types in every call.

    For calls in tight Python loops: what Numba does to find the types of nested tuples takes longer than most kernels.
    Whoever calls it must keep to the types.
    """
    compiled: Any = function
    signature = tuple(numba.typeof(argument) for argument in arguments)
    compiled.compile(signature)
    entry: F = compiled.overloads[signature].entry_point
    return entry


def inline(function: F) -> F:
    """A helper that is always compiled into the kernels that call it; Python cannot call it."""
    compiled: Any = numba.njit(forceinline=True, **_OF_HELPERS)(function)
    compiled.__class__ = Helper
    return compiled  # type: ignore[no-any-return]


def linked(function: F) -> F:
    """A helper like `inline` that stays a function of its own: for recursion, and for what is large and rarely called.

    It is optimised once, with the kernel that calls it; a `kernel` would be optimised by itself as well.
    """
    compiled: Any = numba.njit(**_OF_HELPERS)(function)
    compiled.__class__ = Helper
    return compiled  # type: ignore[no-any-return]


def implements(verb: Callable[..., Any], *kinds: type, forceinline: bool = True) -> Callable[[F], F]:
    """Attach the meaning of a verb for one or several NamedTuple types: `@implements(slide, Twenty48Rules)`.

    A verb is a plain function that only names its arguments. In a kernel, a call of it means the implementation for the
    type of its *first* argument, chosen while compiling: it costs nothing at run time and is cached on disk.
    """
    options = {"forceinline": forceinline, **_OF_HELPERS}

    def attach(function: F) -> F:
        @overload(verb, strict=False, jit_options=options)
        def choose(first: Any, *others: Any) -> Any:
            if isinstance(first, types.BaseNamedTuple) and first.instance_class in kinds:
                return function
            return None

        return function

    return attach
