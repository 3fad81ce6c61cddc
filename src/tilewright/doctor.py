"""Whether tilewright works on this machine, and what a bug report should say about it.

>>> diagnosis = diagnose()
>>> [check.name for check in diagnosis.checks]
['machine', 'versions', 'extras', 'cache', 'kernels', 'models']
"""

import math
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from tilewright import __version__
from tilewright._core.memory import available_memory
from tilewright.errors import TilewrightError, UsageError

__all__ = ["Check", "Diagnosis", "diagnose"]

Fact: TypeAlias = str | int | float | bool | None
Facts: TypeAlias = dict[str, Fact]

_LIBRARIES = (
    *("numba", "llvmlite", "numpy", "click", "matplotlib", "rich", "tensorboardX"),
    *("torch", "stable-baselines3", "gymnasium", "fastapi", "uvicorn", "ray", "pandas", "pyarrow"),
)
_INSTRUCTION_SETS = ("avx", "avx2", "avx512f", "bmi2", "fma", "popcnt", "sse4.2", "neon", "sve")
_VARIABLES = re.compile(r"(TILEWRIGHT|NUMBA|OMP|MKL)_\w+|PYTHON(PATH|HOME|OPTIMIZE|UTF8)|XDG_CACHE_HOME")
_BOARDS = 500  # that kernels are compared on


class _KnownBoard(NamedTuple):
    """A board, and what a model in the package says of its moves; a model that is trained anew says something else."""

    board: str
    values: Mapping[str, float]


