"""Run every shell command of README and docs: `python -m tests.run_shown_commands`.

    python -m tests.run_shown_commands                       # all pages
    python -m tests.run_shown_commands --seconds 6 README.md docs/how-to/web.md
    python -m tests.run_shown_commands --only "tilewright (train|solve)"

Every page gets a folder with the files that the pages define, and every command a shell of its own in this folder. A
command has to end with exit code 0, or with the code that the page says, and to print what the page shows. One that
takes longer than `--seconds` gets SIGINT, as from Ctrl-C. Then it has to end with exit code 0, because its work is
saved, or with exit code 1 and a last line that says `stopped`. A script of benchmarks or examples may end with Python's
own KeyboardInterrupt. Every other traceback is a failure.

What the page leaves to the reader, as MODEL, is filled in, and small files stand for those that take hours
(`tests/stand_ins.py`). Requests go to a server on a free port of this machine. The exit code is 1 if a command failed.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.process import environment, start_tilewright
from tests.shown_pages import PAGES, Command, is_shown, name_of, read_commands, text_of, write_files
from tests.stand_ins import CODES, MEASURES, SERVER, STAND_INS, files_read, fill_in, reason_not_to_run

__all__ = ["Ended", "main", "problem_of", "run", "run_pages"]

_POLL_SECONDS = 0.05
PATIENCE_SECONDS = 300.0  # that a command may take to end after Ctrl-C, and a stand-in to be made
_STOPPED = re.compile(r"^(tilewright: )?stopped.*\Z", re.MULTILINE)
_PYTHON_STOPPED = re.compile(r"^KeyboardInterrupt\s*\Z", re.MULTILINE)


class Ended(NamedTuple):
    """How a command ended: by itself, after Ctrl-C, or, with the code None, not even then."""

    code: int | None
    seconds: float
    interrupted: bool
    printed: str
    errors: str


class Server(NamedTuple):
    """The server that the pages' requests go to."""

    url: str
    pid: int


def run(text: str, folder: Path, is_late: Callable[[float], bool], patience: float = PATIENCE_SECONDS) -> Ended:
    """Run a command in a shell of its own, and press Ctrl-C when it is late.

    Args:
        text: The command.
        folder: The folder in which it runs.
        is_late: Whether a command that has been running for some seconds gets Ctrl-C.
        patience: The seconds in which it has to end then.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            ["/bin/bash", "-c", f"set -o pipefail; {text}"],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code, interrupted = _wait(process, is_late, patience)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what the command left running
            process.wait()
        out.seek(0)
        err.seek(0)
        return Ended(code, time.monotonic() - began, interrupted, out.read(), err.read())


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return environment(PATH=path, BROWSER="true", MPLBACKEND="agg")  # `true` opens no window


def _wait(
    process: "subprocess.Popen[bytes]", is_late: Callable[[float], bool], patience: float
) -> tuple[int | None, bool]:
    """Return the exit code, None for a process that goes on, and whether it got Ctrl-C."""
    began = time.monotonic()
    while not is_late(time.monotonic() - began):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_SECONDS), False
    os.killpg(process.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(patience), True
    return None, True


def problem_of(text: str, ended: Ended) -> str:
    """Say what is wrong with the end of a command, or nothing."""
    if ended.code is None:
        return "does not end after Ctrl-C"
    if ended.interrupted:
        return "" if _ends_in_order(text, ended) else f"ends with {ended.code} after Ctrl-C{_last_words(ended)}"
    expected = next((code for pattern, code in CODES.items() if re.search(pattern, text)), 0)
    if ended.code != expected or "Traceback (most recent" in ended.errors:
        return f"ends with {ended.code}{_last_words(ended)}"
    return ""


def _ends_in_order(text: str, ended: Ended) -> bool:
    has_traceback = "Traceback (most recent" in ended.errors
    if re.search(r"\bpython ", text) and ended.code in (-signal.SIGINT, 128 + signal.SIGINT):
        return not has_traceback or _PYTHON_STOPPED.search(ended.errors) is not None
    if has_traceback:
        return False
    return ended.code == 0 or (ended.code == 1 and _STOPPED.search(ended.errors.strip()) is not None)


def _last_words(ended: Ended) -> str:
    lines = (ended.errors.strip() or ended.printed.strip()).splitlines()
    return f": {lines[-1].strip()}" if lines else ""


class StandIns:
    """Makes small files instead of those of long commands, each when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def provide(self, text: str, folder: Path) -> str:
        """Copy the files that a command reads to its folder; return what is wrong, or nothing."""
        for name in files_read(text):
            problem = "" if (self.folder / name).exists() else self._make(name)
            if problem:
                return f"{STAND_INS[name]}: {problem}"
            _copy(self.folder / name, folder / name)
        return ""

    def _make(self, name: str) -> str:
        text = STAND_INS[name]
        for other in files_read(text):
            if other != name and not (self.folder / other).exists() and (problem := self._make(other)):
                return problem
        ended = run(text, self.folder, lambda seconds: seconds > PATIENCE_SECONDS)
        return "takes too long" if ended.interrupted else problem_of(text, ended)


