"""Compiled kernels are loaded when they are current, and only then."""

import gc
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.process import PACKAGE, run_python, run_tilewright
from tilewright import make_game
from tilewright._core import jit
from tilewright._core.linking import KernelCompiler
from tilewright.games.rules import typed_state
from tilewright.games.state_kernels import slide_one

DAY = 86_400
FOLDER = "from tilewright._core.jit import cache_folder; print(cache_folder().name)"
REWARD = """
import tilewright as tw
game = tw.make_game("2048")
print(game.slide(game.parse("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"), "left")[1])
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may change."""
    copied = tmp_path / "lib" / "tilewright"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def folder_name(package: Path, cache: Path, **changes: str) -> str:
    found = run_python(FOLDER, package, TILEWRIGHT_CACHE=str(cache), **changes)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def edit(source: Path, old: str, new: str) -> None:
    """Change a source and hide it from any check of times and sizes that its importers' files could make."""
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))


def test_a_changed_rule_is_used_though_the_kernels_that_call_it_are_cached(package: Path, tmp_path: Path) -> None:
    """Numba alone looks at the file of the kernel only: the one that fills the tables is in another file."""

    def reward() -> str:
        found = run_python(REWARD, package, TILEWRIGHT_CACHE=str(tmp_path / "cache"))
        assert found.returncode == 0, found.stderr
        return found.stdout.strip()

    assert reward() == "4"
    edit(package / "games" / "twenty48.py", "reward += 2 << code", "reward += 4 << code")
    assert reward() == "8"
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_the_cache_folder_follows_kernel_sources_and_nothing_else(package: Path, tmp_path: Path) -> None:
    before = folder_name(package, tmp_path)
    edit(package / "cli" / "main.py", "there is no command", "there is not any command")
    assert folder_name(package, tmp_path) == before
    (package / "agents" / "new.py").write_text('"""A new module."""\n')
    added = folder_name(package, tmp_path)
    (package / "agents" / "new.py").rename(package / "agents" / "newer.py")
    renamed = folder_name(package, tmp_path)
    chosen = folder_name(package, tmp_path, TILEWRIGHT_PORTABLE="0" if jit.portable() else "1")
    assert len({before, added, renamed, chosen}) == (3 if jit.portable() else 4)


def test_the_second_process_loads_what_the_first_compiled(tmp_path: Path) -> None:
    command = ("evaluate", "random", "--games", "10", "--threads", "1")
    first, second = (run_tilewright(*command, TILEWRIGHT_CACHE=str(tmp_path)) for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert first.stderr.splitlines() == [f"compiling kernels… (once; the next start loads them from {tmp_path})"]
    assert second.stderr == ""
    figures = [[line for line in run.stdout.splitlines() if not line.startswith("speed")] for run in (first, second)]
    assert figures[0] == figures[1]


def test_other_code_keeps_its_own_numba_cache(tmp_path: Path) -> None:
    script = "import tilewright.play.evaluate, numba; print(numba.config.CACHE_DIR)"
    for chosen in ("", str(tmp_path)):
        assert run_python(script, NUMBA_CACHE_DIR=chosen).stdout.strip() == chosen


STRANGER = """
import sys, types
stranger = types.ModuleType("stranger")
sys.modules["stranger"] = stranger
exec('''
from typing import NamedTuple
class OwnPolicy(NamedTuple):
    pass
''', stranger.__dict__)
from tilewright import Agent, evaluate, make_game
from tilewright._core.jit import implements
from tilewright.games.policy import act

@implements(act, stranger.OwnPolicy)
def act_own(policy, rules, state, stream):
    for action in range(4):
        after, reward = slide(rules, state, action)
        if reward != -1:
            return action, after, reward
    return -1, state, 0

from tilewright.games.rules import slide

class Own(Agent):
    name = "own"
    def values(self, board, stream=None):
        return {}
    def policy(self, game):
        return stranger.OwnPolicy()

print(evaluate(Own(), make_game("2048:rows=2,columns=2"), games=3, threads=1).games)
"""


OTHER = """
from tilewright import evaluate, make_agent, make_game
print(evaluate(make_agent("random"), make_game("2048:rows=2,columns=2"), games=3).games)
"""


@pytest.mark.slow
def test_a_script_with_a_policy_of_its_own_leaves_the_cache_readable_for_others(package: Path, tmp_path: Path) -> None:
    """Its policy's type is in the list of cached kernels, and no other process can import it."""
    cache = str(tmp_path / "cache")
    own = run_python(STRANGER, package, TILEWRIGHT_CACHE=cache)
    assert own.stdout.strip() == "3", own.stderr
    other = run_python(OTHER, package, TILEWRIGHT_CACHE=cache)
    assert other.stdout.strip() == "3", other.stderr


def test_an_array_that_is_marked_read_only_is_read_as_any_other() -> None:
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert jit.writable_view(array) is array
    marked = array.copy()
    marked.flags.writeable = False
    seen = jit.writable_view(marked)
    assert numba.typeof(seen) == numba.typeof(array) != numba.typeof(marked)
    np.testing.assert_array_equal(seen, array)
    assert np.shares_memory(seen, marked)
    address = marked.ctypes.data
    del marked
    gc.collect()
    assert seen.ctypes.data == address
    np.testing.assert_array_equal(seen, array)
    assert jit.writable_view(np.frombuffer(b"", np.int16)).size == 0


def test_the_code_for_some_types_gives_what_the_kernel_gives() -> None:
    game = make_game("2048")
    board = game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    state = typed_state(board.state)
    direct = jit.specialise(slide_one, game.rules, state, 0)
    for action in range(4):
        assert direct(game.rules, state, action) == slide_one(game.rules, state, action)


def test_a_helper_is_for_kernels_alone_before_and_after_it_was_compiled() -> None:
    @jit.inline
    def twice(number: int) -> int:
        return 2 * number

    @numba.njit  # type: ignore[untyped-decorator]
    def four_times(number: int) -> int:
        return twice(twice(number))

    for _ in range(2):
        with pytest.raises(TypeError, match="twice is for kernels"):
            twice(3)
        assert four_times(3) == 12


def test_only_kernels_become_machine_code() -> None:
    """What a helper's own dispatcher holds leads nowhere; the kernel that it is linked into does its work."""

    @jit.inline
    def sum_of_squares(numbers: Any) -> int:
        total = 0
        for number in numbers:
            total += number * number
        return total

    @numba.njit  # type: ignore[untyped-decorator]
    def kernel(numbers: Any) -> int:
        return sum_of_squares(numbers)

    assert kernel(np.arange(10)) == 285
    helper: Any = sum_of_squares
    (compiled,) = helper.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
    (compiled,) = kernel.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) != 0


