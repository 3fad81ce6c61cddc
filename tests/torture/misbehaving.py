"""A campaign whose inputs do what no input may do: it shows that the pool notices."""

import os
import random
import signal
import threading
from pathlib import Path

from tilewright.errors import UsageError
from torture.campaign import Campaign, Case, WrongError


class TwoLinesError(UsageError):
    """An error that goes round what the errors of the package promise."""

    def __str__(self) -> str:
        return "one\ntwo"


class Misbehaving(Campaign):
    """An input names its deed."""

    name = "misbehaving"
    megabytes = 30.0
    deeds = ("accept", "refuse", "crash", "traceback", "memory", "two lines", "wrong", "exit", "accept")

    def make(self, chance: random.Random) -> Case:
        return {"deed": "accept", "bytes": bytes([chance.randrange(256)])}

    def run(self, case: Case) -> int | None:
        deed = case["deed"]
        if deed == "refuse":
            raise UsageError("no")
        if deed == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if deed == "traceback":
            raise ZeroDivisionError
        if deed == "memory":
            bytearray(100_000_000)[::4096] = bytes(24415)
        if deed == "two lines":
            raise TwoLinesError
        if deed == "wrong":
            raise WrongError("wrong: a value")
        if deed == "exit":
            raise SystemExit(3)
        if deed == "hang":
            threading.Event().wait()
        return 5


class Series(Misbehaving):
    """All deeds that end, at random."""

    def make(self, chance: random.Random) -> Case:
        made = super().make(chance)
        return made | {"deed": self.deeds[made["bytes"][0] % len(self.deeds)]}


class Hanging(Misbehaving):
    """Nothing ever ends."""

    def make(self, chance: random.Random) -> Case:
        return {"deed": "hang"}


class AtTheEnd(Misbehaving):
    """All inputs are fine, and the end is not."""

    def finish(self) -> None:
        self.notes.append("100 MB more")
        raise WrongError("grown: by 100 MB")


class WithServer(Series):
    """Something runs beside the inputs until the end."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "running").touch()

    def finish(self) -> None:
        (self.folder / "running").unlink()
        raise WrongError("too few inputs")
