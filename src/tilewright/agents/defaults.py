"""Agents that can play a game with nothing but the package, and the strongest of them."""

from tilewright.agents import AGENTS, make_agent
from tilewright.agents.base import Agent
from tilewright.agents.model_store import packaged_model
from tilewright.games.base import Game

__all__ = ["NETWORK_AGENTS", "agent_or_default", "ready_agents"]

NETWORK_AGENTS = ("expectimax", "ntuple")  # with the model that comes with the package, or that of a run
_NEED_FILES = ("exact", "dqn", "afterstate", "policy")  # with a table, or with the model of a run
_BY_STRENGTH = ("expectimax", "ntuple", "heuristic", "minimax", "uct", "montecarlo", "greedy", "random")


def ready_agents(game: Game) -> list[str]:
    """Return the names of the agents that play without any training, the strongest first, then those of users.

    >>> from tilewright.games import make_game
    >>> ready_agents(make_game("2048:rows=3"))
    ['heuristic', 'minimax', 'uct', 'montecarlo', 'greedy', 'random']
    """
    not_ready = _not_ready(game)
    names = dict.fromkeys((*_BY_STRENGTH, *AGENTS))
    return [name for name in names if name not in not_ready and (name in _BY_STRENGTH or AGENTS.is_available(name))]


def _not_ready(game: Game) -> tuple[str, ...]:
    """Return the agents that need a model which the package does not have."""
    return _NEED_FILES if packaged_model(game) else (*_NEED_FILES, *NETWORK_AGENTS)


def agent_or_default(spec: str | None, game: Game) -> Agent:
    """Return the agent of a spec; without one, the strongest that plays without any training."""
    if spec is not None:
        return make_agent(spec)
    return make_agent(next(name for name in _BY_STRENGTH if name not in _not_ready(game)))
