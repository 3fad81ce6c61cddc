"""What the values of an agent count, so that the page can say what its numbers mean."""

from typing import Literal, TypeAlias

from tilewright.agents.base import Agent
from tilewright.agents.expectimax import ExpectimaxAgent
from tilewright.agents.greedy import GreedyAgent
from tilewright.agents.ntuple import NTupleAgent

__all__ = ["Unit", "unit_of"]

Unit: TypeAlias = Literal["points", "reward", "none"]


def unit_of(agent: Agent) -> Unit:
    """Return what the values of an agent count.

    Returns:
        "points" that are expected from the board to the end of the game, the "reward" of one move, or "none" where
        values only compare moves.

    >>> unit_of(make_agent("ntuple")), unit_of(make_agent("greedy")), unit_of(make_agent("heuristic"))
    ('points', 'reward', 'none')
    """
    if isinstance(agent, NTupleAgent | ExpectimaxAgent):
        return "points"
    return "reward" if isinstance(agent, GreedyAgent) else "none"
