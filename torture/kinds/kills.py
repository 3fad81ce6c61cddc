"""Kills at random moments of every command that writes: what follows ends as if nothing had happened."""

import os
import random
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from torture.campaign import Campaign, Case, WrongError
from torture.forking import Child
from torture.writers import Writer, deep_writers, empty, ntuple_writers, ray_writers

__all__ = ["DeepKills", "Interruptions", "Kills", "RayKills"]

_SIGNALS = ("SIGKILL", "SIGKILL", "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")


class Interruptions(Campaign):
    """Campaigns that disturb the commands that write: each knows what the undisturbed command writes."""

    seconds = 300.0
    megabytes = 500.0
    alone = True
    end_seconds: ClassVar[float] = 10.0  # in which a command ends after a signal
    run_seconds: ClassVar[float] = 60.0  # in which it ends undisturbed

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.writers = self._writers(folder / "inputs")[self.parts]
        self.expected: list[Any] = []
        self.duration: list[float] = []
        self._warm_up(folder)
        for writer in self.writers:
            began = time.monotonic()
            self._finish(writer, empty(folder / "undisturbed"))
            self.duration.append(time.monotonic() - began)
            self.expected.append(writer.result(folder / "undisturbed"))

    def _writers(self, home: Path) -> Sequence[Writer]:
        return ntuple_writers(home)

    def _warm_up(self, folder: Path) -> None:
        """Compile all kernels in this process, so that its children have them."""
        for writer in self.writers:
            if writer.run(empty(folder / "warm")):
                raise RuntimeError(f"{writer.name} fails undisturbed")

    def _finish(self, writer: Writer, folder: Path) -> None:
        """Run the command to its end, undisturbed."""
        with Child(lambda: writer.run(folder)) as child:
            code = child.wait(self.run_seconds)
        if code:
            raise WrongError(f"{writer.name}: cannot go on: exit code {code}: {child.said()[-500:]}")

    def _compare(self, which: int, folder: Path) -> None:
        """Finish a command, and compare what it wrote with what it writes undisturbed."""
        writer = self.writers[which]
        self._finish(writer, folder)
        found = writer.result(folder)
        if found != self.expected[which]:
            parts = found if isinstance(found, dict) else {}
            odd = [name for name in parts if found[name] != self.expected[which][name]]
            raise WrongError(f"{writer.name}: ends differently from an undisturbed one: {', '.join(odd)}")


class Kills(Interruptions):
    """SIGKILL, SIGTERM, SIGINT and SIGHUP, several times in one run."""

    name = "kills"

    def make(self, chance: random.Random) -> Case:
        """Make a series of kills: signals, and moments as fractions of the command's usual time."""
        which = chance.randrange(len(self.writers))
        steps = [[chance.choice(_SIGNALS), chance.random() ** 1.5] for _ in range(chance.choice((1, 2, 3, 5)))]
        return {"command": which, "steps": steps}

    def run(self, case: Case) -> int:
        """Kill the command again and again, check what it left, let it finish, and compare."""
        which, kills, state = case["command"], 0, None
        writer, folder = self.writers[which], empty(self.folder / "killed")
        for name, moment in case["steps"]:
            number = signal.Signals[name]
            with Child(lambda: writer.run(folder)) as child:
                time.sleep(moment * self.duration[which])
                kills += child.send(number)
                code = child.wait(self.end_seconds if child.code is None else 0.1)
            if code not in (0, 1, 130, -number):
                raise WrongError(f"{writer.name}: exit code {code} after {name}: {child.said()[-500:]}")
            state = writer.check(folder, state)
        self._compare(which, folder)
        return kills


class DeepKills(Kills):
    """The same for trainings of deep networks."""

    name = "deep-kills"
    environment: ClassVar[dict[str, str]] = {}

    def _writers(self, home: Path) -> Sequence[Writer]:
        import torch

        torch.set_num_threads(1)
        return deep_writers(home)

    def _warm_up(self, folder: Path) -> None:
        """Compile kernels without a gradient step: PyTorch takes none in a process forked after one.

        Policy gradient has no other steps, so a child compiles its kernels, and the others find them in the cache.
        """
        from tilewright.training.session import open_session
        from torture.kinds.checkpoints import small_deep_configs

        for number, config in enumerate(small_deep_configs(folder / "warm", learning_starts=10**6, total_steps=64)):
            if getattr(config, "algorithm", "") != "policy-gradient":
                open_session(config, folder / f"warm-{number}", threads=1).run()
        for writer in self.writers:
            self._finish(writer, empty(folder / "warm-child"))


class RayKills(Kills):
    """The same for trainings on a Ray cluster, which takes seconds to start and to end."""

    name = "ray-kills"
    end_seconds = 60.0
    run_seconds = 240.0
    environment: ClassVar[dict[str, str]] = {
        "RAY_TMPDIR": str(Path(os.environ.get("TORTURE_ROOT") or tempfile.gettempdir()).parent),  # its sockets
    }

    def _writers(self, home: Path) -> Sequence[Writer]:
        return ray_writers(home)

    def _warm_up(self, folder: Path) -> None:
        """Compile kernels in a child: a process that has used Ray cannot be forked."""
        for writer in self.writers:
            self._finish(writer, empty(folder / "warm-child"))
