"""`ntuple`: a trained n-tuple network without search."""

from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.network_agent import NetworkAgent
from tilewright.games.policy import Policy
from tilewright.ntuple.value import ValueFunction

__all__ = ["NTupleAgent"]


@dataclass(frozen=True)
class NTupleAgent(NetworkAgent):
    """Plays the move whose reward and learned value are highest.

    The value of a move is the expected further score. Boards with larger tiles than the network has learned are played,
    and valued, as downgraded boards.
    """

    name: ClassVar[str] = "ntuple"

    def _policy_by(self, value_function: ValueFunction) -> Policy:
        return value_function
