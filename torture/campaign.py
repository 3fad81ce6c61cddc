"""What a campaign is: it makes inputs from numbers, runs one, and says what may come of it."""

import importlib
import random
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tilewright.errors import JobsFailedError, TilewrightError

__all__ = ["KINDS", "Campaign", "Case", "Verdict", "WrongError", "allow_refusal", "judge", "load_campaign"]

Case = dict[str, Any]  # an input: what JSON can hold, and bytes

# name -> (module:Class, its share of the time)
KINDS: dict[str, tuple[str, float]] = {
    "boards": ("torture.kinds.boards:Boards", 2.0),
    "specs": ("torture.kinds.specs:Specs", 2.0),
    "configs": ("torture.kinds.configs:Configs", 2.0),
    "commands": ("torture.kinds.commands:Commands", 2.0),
    "recordings": ("torture.kinds.recordings:Recordings", 1.5),
    "replays": ("torture.kinds.replays:Replays", 0.5),
    "models": ("torture.kinds.models:Models", 2.0),
    "deep-models": ("torture.kinds.deep_models:DeepModels", 1.0),
    "checkpoints": ("torture.kinds.checkpoints:Checkpoints", 1.5),
    "deep-checkpoints": ("torture.kinds.checkpoints:DeepCheckpoints", 1.0),
    "positions": ("torture.kinds.positions:PositionFiles", 1.0),
    "fetches": ("torture.kinds.fetches:Fetches", 1.0),
    "tables": ("torture.kinds.tables:Tables", 1.0),
    "stores": ("torture.kinds.stores:Stores", 1.0),
    "run-folders": ("torture.kinds.run_folders:RunFolders", 1.0),
    "environments": ("torture.kinds.environments:Environments", 1.0),
    "requests": ("torture.kinds.requests:Requests", 3.0),
    "kernels": ("torture.kinds.kernels:Kernels", 4.0),
    "kills": ("torture.kinds.kills:Kills", 4.0),
    "deep-kills": ("torture.kinds.kills:DeepKills", 2.0),
    "ray-kills": ("torture.kinds.kills:RayKills", 1.0),
    "full-disk": ("torture.kinds.disks:FullDisk", 2.0),
    "two-processes": ("torture.kinds.sharing:TwoProcesses", 1.5),
}


class WrongError(Exception):
    """An outcome that must not be; the message says what happened."""


class Campaign(ABC):
    """One kind of inputs.

    Attributes:
        name: Its name on the command line.
        seconds: An input that takes longer hangs.
        megabytes: How much one input may add to the highest use of memory; see `allowance`.
        environment: Variables of the worker processes.
        alone: Whether one worker at a time is enough: it starts processes itself.
        parts: Which models, configurations, commands, agents … it uses; a test takes the first ones alone.
        notes: What was measured, to be printed with the table, whether or not something failed.
    """

    name: ClassVar[str]
    seconds: ClassVar[float] = 10.0
    megabytes: ClassVar[float] = 100.0
    environment: ClassVar[dict[str, str]] = {}
    alone: ClassVar[bool] = False
    parts: ClassVar[slice] = slice(None)

    def __init__(self, folder: Path) -> None:
        """Prepare what inputs are made of.

        Args:
            folder: An empty folder; whatever the campaign writes is in it.
        """
        self.folder = folder
        self.notes: list[str] = []

    @abstractmethod
    def make(self, chance: random.Random) -> Case:
        """Make an input; the same state of `chance` makes the same one."""

    @abstractmethod
    def run(self, case: Case) -> int | None:
        """Run an input.

        Returns:
            How much it counts for, such as the number of kills; None for 1.

        Raises:
            TilewrightError: The input was refused.
            WrongError: Something happened that must not.
        """

    def allowance(self, case: Case) -> float:
        """Return how many megabytes the input may add to the highest use of memory."""
        return self.megabytes

    def finish(self) -> None:  # noqa: B027  (most campaigns have started nothing)
        """End what was started; raises WrongError if something is wrong with all inputs together."""


@dataclass(frozen=True)
class Verdict:
    """What came of an input: "accepted", "refused" or "failed"; a failure has a problem and the place where it is."""

    outcome: str
    count: int = 1
    problem: str = ""
    place: str = ""


def load_campaign(kind: str) -> type[Campaign]:
    """Import the class of a kind, or of `module:Class`."""
    module, _, name = KINDS[kind][0].partition(":") if kind in KINDS else kind.partition(":")
    loaded: type[Campaign] = getattr(importlib.import_module(module), name)
    return loaded


def judge(campaign: Campaign, case: Case) -> Verdict:
    """Run an input, and tell what came of it."""
    try:
        return Verdict("accepted", campaign.run(case) or 1)
    except TilewrightError as error:
        problem = _wrong_message(error)
        return Verdict("failed", 1, problem, _place(error)) if problem else Verdict("refused")
    except WrongError as error:
        return Verdict("failed", 1, str(error), str(error).partition(":")[0][:80])
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever is not an error of tilewright is a failure)
        lines = "".join(traceback.format_exception(error)).splitlines()[-8:]
        return Verdict("failed", 1, "\n".join([f"{type(error).__name__}: {str(error)[:300]}", *lines]), _place(error))


def allow_refusal(work: Callable[[], Any]) -> Any:
    """Call a function that may refuse with one line; returns its result, or None."""
    try:
        return work()
    except TilewrightError as error:
        if problem := _wrong_message(error):
            raise WrongError(problem) from error
        return None


_LONGEST_MESSAGE = 4_000


def _wrong_message(error: TilewrightError) -> str:
    """Return what is wrong with a message, or an empty text."""
    message = str(error)
    if not message.strip():
        return f"an empty message: {type(error).__name__}"
    if len(message.splitlines()) > 1 and not isinstance(error, JobsFailedError):  # it has a line for every job
        return f"a message of several lines: {message[:300]!r}"
    if len(message) > _LONGEST_MESSAGE:
        return f"a message of {len(message):,} characters: {message[:300]!r}"
    return ""


def _place(error: BaseException) -> str:
    """Return the place in the package where an error was raised: failures of one place are one finding."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/tilewright/" in frame.filename] or list(frames)
    if not own:
        return type(error).__name__
    return f"{type(error).__name__} at {'/'.join(own[-1].filename.split('/')[-2:])}:{own[-1].lineno}"
