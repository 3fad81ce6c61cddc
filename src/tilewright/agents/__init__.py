"""The players: one registry from spec text to an agent with one small protocol (see `agents.agent`)."""

from typing import TYPE_CHECKING

from tilewright._core.registry import Entry, Registry

if TYPE_CHECKING:
    from tilewright.agents.base import Agent

__all__ = ["AGENTS", "make_agent"]

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
        "exact": Entry("tilewright.agents.exact:ExactAgent", "perfect play by a table of exact values"),
        "dqn": Entry("tilewright.deep.agent:DqnAgent", "a trained deep network that values actions", "deep"),
        "afterstate": Entry(
            "tilewright.deep.agent:AfterstateAgent", "a trained deep network that values afterstates", "deep"
        ),
        "policy": Entry("tilewright.deep.agent:PolicyAgent", "a trained deep policy network", "deep"),
    },
    base="tilewright.agents.base:Agent",
)


def make_agent(spec: "str | Agent", **options: object) -> "Agent":
    """Make an agent from its spec; an Agent is returned as it is.

    >>> make_agent("greedy").values(make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"))
    {'up': 0.0, 'right': 4.0, 'down': 0.0, 'left': 4.0}

    Args:
        spec: A registered name with options, such as `heuristic:depth=3`, or your own class, such as
            `my_module:MyAgent,weight=2`.
        options: Options in addition to those of the spec.

    Raises:
        SpecError: There is no such agent or option, or an option has an impossible value.
    """
    return AGENTS.make(spec, **options)
