"""The players: one registry from spec text to an agent with one small protocol (see `agents.agent`)."""

from typing import TYPE_CHECKING, Any

from tilewright._core.registry import Entry, Registry
from tilewright.errors import UsageError

if TYPE_CHECKING:
    from tilewright.agents.base import Agent

__all__ = ["AGENTS", "agent_of", "make_agent"]

AGENTS: "Registry[Agent]" = Registry(
    "agent",
    {
        "random": Entry("tilewright.agents.random:RandomAgent", "every legal move with the same probability"),
        "greedy": Entry("tilewright.agents.greedy:GreedyAgent", "the move that earns most at once"),
        "ntuple": Entry("tilewright.agents.ntuple:NTupleAgent", "a trained n-tuple network, without search"),
        "expectimax": Entry("tilewright.agents.expectimax:ExpectimaxAgent", "a trained network that looks ahead"),
        "heuristic": Entry("tilewright.agents.heuristic:HeuristicAgent", "expectimax by rules of thumb, no training"),
        "minimax": Entry("tilewright.agents.minimax:MinimaxAgent", "α-β by rules of thumb, against the worst tile"),
        "montecarlo": Entry("tilewright.agents.montecarlo:MonteCarloAgent", "the move whose playouts end best"),
        "uct": Entry("tilewright.agents.uct:UctAgent", "Monte Carlo tree search, with chance nodes"),
        "dqn": Entry("tilewright.deep.agent:DqnAgent", "a trained deep network that values actions", "deep"),
        "afterstate": Entry(
            "tilewright.deep.agent:AfterstateAgent", "a trained deep network that values afterstates", "deep"
        ),
    },
)


def make_agent(spec: str, **options: Any) -> "Agent":
    """An agent by its spec.

    >>> make_agent("greedy").values(make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"))
    {'up': 0.0, 'right': 4.0, 'down': 0.0, 'left': 4.0}
    """
    return AGENTS.make(spec, **options)


def agent_of(agent: "Agent | str") -> "Agent":
    """Return an agent as it is, and make one of a spec.

    Raises:
        UsageError: It is neither.
    """
    from tilewright.agents.base import Agent
    from tilewright.games.notation import excerpt

    if isinstance(agent, Agent):
        return agent
    if isinstance(agent, str):
        return make_agent(agent)
    raise UsageError(f"{excerpt(agent)} is no agent: give an Agent, or a spec such as 'expectimax:depth=2'")
