"""A worker process: runs the inputs of one campaign, and tells the parent which one it is at.

The parent cannot be told of a crash by the process that crashed. The worker therefore writes the number of an input to
memory that both share before it runs it, with the counts so far.
"""

import contextlib
import faulthandler
import json
import mmap
import os
import random
import resource
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from torture.campaign import Campaign, Verdict, judge, load_campaign
from torture.report import case_from_json, case_to_json

__all__ = ["Progress", "SharedProgress", "Work", "input_of", "main"]

_MAX_MEMORY = 8 << 30  # bytes of data of a worker, so that a bad input cannot take the whole machine
_FORMAT = struct.Struct("<qdqqq")


class Progress(NamedTuple):
    """Where a worker is: the number of its input (-1 while it prepares), since when, and what came of those before."""

    number: int = -1
    since: float = 0.0
    accepted: int = 0
    refused: int = 0
    counted: int = 0


class SharedProgress:
    """A `Progress` in memory that parent and worker share."""

    def __init__(self, path: Path) -> None:
        with path.open("ab") as file:
            file.truncate(_FORMAT.size)
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _FORMAT.size)

    def write(self, progress: Progress) -> None:
        """Replace what the other process sees."""
        self._memory[:] = _FORMAT.pack(*progress)

    def read(self) -> Progress:
        """Return what was written last."""
        return Progress(*_FORMAT.unpack(self._memory[:]))


class Work(NamedTuple):
    """What a worker is asked to do: inputs `first`, `first + step` … below `stop`, until a time; or one given input."""

    kind: str
    seed: int
    first: int
    step: int
    stop: int
    until: float  # by time.monotonic()
    folder: str  # of the campaign
    progress: str  # the file of the shared progress
    given: str = ""  # a file with one input


def input_of(campaign: Campaign, kind: str, seed: int, number: int) -> dict[str, object]:
    """Return the input of a number: it depends on nothing but kind, seed and number."""
    return campaign.make(random.Random(f"{kind} {seed} {number}"))


def main() -> None:
    """Run the work that the command line describes; failures and notes are printed as lines of JSON."""
    work = Work(**json.loads(sys.argv[1]))
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what an input prints must not be taken for a failure
    faulthandler.enable()
    shared = SharedProgress(Path(work.progress))
    shared.write(Progress(-1, time.monotonic()))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (_MAX_MEMORY, _MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(work.folder)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    began = time.monotonic()
    campaign = load_campaign(work.kind)(folder)
    work = work._replace(until=work.until + time.monotonic() - began)  # compiling kernels takes no time from the inputs
    _run(work, campaign, shared, lambda found: print(json.dumps(found), file=channel, flush=True))


def _run(work: Work, campaign: Campaign, shared: SharedProgress, report: Callable[[dict[str, object]], None]) -> None:
    accepted = refused = count = 0
    for number in range(work.first, work.stop, work.step):
        if time.monotonic() >= work.until:
            break
        shared.write(Progress(number, time.monotonic(), accepted, refused, count))
        case = case_from_json(json.loads(Path(work.given).read_text())["input"]) if work.given else None
        case = input_of(campaign, work.kind, work.seed, number) if case is None else case
        _forget_peak()
        before = _peak_megabytes()
        verdict = judge(campaign, case)
        grown, allowed = _peak_megabytes() - before, campaign.allowance(case)
        if verdict.outcome != "failed" and grown > allowed:
            problem = f"memory: the input took {grown:,.0f} MB; {allowed:,.0f} are allowed"
            verdict = Verdict("failed", verdict.count, problem, "memory")
        accepted += verdict.outcome == "accepted"
        refused += verdict.outcome == "refused"
        count += verdict.count
        if verdict.outcome == "failed":
            report({"number": number, "problem": verdict.problem, "place": verdict.place, "input": case_to_json(case)})
    shared.write(Progress(-2, time.monotonic(), accepted, refused, count))
    verdict = judge(_Ending(campaign), {})
    for note in campaign.notes:
        report({"note": note})
    if verdict.outcome == "failed":
        report({"number": -1, "problem": verdict.problem, "place": verdict.place, "input": {}})


class _Ending(Campaign):
    """The end of a campaign, as an input."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    def make(self, chance: random.Random) -> dict[str, object]:
        return {}

    def run(self, case: dict[str, object]) -> None:
        self.campaign.finish()


def _forget_peak() -> None:
    """Let the highest use of memory be that of now; where there is no Linux, only the first large input is noticed."""
    with contextlib.suppress(OSError), Path("/proc/self/clear_refs").open("w") as file:
        file.write("5")


def _peak_megabytes() -> float:
    """Return the highest use of memory since `_forget_peak`.

    On Linux `getrusage` would not do: it never falls below what the process had in memory that started this one.
    """
    with contextlib.suppress(OSError), Path("/proc/self/status").open() as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
