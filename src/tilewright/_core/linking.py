"""Helpers of kernels: code that is linked into the kernels that call it, and optimised there.

Numba would also optimise every helper by itself, and make machine code of it that nobody calls. That is a third of the
time of compiling, and most of it is for helpers of helpers, again and again.
"""

from typing import NoReturn

from llvmlite.binding import Linkage
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.cpu import CPUContext
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.typing import Context

__all__ = ["DeferredCompiler", "Helper"]


class DeferredLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one helper, as it was translated."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: the code has no address before a kernel contains it."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "DeferredLibrary":
        """Return what Numba calls `set_env` of."""
        return self

    def set_env(self, name: str, environment: Environment) -> None:
        """Code that is nowhere needs no surroundings."""


class DeferredCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function to a part."""

    def __init__(self, typingctx: Context, targetctx: CPUContext, library: CodeLibrary | None, *others: object) -> None:
        super().__init__(typingctx, targetctx, library or DeferredLibrary(targetctx.codegen(), "part"), *others)


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one kernel, with all its helpers."""

    def _optimize_final_module(self) -> None:
        """Nobody else calls the helpers: mark them as internal."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel."""

    def __init__(self, typingctx: Context, targetctx: CPUContext, library: CodeLibrary | None, *others: object) -> None:
        if library is None:
            library = KernelLibrary(targetctx.codegen(), "kernel")
            library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *others)


class Helper(CPUDispatcher):  # type: ignore[misc]
    """A function of which there are only parts."""

    def __call__(self, *arguments: object) -> NoReturn:
        raise TypeError(f"{self.__name__} is for kernels")
