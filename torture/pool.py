"""The parent of the workers: starts them, watches them, and blames a crash or a hang on the input that was running."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torture.campaign import Campaign, WrongError, load_campaign
from torture.report import Failure, Tally, case_to_json
from torture.worker import SharedProgress, Work, input_of

__all__ = ["describe_input", "run_again", "run_campaign"]

_POLL_SECONDS = 0.1
_PREPARE_SECONDS = 1_800  # kernels may have to be compiled first
_LOG_TAIL = 3_000  # characters of a crashed worker's output that are kept


@dataclass
class _Worker:
    process: "subprocess.Popen[bytes]"
    shared: SharedProgress
    work: Work
    log: Path
    buffer: bytes = b""


class _Pool:
    def __init__(
        self, kind: str, seed: int, folder: Path, failures: Path, environment: Mapping[str, str], seconds: float | None
    ) -> None:
        self.kind, self.folder = kind, folder
        self.campaign = load_campaign(kind)
        self.limit = self.campaign.seconds if seconds is None else seconds
        self.environment = {**environment, **self.campaign.environment}
        self.tally = Tally(kind, seed, failures)
        self.workers: list[_Worker] = []
        self.started = 0

    def start(self, work: Work) -> None:
        """Start a worker process, in a session of its own so that its children can be ended with it."""
        self.started += 1
        progress = self.folder / f"progress-{self.started}"
        work = work._replace(folder=str(self.folder / f"worker-{self.started}"), progress=str(progress))
        shared, log = SharedProgress(progress), self.folder / f"log-{self.started}"
        command = [sys.executable, "-m", "torture.worker", json.dumps(work._asdict())]
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self.environment,
                start_new_session=True,
            )
        assert process.stdout is not None  # noqa: S101
        os.set_blocking(process.stdout.fileno(), False)
        self.workers.append(_Worker(process, shared, work, log))

    def watch(self) -> None:
        """Wait until all workers have ended; one that crashed or hung is replaced by one that goes on behind it."""
        with selectors.DefaultSelector() as selector:
            while self.workers:
                for worker in list(self.workers):
                    self._read(worker)
                    code = worker.process.poll()
                    if code is not None:
                        self._end(worker, code)
                    elif self._hangs(worker):
                        self._kill(worker)
                        self._end(worker, None)
                selector.select(_POLL_SECONDS)

    def _read(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None  # noqa: S101
        while chunk := worker.process.stdout.read(1 << 16):
            worker.buffer += chunk
        *lines, worker.buffer = worker.buffer.split(b"\n")
        for line in lines:
            found = json.loads(line)
            if "note" in found:
                self.tally.notes.append(found["note"])
                continue
            self.tally.add(Failure(found["number"], found["problem"], found["place"], found["input"]))

    def _hangs(self, worker: _Worker) -> bool:
        now = worker.shared.read()
        return now.since > 0 and time.monotonic() - now.since > self._limit_of(now.number)

    def _limit_of(self, number: int) -> float:
        """Return how many seconds an input may take, or the beginning (-1) or the end (-2) of a campaign."""
        return _PREPARE_SECONDS if number == -1 else 60 + self.limit if number == -2 else self.limit

    @staticmethod
    def _kill(worker: _Worker) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.process.pid, signal.SIGKILL)
        worker.process.wait()

    def _end(self, worker: _Worker, code: int | None) -> None:
        """Count what an ended worker did, and go on behind the input that ended it."""
        self._kill(worker)
        self._read(worker)
        assert worker.process.stdout is not None  # noqa: S101
        worker.process.stdout.close()
        self.workers.remove(worker)
        now, work = worker.shared.read(), worker.work
        self.tally.accepted += now.accepted
        self.tally.refused += now.refused
        self.tally.count += now.counted
        if code == 0 and now.number == -2:
            worker.log.unlink(missing_ok=True)
            return
        said = worker.log.read_text("utf-8", "replace")[-_LOG_TAIL:]
        if code is None:
            what, place = f"hang: no result after {self._limit_of(now.number):g} s", "hang"
        elif code < 0:
            what = place = f"crash: {signal.Signals(-code).name}"
        else:
            what = place = f"the worker ended with exit code {code}"
        if now.number < 0:
            stage = "while preparing" if now.number == -1 else "at the end"
            self.tally.add(Failure(now.number, f"{what} {stage}\n{said}", f"{place} {stage}"))
            return
        given = json.loads(Path(work.given).read_text())["input"] if work.given else None
        self.tally.add(Failure(now.number, f"{what}\n{said}", place, given or self._case(now.number)))
        self.tally.count += 1
        following = now.number + work.step
        if following < work.stop and time.monotonic() < work.until:
            self.start(work._replace(first=following))

    def _case(self, number: int) -> object:
        """Make the input of a worker that is gone again, in a process of its own: making it may be what crashed."""
        code = (
            "import json, sys; from pathlib import Path; from torture.pool import describe_input;"
            "print(json.dumps(describe_input(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))))"
        )
        folder = self.folder / f"again-{self.started}"
        command = [sys.executable, "-c", code, self.kind, str(self.tally.seed), str(number), str(folder)]
        try:
            made = subprocess.run(
                command, env=self.environment, capture_output=True, timeout=_PREPARE_SECONDS, check=True
            )
            return json.loads(made.stdout.splitlines()[-1])
        except (subprocess.SubprocessError, ValueError, IndexError):
            return None

    def end_all(self) -> None:
        """End all workers at once, and keep what they have counted."""
        for worker in list(self.workers):
            self._kill(worker)
            self._read(worker)
            now = worker.shared.read()
            self.tally.accepted += now.accepted
            self.tally.refused += now.refused
            self.tally.count += now.counted
            if worker.process.stdout is not None:
                worker.process.stdout.close()
        self.workers.clear()


def describe_input(kind: str, seed: int, number: int, folder: Path) -> object:
    """Return the input of a number as JSON, and end what the campaign started to make it."""
    folder.mkdir(parents=True, exist_ok=True)
    campaign: Campaign = load_campaign(kind)(folder)
    try:
        return case_to_json(input_of(campaign, kind, seed, number))
    finally:
        with contextlib.suppress(WrongError):
            campaign.finish()


def run_campaign(
    kind: str,
    *,
    seed: int,
    seconds: float,
    folder: Path,
    failures: Path,
    jobs: int = 1,
    first: int = 0,
    inputs: int | None = None,
    hang_seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Tally:
    """Run a campaign for some time in worker processes.

    Args:
        kind: A name of `KINDS`, or `module:Class`.
        seed: The seed of the inputs.
        seconds: How long; the input that runs then is finished.
        folder: The folder for everything that the inputs write.
        failures: The folder for failing inputs.
        jobs: The number of workers.
        first: The number of the first input.
        inputs: The largest number of inputs; None for no limit.
        hang_seconds: An input that takes longer hangs; None for the campaign's own limit.
        environment: The variables of the workers; None for those of this process.

    Returns:
        The counts and failures. Ctrl-C ends the campaign, and the exception has them as `tally`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pool = _Pool(kind, seed, folder, failures, os.environ if environment is None else environment, hang_seconds)
    jobs = 1 if pool.campaign.alone else jobs
    began = time.monotonic()
    stop = sys.maxsize if inputs is None else first + inputs
    try:
        for index in range(jobs):
            pool.start(Work(kind, seed, first + index, jobs, stop, began + seconds, "", ""))
        pool.watch()
    except KeyboardInterrupt as stop_request:
        stop_request.tally = pool.tally  # type: ignore[attr-defined]
        raise
    finally:
        pool.end_all()
        pool.tally.seconds = time.monotonic() - began
    return pool.tally


def run_again(file: Path, folder: Path, environment: Mapping[str, str] | None = None) -> Tally:
    """Run the input of a file of `Tally.add` once more."""
    found = json.loads(file.read_text())
    kind = found["kind"]
    pool = _Pool(kind, found["seed"], folder, folder / "failures", environment or os.environ, None)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        until = time.monotonic() + 2 * _PREPARE_SECONDS
        pool.start(Work(kind, found["seed"], found["number"], 1, found["number"] + 1, until, "", "", str(file)))
        pool.watch()
    finally:
        pool.end_all()
    return pool.tally
