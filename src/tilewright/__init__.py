"""tilewright: build, study and play learning agents for 2048 and Threes.

>>> import tilewright as tw
>>> game = tw.make_game("2048")
>>> board = game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
>>> after, reward = game.slide(board, "left")
>>> game.text(after), reward
('4 4 0 0 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0', 4)
>>> tw.make_agent("greedy").move(board) in game.legal(board)
True
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright._core.options import Range
    from tilewright.agents import AGENTS, make_agent
    from tilewright.agents.base import Agent, Analysis, Player
    from tilewright.deep.config import DeepConfig
    from tilewright.errors import (
        BoardError,
        ClusterError,
        ConfigError,
        DivergedError,
        FileError,
        IllegalMoveError,
        JobsFailedError,
        MissingExtraError,
        SearchStoppedError,
        SpecError,
        TilewrightError,
        UnreachedError,
        UsageError,
    )
    from tilewright.exact.practice import practice_positions
    from tilewright.exact.solve import solve
    from tilewright.exact.table import ExactTable, load_table
    from tilewright.games import GAMES, make_game
    from tilewright.games.base import Game
    from tilewright.games.board import Board
    from tilewright.games.episode import Episode
    from tilewright.games.line_game import LineGame
    from tilewright.ntuple.model import Model, load_model
    from tilewright.play.distil import distil
    from tilewright.play.evaluate import Evaluation, evaluate
    from tilewright.play.exactly import ExactEvaluation, evaluate_exactly
    from tilewright.play.recording import Recording, read_games
    from tilewright.play.review import Review, review
    from tilewright.play.statistics import Estimate
    from tilewright.reproduce.sweep import SweepResult, sweep
    from tilewright.rng import Stream, stream_for
    from tilewright.training.api import Run, train
    from tilewright.training.callbacks import Callback
    from tilewright.training.config import TrainingConfig, read_config
    from tilewright.training.trackers import TrackioCallback, WandbCallback

__version__ = "0.2.0"

__all__ = [
    "AGENTS",
    "GAMES",
    "Agent",
    "Analysis",
    "Board",
    "BoardError",
    "Callback",
    "ClusterError",
    "ConfigError",
    "DeepConfig",
    "DivergedError",
    "Episode",
    "Estimate",
    "Evaluation",
    "ExactEvaluation",
    "ExactTable",
    "FileError",
    "Game",
    "IllegalMoveError",
    "JobsFailedError",
    "LineGame",
    "MissingExtraError",
    "Model",
    "Player",
    "Range",
    "Recording",
    "Review",
    "Run",
    "SearchStoppedError",
    "SpecError",
    "Stream",
    "SweepResult",
    "TilewrightError",
    "TrackioCallback",
    "TrainingConfig",
    "UnreachedError",
    "UsageError",
    "WandbCallback",
    "distil",
    "evaluate",
    "evaluate_exactly",
    "load_model",
    "load_table",
    "make_agent",
    "make_game",
    "practice_positions",
    "read_config",
    "read_games",
    "review",
    "solve",
    "stream_for",
    "sweep",
    "train",
]

_HOMES = {
    "AGENTS": "tilewright.agents",
    "GAMES": "tilewright.games",
    "Agent": "tilewright.agents.base",
    "Analysis": "tilewright.agents.base",
    "Board": "tilewright.games.board",
    "BoardError": "tilewright.errors",
    "Callback": "tilewright.training.callbacks",
    "ClusterError": "tilewright.errors",
    "ConfigError": "tilewright.errors",
    "DeepConfig": "tilewright.deep.config",
    "DivergedError": "tilewright.errors",
    "Episode": "tilewright.games.episode",
    "Estimate": "tilewright.play.statistics",
    "Evaluation": "tilewright.play.evaluate",
    "ExactEvaluation": "tilewright.play.exactly",
    "ExactTable": "tilewright.exact.table",
    "FileError": "tilewright.errors",
    "Game": "tilewright.games.base",
    "IllegalMoveError": "tilewright.errors",
    "JobsFailedError": "tilewright.errors",
    "LineGame": "tilewright.games.line_game",
    "MissingExtraError": "tilewright.errors",
    "Model": "tilewright.ntuple.model",
    "Player": "tilewright.agents.base",
    "Range": "tilewright._core.options",
    "Recording": "tilewright.play.recording",
    "Review": "tilewright.play.review",
    "Run": "tilewright.training.api",
    "SearchStoppedError": "tilewright.errors",
    "SpecError": "tilewright.errors",
    "Stream": "tilewright.rng",
    "SweepResult": "tilewright.reproduce.sweep",
    "TilewrightError": "tilewright.errors",
    "TrackioCallback": "tilewright.training.trackers",
    "TrainingConfig": "tilewright.training.config",
    "UnreachedError": "tilewright.errors",
    "UsageError": "tilewright.errors",
    "WandbCallback": "tilewright.training.trackers",
    "distil": "tilewright.play.distil",
    "evaluate": "tilewright.play.evaluate",
    "evaluate_exactly": "tilewright.play.exactly",
    "load_model": "tilewright.ntuple.model",
    "load_table": "tilewright.exact.table",
    "make_agent": "tilewright.agents",
    "make_game": "tilewright.games",
    "practice_positions": "tilewright.exact.practice",
    "read_config": "tilewright.training.config",
    "read_games": "tilewright.play.recording",
    "review": "tilewright.play.review",
    "solve": "tilewright.exact.solve",
    "stream_for": "tilewright.rng",
    "sweep": "tilewright.reproduce.sweep",
    "train": "tilewright.training.api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import tilewright` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
