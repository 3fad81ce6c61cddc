"""A small disk that is full for a while, or for good: nothing hangs, nothing lies, nothing is lost."""

import contextlib
import os
import random
import resource
import shutil
import time
from pathlib import Path

from torture.campaign import Case, WrongError
from torture.forking import Child
from torture.kinds.kills import Interruptions
from torture.writers import empty

__all__ = ["FullDisk"]

_RUN_SECONDS = 30.0


class FullDisk(Interruptions):
    """Commands on a disk with some kilobytes left; without a disk of its own, with a limit on the size of files."""

    name = "full-disk"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.disk = Path(os.environ["TORTURE_DISK"]) if os.environ.get("TORTURE_DISK") else None

    def make(self, chance: random.Random) -> Case:
        """Make a command, the kilobytes that are left, and the moment at which there is room again, if ever."""
        which = chance.randrange(len(self.writers))
        room = chance.choice((0, 1, 4, 16, 64, 200, 400, 800))
        moment = chance.choice((None, chance.random()))
        return {"command": which, "kilobytes": room, "moment": moment, "during": chance.choice((0.0, chance.random()))}

    def run(self, case: Case) -> None:
        """Run the command on the full disk; then there is room, and it ends as an undisturbed one."""
        which = case["command"]
        writer = self.writers[which]
        home = self.folder if self.disk is None else self.disk
        folder = empty(home / "work")
        begin, wait = case["during"] * self.duration[which], case["moment"]
        filler = home / "filler"
        with Child(lambda: writer.run(folder)) as child:
            time.sleep(begin)
            self._fill(child, filler, case["kilobytes"])
            if wait is not None:
                time.sleep(wait * self.duration[which])
                self._empty(child, filler)
            code = child.wait(_RUN_SECONDS)
        if code not in (0, 1, 2):
            raise WrongError(f"{writer.name}: exit code {code} on a full disk: {child.said()[-500:]}")
        self._empty(child, filler)
        if code == 0 and writer.result(folder) != self.expected[which]:
            raise WrongError(f"{writer.name}: exit code 0, but what it wrote is not complete: {child.said()[-500:]}")
        writer.check(folder, None)
        self._compare(which, folder)
        shutil.rmtree(folder, ignore_errors=True)

    def _fill(self, child: Child, filler: Path, kilobytes: int) -> None:
        if self.disk is None:
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (1024 * kilobytes, hard))
            return
        free = os.statvfs(self.disk).f_bavail * os.statvfs(self.disk).f_frsize
        with contextlib.suppress(OSError), filler.open("wb") as file:
            file.write(bytes(max(0, free - 1024 * kilobytes)))

    def _empty(self, child: Child, filler: Path) -> None:
        if self.disk is None:
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (hard, hard))
            return
        filler.unlink(missing_ok=True)
