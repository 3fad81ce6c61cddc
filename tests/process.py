"""Running the package in processes of its own."""

import os
import subprocess
import sys
from pathlib import Path

import tilewright

__all__ = ["PACKAGE", "environment", "run_python", "run_tilewright"]

PACKAGE = Path(tilewright.__file__).parent
Finished = subprocess.CompletedProcess[str]


def environment(package: Path = PACKAGE, **changes: str) -> dict[str, str]:
    """This process's environment, with `package` first on the path of imports."""
    known = [str(package.parent), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, known)), "PYTHONUTF8": "1"} | changes


def run_python(code: str, package: Path = PACKAGE, **changes: str) -> Finished:
    return _run("-c", code, package=package, **changes)


def run_tilewright(*arguments: str, package: Path = PACKAGE, **changes: str) -> Finished:
    return _run("-m", "tilewright", *arguments, package=package, **changes)


def _run(*arguments: str, package: Path, **changes: str) -> Finished:
    env = environment(package, **changes)
    return subprocess.run(
        [sys.executable, *arguments], env=env, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