_KNOWN_BOARDS = {
    "package:2048": _KnownBoard(
        "2 4 8 64 / 0 2 4 8 / 0 0 2 0 / 0 0 0 2",
        {"up": 181344.0, "right": 181216.0, "down": 185968.0, "left": 170928.0},
    ),
    "package:threes": _KnownBoard(
        "1 2 3 6 / 0 1 2 3 / 0 0 1 2 / 0 0 0 12 hint=2",
        {"up": 65414.0, "right": 66825.0, "down": 64384.0, "left": 68227.0},
    ),
}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What it is, such as `kernels`.
        facts: What was found.
        problem: What is wrong, and what to do about it; empty if all is well.
    """

    name: str
    facts: Facts
    problem: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """All checks; `text()` is for people and bug reports."""

    checks: tuple[Check, ...]

    @property
    def problems(self) -> list[str]:
        """What is wrong, each with the name of its check; empty if all is well."""
        return [f"{check.name}: {check.problem}" for check in self.checks if check.problem]

    @property
    def is_well(self) -> bool:
        """Whether everything works."""
        return not self.problems

    def to_dict(self) -> dict[str, object]:
        """Return everything as JSON can hold it."""
        checks = {check.name: {**check.facts, "problem": check.problem or None} for check in self.checks}
        return {"is_well": self.is_well, "problems": self.problems, **checks}

    def text(self) -> str:
        """Return everything as lines, without the name of the home folder: as a bug report can have it."""
        lines = []
        for check in self.checks:
            lines.append(f"{check.name}: {check.problem or 'all is well'}")
            width = max(map(len, check.facts), default=0)
            lines += [f"  {name:<{width}}  {_shown(value)}" for name, value in check.facts.items()]
        home = str(Path.home()) if "HOME" in os.environ else ""
        text = "\n".join(lines)
        return text.replace(home, "~") if len(home) > 1 else text


def _shown(value: Fact) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 10 else f"{value:,.0f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else value


def diagnose() -> Diagnosis:
    """Look at the machine, the kernels and their cache, what is installed, and the models in the package.

    Nothing is raised: whatever fails is the problem of its check. Kernels may have to be compiled, which takes some
    seconds the first time.
    """
    checks: Sequence[tuple[str, Callable[[Facts], str]]] = (
        ("machine", _look_at_machine),
        ("versions", _look_at_versions),
        ("extras", _look_at_extras),
        ("cache", _look_at_cache),
        ("kernels", _look_at_kernels),
        ("models", _look_at_models),
    )
    return Diagnosis(tuple(_check(name, look) for name, look in checks))


def _check(name: str, look: Callable[[Facts], str]) -> Check:
    """Call a function that fills in facts and returns the problem; an exception is a problem, too."""
    facts: Facts = {}
    try:
        return Check(name, facts, look(facts))
    except TilewrightError as error:
        return Check(name, facts, str(error))
    except Exception as error:  # noqa: BLE001  (whatever is broken here must be told, not raised)
        reason = " ".join(str(error).split())[:300]
        return Check(name, facts, f"{type(error).__name__}: {reason}")


def _look_at_machine(facts: Facts) -> str:
    import llvmlite.binding

    facts["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    facts["python"] = f"{platform.python_implementation()} {platform.python_version()}, {8 * _pointer_bytes()} bits"
    facts["processor"] = llvmlite.binding.get_host_cpu_name()
    features = llvmlite.binding.get_host_cpu_features()
    facts["instruction sets"] = " ".join(name for name in _INSTRUCTION_SETS if features.get(name))
    facts["cores"] = os.cpu_count()
    facts["memory, GB"], free = _memory_gigabytes(), available_memory()
    facts["free memory, GB"] = None if free is None else round(free / 2**30, 1)
    for name, value in sorted(os.environ.items()):
        if _VARIABLES.fullmatch(name):
            facts[name] = value
    return "" if _pointer_bytes() == 8 else "kernels work with words of 64 bits; this Python has 32"


def _pointer_bytes() -> int:
    return (sys.maxsize.bit_length() + 1) // 8


def _memory_gigabytes() -> float | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
    except (AttributeError, OSError, ValueError):  # Windows
        return None


def _look_at_versions(facts: Facts) -> str:
    facts["tilewright"] = f"{__version__}, in {Path(__file__).parent}"
    for library in _LIBRARIES:
        if version := _version(library):
            facts[library] = version
    return ""


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def _look_at_extras(facts: Facts) -> str:
    try:
        requirements = metadata.requires("tilewright") or []
    except metadata.PackageNotFoundError:
        facts["installed"] = "not as a package: these are the sources"
        return ""
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        library, extra = re.match(r"[\w.-]+", requirement), re.search(r"extra\s*==\s*['\"](\w+)['\"]", requirement)
        elsewhere = "sys_platform != 'win32'" in requirement.replace('"', "'") and sys.platform == "win32"
        if library is not None and extra is not None and not elsewhere:
            extras.setdefault(extra[1], []).append(library[0])
    for name, libraries in sorted(extras.items()):
        missing = [wanted for wanted in libraries if _version(wanted) is None]
        facts[name] = f"without {', '.join(missing)}: pip install 'tilewright[{name}]'" if missing else "installed"
    return ""


def _look_at_cache(facts: Facts) -> str:
    from tilewright._core import jit, kernel_cache

    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        folder = jit.cache_folder()
    chosen = bool(os.environ.get("TILEWRIGHT_CACHE"))
    facts["chosen by"] = "TILEWRIGHT_CACHE" if chosen else "default; TILEWRIGHT_CACHE names another"
    for number, root in enumerate(kernel_cache.cache_roots(), 1):
        problem = kernel_cache.why_unsafe(root)
        facts[f"choice {number}"] = f"{root}: {problem}" if problem else str(root)
    if folder is None:
        reason = f" ({complaints[0].message})" if complaints else ""
        return f"every process compiles kernels again, because no folder can hold them{reason}: set TILEWRIGHT_CACHE"
    facts["folder"] = str(folder)
    facts["kernels"] = 0
    if folder.is_dir():
        files = [file for file in folder.iterdir() if file.is_file()]
        facts["owner"], facts["mode"] = _owner(folder), f"{folder.stat().st_mode & 0o7777:04o}"
        facts["size, MB"] = round(sum(file.stat().st_size for file in files) / 1e6, 1)
        facts["kernels"] = sum(file.suffix == ".nbc" for file in files)
    return ""


def _owner(folder: Path) -> str:
    try:
        return folder.owner()
    except (KeyError, NotImplementedError, OSError):  # a user without a name; Windows
        return str(folder.stat().st_uid)


def _look_at_kernels(facts: Facts) -> str:
    """Compare moves of compiled kernels with the rule in plain Python, on random boards."""
    from tilewright._core.jit import portable
    from tilewright.games import make_game

    began = time.perf_counter()
    game, chance = make_game("2048"), np.random.default_rng(1)
    game.legal("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    facts["bit instructions"] = "portable" if portable() else "BMI2"
    facts["start, seconds"] = round(time.perf_counter() - began, 3)
    began = time.perf_counter()
    for rows in chance.choice((0, 0, 2, 4, 8, 32768, 65536), (_BOARDS, 4, 4)).tolist():
        expected, reward = _slide_left(rows)
        if expected == rows:
            if "left" in game.legal(rows):
                return f"wrong: left moves nothing on {game.text(rows)!r}, and a kernel says that it is legal"
            continue
        after, found = game.slide(rows, "left")
        if [list(row) for row in after.tiles] != expected or found != reward:
            return f"wrong: left on {game.text(rows)!r} gives {game.text(after)!r} and {found}; it should be {reward}"
    facts["boards compared"] = _BOARDS
    facts["comparing, seconds"] = round(time.perf_counter() - began, 3)
    return ""


def _slide_left(rows: Sequence[Sequence[int]]) -> tuple[list[list[int]], int]:
    """Slide a board of 2048 to the left by the rule, and return the reward."""
    moved, reward = [], 0
    for row in rows:
        line: list[int] = []
        may_merge = False
        for tile in filter(None, row):
            if may_merge and line[-1] == tile and tile < 131072:
                line[-1] += tile
                reward += line[-1]
                may_merge = False
            else:
                line.append(tile)
                may_merge = True
        moved.append(line + [0] * (len(row) - len(line)))
    return moved, reward


def _look_at_models(facts: Facts) -> str:
    """Read the models in the package, which verifies their checksums, and ask each for known values."""
    from tilewright.agents.ntuple import NTupleAgent
    from tilewright.models import packaged_models
    from tilewright.ntuple.model import load_model

    problems = []
    found = packaged_models()
    for name, known in _KNOWN_BOARDS.items():
        if name not in found:
            problems.append(f"{name} is missing: install tilewright again")
            continue
        began = time.perf_counter()
        try:
            model = load_model(found[name])
            values = NTupleAgent(model.in_16_bits()).values(model.game.parse(known.board))
        except UsageError as error:
            problems.append(f"{error}: install tilewright again")
            continue
        seconds = time.perf_counter() - began
        facts[name] = f"{found[name].stat().st_size / 1e6:,.1f} MB, checksum and values verified in {seconds:.2f} s"
        if not _agree(values, known.values):
            facts[name] = "loads, and its values are wrong"
            problems.append(f"{name}: {values} for {known.board!r}, and not {dict(known.values)}")
    return "; ".join(problems)


def _agree(found: Mapping[str, float], expected: Mapping[str, float]) -> bool:
    same_moves = list(found) == list(expected)
    return same_moves and all(math.isclose(found[move], expected[move], rel_tol=1e-5) for move in expected)
