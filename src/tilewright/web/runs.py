"""The runs folder for clients: runs by name, never by path, and nothing outside the folder.

Whoever can write into the folder may put anything there. A run that cannot be understood is listed without what is not
known of it; it neither breaks nor slows the list of the others.
"""

import itertools
import logging
import os
import time
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from tilewright._core.text import did_you_mean, excerpt
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.games import GAMES
from tilewright.games.base import Game
from tilewright.training.config import parse_config
from tilewright.training.report import full_rows
from tilewright.training.run_folder import (
    EvaluationPoint,
    Point,
    RunFolder,
    StagePoint,
    TrainingPoint,
    curve_kind,
    parse_rows,
)
from tilewright.web.limits import Limits
from tilewright.web.registration import parse_registered
from tilewright.web.run_files import FileCache, is_own_file, read_text, sample_lines, stat_of, tail_lines
from tilewright.web.schemas import JsonObject

__all__ = ["RunLibrary", "UnknownRunError", "thin_out"]

T = TypeVar("T")
P = TypeVar("P", bound=Point)
_RUNNING_SECONDS = 120  # a curve that has grown since, without a model after it, is that of a running session
_MAX_ENTRIES = 10_000  # of the folder that are looked at
_MAX_HINTS = 100  # runs among which a similar name is looked for
_MAX_NUMBER = 2**53  # the largest integer that every JSON parser reads exactly
_KEPT_CURVES = 32

_log = logging.getLogger(__name__)


class UnknownRunError(TilewrightError):
    """There is no run of that name."""


@dataclass(frozen=True)
class _RunFacts:
    """What the configuration of a run says; empty where it cannot be understood."""

    game: str = ""
    agent: str = ""
    board: tuple[str, int, int] | None = None  # name of the game, rows, columns


