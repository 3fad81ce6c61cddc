"""The behaviour policy: which moves training games are played with."""

from typing import NamedTuple, TypeAlias

import numpy as np

from tilewright._core.jit import Int, Word, implements
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import ILLEGAL, Rules, State, slide
from tilewright.ntuple.value import Candidate, ValueFunction, evaluate_action, greedy_action
from tilewright.rng import Stream, below, low_half, next_word

__all__ = ["Behaviour", "BehaviourPolicy", "EpsilonGreedy", "FollowTeacher", "Greedy", "behaviour_action"]

u64 = np.uint64


class Greedy(NamedTuple):
    """Always play the move of the highest value."""


class EpsilonGreedy(NamedTuple):
    """Play a random legal move with probability ε, and the move of the highest value otherwise."""

    threshold: Word  # explore when 32 random bits are below ε · 2**32


class FollowTeacher(NamedTuple):
    """Play the moves of another policy; the learner learns how its games go on."""

    teacher: Policy


Behaviour: TypeAlias = Greedy | EpsilonGreedy | FollowTeacher


def behaviour_action(
    behaviour: Behaviour, value_function: ValueFunction, rules: Rules, state: State, best: Candidate, stream: Stream
) -> Candidate:
    """Return the move to play, where `best` is the greedy one."""
    raise TypeError("behaviour_action is a verb for kernels")


@implements(behaviour_action, Greedy)
def play_greedily(
    behaviour: Greedy, value_function: ValueFunction, rules: Rules, state: State, best: Candidate, stream: Stream
) -> Candidate:
    """Return the greedy move."""
    return best


@implements(behaviour_action, EpsilonGreedy)
def explore_sometimes(
    behaviour: EpsilonGreedy, value_function: ValueFunction, rules: Rules, state: State, best: Candidate, stream: Stream
) -> Candidate:
    """Draw one random word for both questions: whether to explore, and with which move."""
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


@implements(behaviour_action, FollowTeacher)
def follow_teacher(
    behaviour: FollowTeacher, value_function: ValueFunction, rules: Rules, state: State, best: Candidate, stream: Stream
) -> Candidate:
    """Return the teacher's move."""
    action = act(behaviour.teacher, rules, state, stream)[0]
    return best if action == best.action else evaluate_action(value_function, rules, state, action)


class BehaviourPolicy(NamedTuple):
    """A value function that plays with a behaviour."""

    behaviour: Behaviour
    value_function: ValueFunction


@implements(act, BehaviourPolicy)
def act_by_behaviour(policy: BehaviourPolicy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Find the greedy move, then let the behaviour decide."""
    best = greedy_action(policy.value_function, rules, state)
    if best.action == NO_ACTION:
        return NO_ACTION, state, 0
    chosen = behaviour_action(policy.behaviour, policy.value_function, rules, state, best, stream)
    return chosen.action, chosen.after, chosen.reward
