"""Playing boards with larger tiles than a network knows as if these were smaller (see `networks.knowledge`)."""

from typing import Any, NamedTuple

from tilewright.games.board import Board
from tilewright.games.state_kernels import typed_state
from tilewright.games.rules import Rules, State, slide
from tilewright._core.jit import Int, implements, kernel
from tilewright.ntuple.downgrade import Knowledge, as_known
from tilewright.ntuple.model import Model
from tilewright.games.policy import OVER, Policy, choose
from tilewright.rng import Stream
from tilewright.search.evaluator import judge

__all__ = ["knowing", "state_as_known"]


class Lowering(NamedTuple):
    policy: Policy
    knowledge: Knowledge


@implements(choose, Lowering)
def choose_on_lowered(lowering: Lowering, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    seen = as_known(lowering.knowledge, rules, state)
    action, after, reward = choose(lowering.policy, rules, seen, stream)
    if action != OVER and seen.cells != state.cells:
        after, reward = slide(rules, state, action)
    return action, after, reward


@implements(judge, Lowering)
def judge_lowered(lowering: Lowering, rules: Rules, state: State) -> Any:
    """What a smaller board is worth, where playouts are cut short."""
    return judge(lowering.policy, rules, as_known(lowering.knowledge, rules, state))


@kernel
def as_known_once(knowledge: Knowledge, rules: Rules, state: State) -> State:
    """For one call from Python."""
    return as_known(knowledge, rules, state)


def knowing(policy: Policy, model: Model) -> Policy:
    """The policy of a model; boards that the model does not know it plays as smaller ones."""
    return Lowering(policy, model.knowledge) if model.knows else policy


def state_as_known(board: Board, model: Model) -> State:
    """A board's state as the model knows it."""
    state = typed_state(board.state)
    return typed_state(as_known_once(model.knowledge, board.game.rules, state)) if model.knows else state
