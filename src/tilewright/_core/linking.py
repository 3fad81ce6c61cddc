"""Code libraries for kernels, and for the helpers that are compiled into them.

Numba optimises every function on its own and emits machine code for it, although a helper only ever runs inside a
kernel. That would take a third of the compile time. A helper's library therefore keeps its code unoptimised; the
library of a kernel links the helpers in, makes them internal, and optimises the whole.

A module that is linked into another is destroyed by that. llvmlite notes this afterwards; here it is noted before, so
that Ctrl-C between the two does not destroy the module again.

An internal function loses the arguments that it does not use. Numba passes an array as seven arguments, and a search
passes dozens of arrays down its recursion: without that, copying them took a quarter of the time of deep searches.
"""

from typing import NoReturn

from llvmlite.binding import Linkage, ModuleRef, linker, module
from numba.core.codegen import CodeLibrary, JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler
from numba.core.cpu import CPUContext
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.typing import Context

__all__ = ["DeferredCompiler", "Helper", "KernelCompiler"]


def _link_modules(target: ModuleRef, source: ModuleRef) -> None:
    """Link a module into another, which destroys it: from here on, its Python object does not own it."""
    source._owned = True
    linker.link_modules(target, source)


module.link_modules = _link_modules  # `ModuleRef.link_in` calls it


class DeferredLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one helper: not optimised, and without machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: a helper has no address of its own."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "DeferredLibrary":
        """Return this library: Numba calls `library.codegen.set_env`, which must do nothing here."""
        return self

    def set_env(self, name: str, environment: Environment) -> None:
        """Do nothing: without machine code there is no environment to set."""


class DeferredCompiler(Compiler):  # type: ignore[misc]
    """Compiles a helper into a `DeferredLibrary`."""

    def __init__(self, typingctx: Context, targetctx: CPUContext, library: CodeLibrary | None, *others: object) -> None:
        super().__init__(typingctx, targetctx, library or DeferredLibrary(targetctx.codegen(), "helper"), *others)


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one kernel, with all its helpers."""

    def _optimize_final_module(self) -> None:
        """Make the helpers internal, so that LLVM may drop their unused arguments, then optimise."""
        if any(one.name.startswith(RuntimeLinker.PREFIX) for one in self._final_module.global_variables):
            raise TypeError("helpers of a kernel may call themselves, but not each other in a circle")
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()

    def _finalize_specific(self) -> None:
        """Make the machine code, which LLVM hands over to a callback: Python drops Ctrl-C there.

        Raises:
            KeyboardInterrupt: The machine code has not arrived.
        """
        super()._finalize_specific()
        if self._object_caching_enabled and not self._compiled:
            raise KeyboardInterrupt


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel."""

    def __init__(self, typingctx: Context, targetctx: CPUContext, library: CodeLibrary | None, *others: object) -> None:
        if library is None:
            library = KernelLibrary(targetctx.codegen(), "kernel")
            library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *others)


class Helper(CPUDispatcher):  # type: ignore[misc]
    """A function that only kernels can call."""

    def __call__(self, *arguments: object) -> NoReturn:
        raise TypeError(f"{self.__name__} is for kernels")
