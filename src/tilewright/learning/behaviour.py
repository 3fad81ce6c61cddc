"""Which move is made while learning: the best one, now and then a random one, or that of a teacher."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tilewright._core.jit import Word, implements
from tilewright.games.rules import ILLEGAL, Rules, State, slide
from tilewright.ntuple.downgrade import Downgrading, downgrade
from tilewright.ntuple.value import Candidate, ValueFunction, evaluate_action, greedy_action
from tilewright.rng import Stream, below, low_half, next_word

__all__ = ["Behaviour", "EpsilonGreedy", "GreedyBehaviour", "TeacherBehaviour", "behaviour_action"]

u64 = np.uint64
Behaviour: TypeAlias = Any  # NoExploration, EpsilonGreedy or Taught


class GreedyBehaviour(NamedTuple):
    pass


class EpsilonGreedy(NamedTuple):
    threshold: Word  # explore when 32 random bits are below this


class TeacherBehaviour(NamedTuple):
    """The moves are those of another network: what is learned is how its games go on."""

    teacher: ValueFunction
    downgrading: Downgrading  # the teacher's


def behaviour_action(
    behaviour: Behaviour, value_function: ValueFunction, rules: Rules, state: State, best: Candidate, stream: Stream
) -> Candidate:
    """The move to be made where `best` is the best one."""
    raise TypeError("wander is a verb for kernels")


@implements(behaviour_action, GreedyBehaviour)
def stay(
    behaviour: GreedyBehaviour,
    value_function: ValueFunction,
    rules: Rules,
    state: State,
    best: Candidate,
    stream: Stream,
) -> Candidate:
    return best


@implements(behaviour_action, EpsilonGreedy)
def wander_sometimes(
    behaviour: EpsilonGreedy, value_function: ValueFunction, rules: Rules, state: State, best: Candidate, stream: Stream
) -> Candidate:
    word = next_word(stream)
    if low_half(word) >= behaviour.threshold:
        return best
    legal = 0
    for action in range(4):
        legal += slide(rules, state, action)[1] != ILLEGAL
    left = np.int64(below(word, u64(legal)))
    for action in range(4):
        if slide(rules, state, action)[1] != ILLEGAL:
            if left == 0:
                return evaluate_action(value_function, rules, state, action)
            left -= 1
    return best


@implements(behaviour_action, TeacherBehaviour)
def follow(
    behaviour: TeacherBehaviour,
    value_function: ValueFunction,
    rules: Rules,
    state: State,
    best: Candidate,
    stream: Stream,
) -> Candidate:
    action = greedy_action(behaviour.teacher, rules, downgrade(behaviour.downgrading, rules, state)).action
    return best if action == best.action else evaluate_action(value_function, rules, state, action)
