"""The runs folder as visitors see it: runs by name, never by path, and nothing outside of it."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from tilewright._core.registry import did_you_mean
from tilewright._core.text import excerpt
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.games.base import Game
from tilewright.training.report import full_rows
from tilewright.training.run_folder import RunFolder

__all__ = ["RunShelf", "UnknownRunError"]

T = TypeVar("T")
_RUNNING_SECONDS = 120  # a curve that grew so lately, with no model after it, is of a run under way


class UnknownRunError(TilewrightError):
    """There is no run of that name."""


class RunShelf:
    """The runs in one folder. A name is looked up among those that are there: no path is ever made of it."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    def runs(self) -> dict[str, Path]:
        """The folders of all runs by name; a link that leads out of the shelf is none."""
        try:
            inside = [entry for entry in self.path.iterdir() if not entry.name.startswith(".")]
            return {
                entry.name: entry
                for entry in sorted(inside)
                if entry.resolve().parent == self.path and (entry / "config.toml").is_file()
            }
        except OSError:
            return {}

    def run(self, name: str) -> RunFolder:
        runs = self.runs()
        if name not in runs:
            raise UnknownRunError(f"there is no run {excerpt(name)}{did_you_mean(name, runs)}")
        return RunFolder(runs[name])

    def model(self, name: str) -> Path:
        """The trained network of a run."""
        if "/" in name or "\\" in name or name.startswith("."):
            raise UsageError(f"model={excerpt(name)}: a model is chosen by the name of its run; paths are refused")
        folder = self.run(name)
        if folder.model_file.resolve().parent != folder.path.resolve() or not folder.model_file.is_file():
            raise UsageError(f"the run {name} has no model yet")
        return folder.model_file

    def models_for(self, game: Game) -> dict[str, str]:
        """The runs whose networks play a game, each with the agent that plays them."""
        found = {}
        for name, path in self.runs().items():
            folder = RunFolder(path)
            try:
                config = folder.read_config()
                trained = config.make_game()
            except UsageError:
                continue
            same = (trained.name, trained.rows, trained.columns) == (game.name, game.rows, game.columns)
            if same and folder.model_file.is_file():
                found[name] = config.player
        return found

    def summary(self, name: str) -> dict[str, Any]:
        """What a list of runs shows of one."""
        folder = self.run(name)
        points = folder.curve_points()
        last = points[-1] if points else None
        try:
            config = folder.read_config()
            game, player = config.game, config.player
        except UsageError:
            game = player = ""
        return {
            "name": name,
            "game": game,
            "player": player,
            "running": is_running(folder),
            "has_model": folder.model_file.is_file(),
            "games": last.games if last else 0,
            "seconds": last.seconds if last else 0.0,
            "score_mean": last.score_mean if last else None,
        }

    def details(self, name: str, most: int) -> dict[str, Any]:
        """The curve, the tests and the recipe of a run."""
        folder = self.run(name)
        try:
            config = folder.config_file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise FileError(f"the run {name} cannot be read: {error.strerror}") from None
        return self.summary(name) | {
            "config": config,
            "curve": [asdict(point) for point in thinned(full_rows(folder.curve_points()), most)],
            "tests": [asdict(point) for point in thinned(folder.evaluation_points(), most)],
            "stages": [asdict(point) for point in thinned(folder.stage_points(), most)],
        }

    def hide(self, message: str) -> str:
        """A message without the place of the folder on this machine."""
        return message.replace(f"{self.path}/", "")


def is_running(folder: RunFolder) -> bool:
    """Whether the curve still grows, as far as its files tell."""
    try:
        grew = folder.metrics_file.stat().st_mtime
        saved = folder.model_file.stat().st_mtime if folder.model_file.exists() else 0.0
    except OSError:
        return False
    return saved < grew and time.time() - grew < _RUNNING_SECONDS


def thinned(points: Sequence[T], most: int) -> list[T]:
    """At most so many points, evenly chosen, the last one among them.

    >>> thinned(range(1, 11), 4)
    [1, 4, 7, 10]
    """
    if len(points) <= most:
        return list(points)
    return [points[i * (len(points) - 1) // (most - 1)] for i in range(most)]
