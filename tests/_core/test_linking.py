"""Ctrl-C while a kernel is compiled, at the two moments at which llvmlite does not expect it."""

from pathlib import Path

from tests.process import run_python

GAME = """
import gc
import signal
import types

import tilewright as tw

signal.signal(signal.SIGINT, signal.default_int_handler)


def slide():
    game = tw.make_game("2048")
    try:
        game.slide("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "left")
    except KeyboardInterrupt:
        print("stopped")
    gc.collect()
"""
STOPPED_WHILE_LINKING = """
from llvmlite.binding import linker

library = linker.ffi.lib


class Interrupting:
    def __getattr__(self, name):
        return getattr(library, name)

    def LLVMPY_LinkModules(self, *arguments):
        result = library.LLVMPY_LinkModules(*arguments)
        signal.raise_signal(signal.SIGINT)
        return result


linker.ffi = types.SimpleNamespace(lib=Interrupting(), OutputString=linker.ffi.OutputString)
slide()
"""
STOPPED_WITH_MACHINE_CODE = """
import signal

from numba.core.codegen import JITCodeLibrary

interrupts = [signal.SIGINT]
JITCodeLibrary._object_compiled_hook = lambda module, code: interrupts and signal.raise_signal(interrupts.pop())
"""
COMMAND = """
import sys

from tilewright.cli import main

main._SOON_SECONDS = 600  # the interrupt is not only repeated
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["tilewright", "move", "--agent", "greedy", "1120000000000001"]
main.run()
"""


def test_ctrl_c_after_modules_are_linked_stops_in_order(tmp_path: Path) -> None:
    """The linked module is gone: without `linking._link_modules`, its memory was given back twice."""
    said = run_python(GAME + STOPPED_WHILE_LINKING, TILEWRIGHT_CACHE=str(tmp_path))
    assert (said.returncode, said.stdout) == (0, "stopped\n"), said.stderr


def test_ctrl_c_when_machine_code_is_handed_over_is_not_lost(tmp_path: Path) -> None:
    """Python drops the exceptions of callbacks from C, and Numba then misses the code with a RuntimeError."""
    said = run_python(STOPPED_WITH_MACHINE_CODE + GAME + "slide()", TILEWRIGHT_CACHE=str(tmp_path))
    assert (said.returncode, said.stdout) == (0, "stopped\n"), said.stderr


def test_a_command_is_stopped_when_machine_code_is_handed_over(tmp_path: Path) -> None:
    said = run_python(STOPPED_WITH_MACHINE_CODE + COMMAND, TILEWRIGHT_CACHE=str(tmp_path))
    errors = [line for line in said.stderr.splitlines() if line and not line.startswith("compiling kernels")]
    assert (said.returncode, errors) == (1, ["tilewright: stopped"])
