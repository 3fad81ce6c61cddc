"""The runs folder for clients: runs by name, never by path, and nothing outside the folder."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from tilewright._core.registry import did_you_mean
from tilewright._core.text import excerpt
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.games.base import Game
from tilewright.training.report import full_rows
from tilewright.training.run_folder import RunFolder
from tilewright.web.schemas import JsonObject

__all__ = ["RunLibrary", "UnknownRunError", "thin_out"]

T = TypeVar("T")
_RUNNING_SECONDS = 120  # a curve that has grown since, without a model after it, is that of a running session


class UnknownRunError(TilewrightError):
    """There is no run of that name."""


class RunLibrary:
    """The runs in one folder. A name is looked up among the existing runs; no path is made from it."""

    def __init__(self, path: Path) -> None:
        """Take a folder, which need not exist yet."""
        self.path = path.resolve()

    def folders(self) -> dict[str, Path]:
        """Return the folders of all runs by name, without links that lead out of the runs folder."""
        try:
            inside = [entry for entry in self.path.iterdir() if not entry.name.startswith(".")]
            return {
                entry.name: entry
                for entry in sorted(inside)
                if entry.resolve().parent == self.path and (entry / "config.toml").is_file()
            }
        except OSError:
            return {}

    def folder(self, name: str) -> RunFolder:
        """Return a run by its name.

        Raises:
            UnknownRunError: There is no such run.
        """
        folders = self.folders()
        if name not in folders:
            raise UnknownRunError(f"there is no run {excerpt(name)}{did_you_mean(name, folders)}")
        return RunFolder(folders[name])

    def model_file(self, name: str) -> Path:
        """Return the file of a run's model.

        Raises:
            UnknownRunError: There is no such run.
            UsageError: The run has no model yet, or `name` is a path.
        """
        if "/" in name or "\\" in name or name.startswith("."):
            raise UsageError(f"model={excerpt(name)}: a model is chosen by the name of its run; paths are refused")
        folder = self.folder(name)
        if folder.model_file.resolve().parent != folder.path.resolve() or not folder.model_file.is_file():
            raise UsageError(f"the run {name} has no model yet")
        return folder.model_file

    def agents_for(self, game: Game) -> dict[str, str]:
        """Return the runs whose models play a game, each with the name of the agent that plays them."""
        found = {}
        for name, path in self.folders().items():
            folder = RunFolder(path)
            try:
                config = folder.read_config()
                trained = config.make_game()
            except UsageError:
                continue
            same = (trained.name, trained.rows, trained.columns) == (game.name, game.rows, game.columns)
            if same and folder.model_file.is_file():
                found[name] = config.agent_name
        return found

    def summary(self, name: str) -> JsonObject:
        """Return the fields of `RunSummary`.

        Raises:
            UnknownRunError: There is no such run.
        """
        folder = self.folder(name)
        points = folder.curve_points()
        last = points[-1] if points else None
        try:
            config = folder.read_config()
            game, agent = config.game, config.agent_name
        except UsageError:
            game = agent = ""
        return {
            "name": name,
            "game": game,
            "agent": agent,
            "running": _is_running(folder),
            "has_model": folder.model_file.is_file(),
            "games": last.games if last else 0,
            "seconds": last.seconds if last else 0.0,
            "score_mean": last.score_mean if last else None,
        }

    def details(self, name: str, max_points: int) -> JsonObject:
        """Return the fields of `RunDetails`, with at most `max_points` points of a curve.

        Raises:
            UnknownRunError: There is no such run.
            FileError: Its files cannot be read.
        """
        folder = self.folder(name)
        try:
            config = folder.config_file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise FileError(f"the run {name} cannot be read: {error.strerror}") from None
        return self.summary(name) | {
            "config": config,
            "curve": [asdict(point) for point in thin_out(full_rows(folder.curve_points()), max_points)],
            "evaluations": [asdict(point) for point in thin_out(folder.evaluation_points(), max_points)],
            "stages": [asdict(point) for point in thin_out(folder.stage_points(), max_points)],
        }

    def hide_paths(self, message: str) -> str:
        """Return a message with paths relative to the runs folder."""
        return message.replace(f"{self.path}/", "")


def _is_running(folder: RunFolder) -> bool:
    """Return whether the curve still grows, as far as the files show."""
    try:
        grew = folder.metrics_file.stat().st_mtime
        saved = folder.model_file.stat().st_mtime if folder.model_file.exists() else 0.0
    except OSError:
        return False
    return saved < grew and time.time() - grew < _RUNNING_SECONDS


def thin_out(points: Sequence[T], limit: int) -> list[T]:
    """Return at most `limit` points, evenly spaced, with the first and the last one.

    >>> thin_out(range(1, 11), 4)
    [1, 4, 7, 10]
    """
    if len(points) <= limit:
        return list(points)
    return [points[i * (len(points) - 1) // (limit - 1)] for i in range(limit)]
