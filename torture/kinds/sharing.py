"""Two processes that write to one folder at the same time."""

import random
import signal
import time

from torture.campaign import Case, WrongError
from torture.forking import Child
from torture.kinds.kills import Interruptions
from torture.writers import SuiteWriter, TrainingWriter, empty

__all__ = ["TwoProcesses"]

_RUN_SECONDS = 60.0


class TwoProcesses(Interruptions):
    """A run belongs to one session; a second one is refused. Suites share their folder."""

    name = "two-processes"

    def make(self, chance: random.Random) -> Case:
        """Make a command, the delay of the second process, and whether the first is killed."""
        which = chance.randrange(len(self.writers))
        return {"command": which, "delay": chance.random(), "kill": chance.choice((None, None, chance.random()))}

    def run(self, case: Case) -> None:
        """Run both, check what they left, let the command finish, and compare."""
        which = case["command"]
        writer, folder = self.writers[which], empty(self.folder / "shared")
        with Child(lambda: writer.run(folder)) as first:
            time.sleep(case["delay"] * self.duration[which])
            with Child(lambda: writer.run(folder)) as second:
                if case["kill"] is not None:
                    time.sleep(case["kill"] * self.duration[which])
                    first.send(signal.SIGKILL)
                codes = [first.wait(_RUN_SECONDS), second.wait(_RUN_SECONDS)]
        allowed = (
            (0, 2) if isinstance(writer, TrainingWriter) else (0,) if isinstance(writer, SuiteWriter) else (0, 1, 2)
        )
        for code, child in zip(codes, (first, second), strict=True):
            killed = case["kill"] is not None and child is first and code == -signal.SIGKILL
            if code not in allowed and not killed:
                raise WrongError(f"{writer.name}: exit code {code} of two processes: {child.said()[-500:]}")
        if isinstance(writer, (TrainingWriter, SuiteWriter)):
            writer.check(folder, None)
        self._compare(which, folder)