class RunLibrary:
    """The runs in one folder. A name is looked up among the entries of the folder; no path is made from it."""

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        """Take a folder, which need not exist yet."""
        self.path = path.resolve()
        self._limits = limits or Limits()
        self._facts = FileCache[_RunFacts](2 * self._limits.runs)
        self._last_points = FileCache[TrainingPoint | None](2 * self._limits.runs)
        self._curves = FileCache[JsonObject](_KEPT_CURVES)

    def folders(self) -> dict[str, Path]:
        """Return the folders of all runs by name, at most `limits.runs`."""
        runs = (name for name in sorted(self._names()) if self._is_run(name))
        return {name: self.path / name for name in itertools.islice(runs, self._limits.runs)}

    def _names(self) -> list[str]:
        """Return the names of the entries that may be runs; names that are no text cannot be sent to a client."""
        try:
            with os.scandir(self.path) as entries:
                names = [entry.name for entry in itertools.islice(entries, _MAX_ENTRIES)]
        except OSError:
            return []
        return [name for name in names if not name.startswith(".") and _is_text(name)]

    def _is_run(self, name: str) -> bool:
        """Return whether an entry is a run, and not a link that leads out of the folder."""
        entry = self.path / name
        try:
            return entry.resolve().parent == self.path and is_own_file(entry / "config.toml")
        except (OSError, RuntimeError):  # RuntimeError: links in a circle
            return False

    def folder(self, name: str) -> RunFolder:
        """Return a run by its name.

        Raises:
            UnknownRunError: There is no such run.
        """
        names = self._names()
        if name not in names or not self._is_run(name):
            hint = did_you_mean(name, sorted(names)[:_MAX_HINTS]) if len(name) < _MAX_HINTS else ""
            raise UnknownRunError(f"there is no run {excerpt(name)}{hint}")
        return RunFolder(self.path / name)

    def model_file(self, name: str) -> Path:
        """Return the file of a run's model.

        Raises:
            UnknownRunError: There is no such run.
            UsageError: The run has no model yet, or `name` is a path.
        """
        if "/" in name or "\\" in name or name.startswith("."):
            raise UsageError(f"model={excerpt(name)}: a model is chosen by the name of its run; paths are refused")
        folder = self.folder(name)
        if not is_own_file(folder.model_file):
            raise UsageError(f"the run {name} has no model yet")
        return folder.model_file

    def agents_for(self, game: Game) -> dict[str, str]:
        """Return the runs whose models play a game, each with the name of the agent that plays them."""
        found, board = {}, (game.name, game.rows, game.columns)
        for name, path in self.folders().items():
            folder = RunFolder(path)
            facts = self._facts_of(folder)
            if facts.board == board and is_own_file(folder.model_file):
                found[name] = facts.agent
        return found

    def _facts_of(self, folder: RunFolder) -> _RunFacts:
        return self._facts.get(lambda: self._read_facts(folder), folder.config_file)

    def _read_facts(self, folder: RunFolder) -> _RunFacts:
        """Read a configuration; the module of a game that it names as module:Class is not imported."""
        try:
            text = read_text(folder.config_file, self._limits.run_file)
            parse_registered(GAMES, tomllib.loads(text).get("game", "2048"), self._limits.spec)
            config = parse_config(text)
            game = config.make_game()
        except Exception as error:  # noqa: BLE001  (whatever a file of a stranger may cause)
            _log.info("the configuration of the run %s cannot be read: %s", excerpt(folder.path.name), error)
            return _RunFacts()
        return _RunFacts(config.game, config.agent_name, (game.name, game.rows, game.columns))

    def summaries(self) -> list[JsonObject]:
        """Return the fields of `RunSummary` for all runs."""
        return [self._summary(RunFolder(path)) for path in self.folders().values()]

    def summary(self, name: str) -> JsonObject:
        """Return the fields of `RunSummary`.

        Raises:
            UnknownRunError: There is no such run.
        """
        return self._summary(self.folder(name))

    def _summary(self, folder: RunFolder) -> JsonObject:
        facts = self._facts_of(folder)
        last = self._last_points.get(lambda: self._read_last_point(folder), folder.metrics_file)
        return {
            "name": folder.path.name,
            "game": facts.game,
            "agent": facts.agent,
            "running": _is_running(folder),
            "has_model": is_own_file(folder.model_file),
            "games": last.games if last else 0,
            "seconds": last.seconds if last else 0.0,
            "score_mean": last.score_mean if last else None,
        }

    def _read_last_point(self, folder: RunFolder) -> TrainingPoint | None:
        lines = tail_lines(folder.metrics_file)
        points = _possible(parse_rows(lines, curve_kind(lines)))
        return points[-1] if points else None

    def details(self, name: str) -> JsonObject:
        """Return the fields of `RunDetails`, with at most `limits.curve_points` points of a curve.

        Raises:
            UnknownRunError: There is no such run.
            FileError: Its configuration cannot be read.
        """
        folder = self.folder(name)
        try:
            config = read_text(folder.config_file, self._limits.run_file)
        except OSError as error:
            raise FileError(f"the run {name} cannot be read: {error.strerror or 'no file'}") from None
        files = (folder.metrics_file, folder.evaluations_file, folder.stages_file)
        return self._summary(folder) | {"config": config} | self._curves.get(lambda: self._read_curves(folder), *files)

    def _read_curves(self, folder: RunFolder) -> JsonObject:
        lines = self._lines(folder.metrics_file)
        return {
            "curve": self._to_json(full_rows(_possible(parse_rows(lines, curve_kind(lines))))),
            "evaluations": self._to_json(parse_rows(self._lines(folder.evaluations_file), EvaluationPoint)),
            "stages": self._to_json(parse_rows(self._lines(folder.stages_file), StagePoint)),
        }

    def _lines(self, file: Path) -> list[str]:
        return sample_lines(file, self._limits.curve_points + 1, self._limits.run_file)

    def _to_json(self, points: Sequence[Point]) -> list[JsonObject]:
        return [asdict(point) for point in thin_out(_possible(points), self._limits.curve_points)]

    def hide_paths(self, message: str) -> str:
        """Return a message with paths relative to the runs folder."""
        return message.replace(f"{self.path}/", "")


def _is_running(folder: RunFolder) -> bool:
    """Return whether the curve still grows, as far as the files show."""
    grew, saved = stat_of(folder.metrics_file), stat_of(folder.model_file)
    if grew is None or time.time() - grew.st_mtime >= _RUNNING_SECONDS:
        return False
    return saved is None or saved.st_mtime < grew.st_mtime


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _possible(points: Sequence[P]) -> list[P]:
    """Leave out the rows with numbers that no session writes, and that JSON cannot express."""
    return [point for point in points if all(-_MAX_NUMBER <= number <= _MAX_NUMBER for number in vars(point).values())]


def thin_out(points: Sequence[T], limit: int) -> list[T]:
    """Return at most `limit` points, evenly spaced, with the first and the last one.

    >>> thin_out(range(1, 11), 4)
    [1, 4, 7, 10]
    """
    if len(points) <= limit:
        return list(points)
    return [points[i * (len(points) - 1) // (limit - 1)] for i in range(limit)]
