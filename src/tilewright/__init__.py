"""tilewright: build, study and play learning agents for 2048 and Threes.

>>> import tilewright as tw
>>> game = tw.make_game("2048")
>>> board = game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
>>> after, reward = game.slide(board, "left")
>>> game.text(after), reward
('4 4 0 0 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0', 4)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright.agents import AGENTS, make_agent
    from tilewright.agents.base import Agent
    from tilewright.errors import BoardError, IllegalMoveError, SpecError, TilewrightError, UsageError
    from tilewright.games import GAMES, make_game
    from tilewright.games.base import Game
    from tilewright.games.board import Board
    from tilewright.games.episode import Episode
    from tilewright.games.line_game import LineGame
    from tilewright.play.evaluate import Evaluation, evaluate
    from tilewright.rng import Stream, stream_for

__version__ = "0.1.0"

__all__ = [
    "AGENTS",
    "GAMES",
    "Agent",
    "Board",
    "BoardError",
    "Episode",
    "Evaluation",
    "Game",
    "IllegalMoveError",
    "LineGame",
    "SpecError",
    "Stream",
    "TilewrightError",
    "UsageError",
    "evaluate",
    "make_agent",
    "make_game",
    "stream_for",
]

_HOMES = {
    "AGENTS": "tilewright.agents",
    "Agent": "tilewright.agents.base",
    "Board": "tilewright.games.board",
    "BoardError": "tilewright.errors",
    "Episode": "tilewright.games.episode",
    "Evaluation": "tilewright.play.evaluate",
    "GAMES": "tilewright.games",
    "Game": "tilewright.games.base",
    "IllegalMoveError": "tilewright.errors",
    "LineGame": "tilewright.games.line_game",
    "SpecError": "tilewright.errors",
    "Stream": "tilewright.rng",
    "TilewrightError": "tilewright.errors",
    "UsageError": "tilewright.errors",
    "evaluate": "tilewright.play.evaluate",
    "make_agent": "tilewright.agents",
    "make_game": "tilewright.games",
    "stream_for": "tilewright.rng",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import tilewright` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
