"""Running the package in processes of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tilewright

__all__ = [
    "HANG_SECONDS",
    "PACKAGE",
    "Finished",
    "end_processes",
    "environment",
    "run_python",
    "run_tilewright",
    "start_tilewright",
]

PACKAGE = Path(tilewright.__file__).parent
HANG_SECONDS = 600  # after which a test counts as hanging; no test depends on less
Finished = subprocess.CompletedProcess[str]
_STARTED: list["subprocess.Popen[str]"] = []


def environment(package: Path = PACKAGE, **changes: str) -> dict[str, str]:
    """This process's environment, with `package` first on the path of imports."""
    known = [str(package.parent), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, known)), "PYTHONUTF8": "1"} | changes


def run_python(code: str, package: Path = PACKAGE, **changes: str) -> Finished:
    return _run("-c", code, package=package, **changes)


def run_tilewright(*arguments: str, package: Path = PACKAGE, **changes: str) -> Finished:
    return _run("-m", "tilewright", *arguments, package=package, **changes)


def start_tilewright(*arguments: str, changes: Mapping[str, str] = {}, **options: Any) -> "subprocess.Popen[str]":
    """A process that goes on beside the test, and does not outlive it."""
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"} | options
    command = [sys.executable, "-m", "tilewright", *arguments]
    _STARTED.append(subprocess.Popen(command, env=environment() | dict(changes or {}), **streams))
    return _STARTED[-1]


def end_processes() -> None:
    """Kill what a test that failed left running."""
    while _STARTED:
        process = _STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def _run(*arguments: str, package: Path, **changes: str) -> Finished:
    env = environment(package, **changes)
    return subprocess.run(
        [sys.executable, *arguments], env=env, capture_output=True, encoding="utf-8", timeout=HANG_SECONDS, check=False
    )
