"""Compiling: the decorators of kernels and of the helpers that are compiled into them."""

import ctypes
import functools
import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.registry import CPUDispatcher
from numba.core.typing import Signature
from numba.extending import overload
from numpy.typing import NDArray

from tilewright._core import kernel_cache
from tilewright._core.linking import DeferredCompiler, Helper, KernelCompiler
from tilewright.errors import UsageError

__all__ = [
    "Float",
    "Instruction",
    "Int",
    "Word",
    "cache_folder",
    "implements",
    "inline",
    "kernel",
    "linked",
    "portable",
    "specialise",
    "writable_view",
]

F = TypeVar("F", bound=Callable[..., object])
S = TypeVar("S", bound=np.generic)

# What the function behind a Numba intrinsic returns: its signature, and what generates its code.
Instruction: TypeAlias = tuple[
    Signature, Callable[[BaseContext, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value]
]

if numba.config.DISABLE_JIT:
    raise UsageError("NUMBA_DISABLE_JIT is set; the kernels of tilewright must be compiled: unset it")

# The types of scalars in a kernel are known when it is compiled; a type checker does not see them.
Word: TypeAlias = Any  # uint64
Int: TypeAlias = Any  # int64
Float: TypeAlias = Any  # float32

_ALWAYS = {"error_model": "numpy", "no_cfunc_wrapper": True}
_OF_HELPERS = {**_ALWAYS, "_nrt": False, "no_cpython_wrapper": True, "pipeline_class": DeferredCompiler}
_SLOW_BIT_GATHERING = {"bdver4", "znver1", "znver2"}  # pext and pdep are microcoded there


@functools.cache
def portable() -> bool:
    """Tell whether kernels must do without the BMI2 instructions (`TILEWRIGHT_PORTABLE=1` forces it)."""
    if os.environ.get("TILEWRIGHT_PORTABLE", "0") not in ("", "0"):
        return True
    features = llvmlite.binding.get_host_cpu_features()
    return not features.get("bmi2", False) or llvmlite.binding.get_host_cpu_name() in _SLOW_BIT_GATHERING


def writable_view(array: NDArray[S]) -> NDArray[S]:
    """Return the same array for kernels that only read it.

    Numba would compile a kernel again for an array that is marked read-only, as those of mapped files are.
    """
    if array.flags.writeable or not array.size:
        return array
    memory: Any = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # keeps it alive
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


def cache_folder() -> Path | None:
    """Return the folder that compiled kernels are kept in; None where none can be used. Nothing is made."""
    return kernel_cache.cache_folder(f"portable={portable()}")


def _cached(**options: object) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        compiled: CPUDispatcher = numba.njit(nogil=True, **_ALWAYS, **options)(function)
        folder = cache_folder()
        if folder is not None and Path(inspect.getfile(function)).exists():
            compiled._cache = kernel_cache.KernelCache(function, folder)
        return cast(F, compiled)

    return decorate


def kernel(function: F) -> F:
    """Compile `function` on first call, without the GIL, and keep the machine code on disk.

    A kernel owns no memory: its arrays are arguments, and it makes none. Numba then counts no references; every count
    is an atomic operation, and together they took a quarter of the time of learning.
    """
    return _cached(_nrt=False, pipeline_class=KernelCompiler)(function)


def specialise(function: F, *arguments: object) -> F:
    """Return the machine code of a kernel for arguments of these types.

    It serves calls in tight Python loops: Numba takes longer to find the types of nested tuples than most kernels take
    to run. The caller must keep to the types.
    """
    compiled: CPUDispatcher = function
    signature = tuple(numba.typeof(argument) for argument in arguments)
    compiled.compile(signature)
    entry: F = compiled.overloads[signature].entry_point
    return entry


def inline(function: F) -> F:
    """A helper that is always compiled into the kernels that call it; Python cannot call it."""
    compiled: CPUDispatcher = numba.njit(forceinline=True, **_OF_HELPERS)(function)
    compiled.__class__ = Helper
    return cast(F, compiled)


def linked(function: F) -> F:
    """A helper like `inline` that stays a function of its own.

    It is for helpers that call themselves (not for several that call each other in a circle), and for large code that
    is rarely called.

    It is optimised once, with the kernel that calls it; a `kernel` would be optimised by itself as well.
    """
    options = {"forceinline": False, **_OF_HELPERS}  # Numba would pass on the option of an inlined helper that calls it
    compiled: CPUDispatcher = numba.njit(**options)(function)
    compiled.__class__ = Helper
    return cast(F, compiled)


def implements(verb: Callable[..., object], *kinds: type, forceinline: bool = True) -> Callable[[F], F]:
    """Attach the meaning of a verb for one or several NamedTuple types: `@implements(slide, Twenty48Rules)`.

    A verb is a plain function that only names its arguments. In a kernel, a call of it means the implementation for the
    type of its *first* argument, chosen while compiling: it costs nothing at run time and is cached on disk.
    """
    options = {"forceinline": forceinline, **_OF_HELPERS}

    def attach(function: F) -> F:
        @overload(verb, strict=False, jit_options=options)
        def choose(first: types.Type, *others: types.Type) -> F | None:
            if isinstance(first, types.BaseNamedTuple) and first.instance_class in kinds:
                return function
            return None

        return function

    return attach
