"""Playing boards with larger tiles than a network knows as if these were smaller (see `networks.downgrading`)."""

from typing import Any, NamedTuple

from tilewright._core.jit import Int, implements, kernel
from tilewright.games.board import Board
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import Rules, State, slide
from tilewright.games.state_kernels import typed_state
from tilewright.ntuple.downgrade import Downgrading, downgrade
from tilewright.ntuple.model import Model
from tilewright.rng import Stream
from tilewright.search.evaluator import evaluate_state

__all__ = ["downgrade_board", "with_downgrading"]


class Downgraded(NamedTuple):
    policy: Policy
    downgrading: Downgrading


@implements(act, Downgraded)
def choose_on_lowered(lowering: Downgraded, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    seen = downgrade(lowering.downgrading, rules, state)
    action, after, reward = act(lowering.policy, rules, seen, stream)
    if action != NO_ACTION and seen.cells != state.cells:
        after, reward = slide(rules, state, action)
    return action, after, reward


@implements(evaluate_state, Downgraded)
def judge_lowered(lowering: Downgraded, rules: Rules, state: State) -> Any:
    """What a smaller board is worth, where playouts are cut short."""
    return evaluate_state(lowering.policy, rules, downgrade(lowering.downgrading, rules, state))


@kernel
def downgrade_one(downgrading: Downgrading, rules: Rules, state: State) -> State:
    """For one call from Python."""
    return downgrade(downgrading, rules, state)


def with_downgrading(policy: Policy, model: Model) -> Policy:
    """The policy of a model; boards that the model does not know it plays as smaller ones."""
    return Downgraded(policy, model.downgrading) if model.downgrade_above else policy


def downgrade_board(board: Board, model: Model) -> State:
    """A board's state as the model knows it."""
    state = typed_state(board.state)
    return typed_state(downgrade_one(model.downgrading, board.game.rules, state)) if model.downgrade_above else state
