"""`expectimax`: a trained network that looks ahead."""

from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.network_agent import NetworkAgent
from tilewright.agents.search_agent import SearchAgent
from tilewright.games.policy import Policy
from tilewright.ntuple.value import ValueFunction
from tilewright.search.evaluator import make_evaluator

__all__ = ["ExpectimaxAgent"]


@dataclass(frozen=True)
class ExpectimaxAgent(NetworkAgent, SearchAgent):
    """Searches with a trained network: `expectimax:depth=3` or, by time, `expectimax:ms=50`."""

    name: ClassVar[str] = "expectimax"

    def _policy_by(self, value_function: ValueFunction) -> Policy:
        """Return the search over the network's values."""
        return self._make_search(make_evaluator(value_function))
