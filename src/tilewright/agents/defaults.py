"""Which agents can play a game with nothing but the package, and which of them is the strongest."""

from tilewright.agents import AGENTS, make_agent
from tilewright.agents.base import Agent
from tilewright.agents.model_store import shipped_model
from tilewright.games.base import Game

__all__ = ["NETWORK_PLAYERS", "agent_or_strongest", "ready_agents"]

NETWORK_PLAYERS = ("expectimax", "ntuple")  # with the model that comes with the package, or that of a run
_DEEP_PLAYERS = ("dqn", "afterstate")  # with that of a run alone
_BY_STRENGTH = ("expectimax", "ntuple", "heuristic", "minimax", "uct", "montecarlo", "greedy", "random")


def ready_agents(game: Game) -> list[str]:
    """The agents that need no training of one's own, the strongest first, then those that were registered later.

    >>> from tilewright.games import make_game
    >>> ready_agents(make_game("2048:rows=3"))
    ['heuristic', 'minimax', 'uct', 'montecarlo', 'greedy', 'random']
    """
    not_ready = _DEEP_PLAYERS if shipped_model(game) else (*_DEEP_PLAYERS, *NETWORK_PLAYERS)
    names = dict.fromkeys((*_BY_STRENGTH, *AGENTS))
    return [name for name in names if name not in not_ready]


def agent_or_strongest(spec: str | None, game: Game) -> Agent:
    """The agent of a spec or, where none is named, the strongest that is ready."""
    return make_agent(ready_agents(game)[0] if spec is None else spec)