class Runner:
    """Runs the commands of pages, each once, and counts how they end."""

    def __init__(self, work: Path, is_late: Callable[[float], bool], only: str = "") -> None:
        self.work = work
        self.is_late = is_late
        self.only = re.compile(only)
        self.counts: Counter[str] = Counter()
        self.seen: set[str] = set()
        self.server: Server | None = None
        self.stand_ins = StandIns(self._new_folder("stand-ins"))

    def _new_folder(self, name: str) -> Path:
        folder = self.work / name
        folder.mkdir()
        write_files(folder)
        return folder

    def run_page(self, page: Path, commands: list[Command]) -> None:
        """Run the commands of a page, and print a line for each."""
        folder = self._new_folder(name_of(page).replace("/", "-"))
        for command in commands:
            if command.text not in self.seen and self.only.search(command.text):
                self.seen.add(command.text)
                print(f"{name_of(page)}: {command.text} … ", end="", flush=True)
                print(self._run_command(command, folder), flush=True)
        shutil.rmtree(folder)

    def _run_command(self, command: Command, folder: Path) -> str:
        text = fill_in(command.text)
        reason = reason_not_to_run(text)
        if reason:
            self.counts["not run"] += 1
            return f"not run: {reason}"
        if self.server is not None:
            text = re.sub(r"\bPID\b", str(self.server.pid), text.replace(SERVER, self.server.url))
        problem = self.stand_ins.provide(text, folder)
        if problem:
            self.counts["failed"] += 1
            return f"FAILED: {problem}"
        ended = run(text, folder, self.is_late)
        problem = problem_of(text, ended) or self._difference(command, text, ended)
        self.counts["failed" if problem else "interrupted" if ended.interrupted else "done"] += 1
        return _line(command.text, text, ended, problem)

    def _difference(self, command: Command, text: str, ended: Ended) -> str:
        """What a command that ended prints instead of what the page shows, if that is no measurement."""
        if (
            ended.interrupted
            or re.search(MEASURES, text)
            or files_read(text)
            or is_shown(ended.printed, command.output)
        ):
            return ""
        return f"prints something else:\n{ended.printed}"


def _copy(source: Path, target: Path) -> None:
    """Copy a stand-in, unless there is such a file, or a run with a model."""
    if target.is_file() or (target / "model.safetensors").is_file():
        return
    target.parent.mkdir(exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def _line(shown: str, text: str, ended: Ended, problem: str) -> str:
    filled_in = "" if text == shown else f", as {text}"
    if problem:
        return f"FAILED after {ended.seconds:.1f} s{filled_in}: {problem}"
    if ended.interrupted:
        return f"interrupted, {ended.seconds:.1f} s, exit code {ended.code}{filled_in}{_last_words(ended)}"
    return f"done, {ended.seconds:.1f} s{filled_in}"


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Start a server on a free port of this machine."""
    words = ("serve", "--port", "0", "--no-open")
    process = start_tilewright(*words, cwd=folder, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().split()[3].rstrip("/"), process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def run_pages(pages: list[Path], is_late: Callable[[float], bool], only: str = "") -> Counter[str]:
    """Run the commands of pages, and return how many ended in each way."""
    commands = {page: read_commands(text_of(page)) for page in pages}
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        Path(work).chmod(0o755)
        runner = Runner(Path(work), is_late, only)
        texts = [command.text for chosen in commands.values() for command in chosen if re.search(only, command.text)]
        if any(SERVER in text for text in texts):
            runner.server = stack.enter_context(serving(runner.stand_ins.folder))
        for page, chosen in commands.items():
            runner.run_page(page, chosen)
    return runner.counts


def main(words: list[str] | None = None) -> int:
    """Run the commands of the pages that are named, or of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="after which a command gets Ctrl-C")
    parser.add_argument("--only", default="", help="a regular expression that a command matches")
    options = parser.parse_args(words)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell sets it for `… &`; commands would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    pages = [page.resolve() for page in options.pages] or PAGES
    try:
        counts = run_pages(pages, lambda seconds: seconds > options.seconds, options.only)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    summary = ", ".join(f"{counts[how]} {how}" for how in ("done", "interrupted", "failed", "not run"))
    print(f"{counts.total()} commands: {summary}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