@jit.linked
def _rarely_called(number: int) -> int:
    return number + 1


@jit.inline
def _calls_a_linked_helper(number: int) -> int:
    return _rarely_called(number)


@numba.njit  # type: ignore[untyped-decorator]
def _calls_an_inlined_helper(number: int) -> int:  # not from the cache: the test looks at what is compiled
    return _calls_a_linked_helper(number)


def test_a_linked_helper_is_not_forced_into_the_inlined_helpers_that_call_it() -> None:
    assert _calls_an_inlined_helper(1) == 2
    compiled: Any = _rarely_called
    (overload,) = compiled.overloads.values()
    assert "alwaysinline" not in overload.library.get_llvm_str()


class _Arrays(NamedTuple):
    used: NDArray[np.int64]
    unused: NDArray[np.int64]


@jit.linked
def _fibonacci(arrays: _Arrays, n: int) -> int:
    if n < 2:
        return int(arrays.used[n])
    return _fibonacci(arrays, n - 1) + _fibonacci(arrays, n - 2)


def _first_fibonacci(arrays: _Arrays, n: int) -> int:
    return _fibonacci(arrays, n)


def test_a_recursive_helper_passes_on_only_what_it_uses() -> None:
    """An array is seven arguments, and a search passes dozens of arrays: copying them took a third of its time."""
    kernel: Any = numba.njit(pipeline_class=KernelCompiler)(_first_fibonacci)  # not cached: the test reads its code
    arrays = _Arrays(np.array([0, 1]), np.zeros(0, np.int64))
    assert kernel(arrays, 10) == 55
    (compiled,) = kernel.overloads.values()
    (arguments,) = re.findall(
        r"^define internal .*_fibonacci.*?\((.*)\)", compiled.library.get_llvm_str(), re.MULTILINE
    )
    assert "arrays.0" in arguments
    assert "arrays.1" not in arguments


@jit.linked
def _is_even(n: int) -> bool:
    return True if n == 0 else _is_odd(n - 1)


@jit.linked
def _is_odd(n: int) -> bool:
    return False if n == 0 else _is_even(n - 1)


def test_helpers_that_call_each_other_in_a_circle_are_refused() -> None:
    """Numba would look up one of them by name when the kernel runs, and find no address."""

    def kernel(n: int) -> bool:
        return _is_even(n)

    with pytest.raises(TypeError, match="not each other in a circle"):
        numba.njit(pipeline_class=KernelCompiler)(kernel)(3)
