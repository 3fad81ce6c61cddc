"""Which move is made while learning: the best one, now and then a random one, or that of a teacher."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tilewright.games.rules import ILLEGAL, Rules, State, slide
from tilewright._core.jit import Word, implements
from tilewright.ntuple.value import Look, Method, consider, stand
from tilewright.ntuple.downgrade import Knowledge, as_known
from tilewright.rng import Stream, below, low_half, next_word

__all__ = ["EpsilonGreedy", "Exploration", "NoExploration", "Taught", "wander"]

u64 = np.uint64
Exploration: TypeAlias = Any  # NoExploration, EpsilonGreedy or Taught


class NoExploration(NamedTuple):
    pass


class EpsilonGreedy(NamedTuple):
    threshold: Word  # explore when 32 random bits are below this


class Taught(NamedTuple):
    """The moves are those of another network: what is learned is how its games go on."""

    teacher: Method
    knowledge: Knowledge  # the teacher's


def wander(explore: Exploration, method: Method, rules: Rules, state: State, best: Look, stream: Stream) -> Look:
    """The move to be made where `best` is the best one."""
    raise TypeError("wander is a verb for kernels")


@implements(wander, NoExploration)
def stay(explore: NoExploration, method: Method, rules: Rules, state: State, best: Look, stream: Stream) -> Look:
    return best


@implements(wander, EpsilonGreedy)
def wander_sometimes(
    explore: EpsilonGreedy, method: Method, rules: Rules, state: State, best: Look, stream: Stream
) -> Look:
    word = next_word(stream)
    if low_half(word) >= explore.threshold:
        return best
    legal = 0
    for action in range(4):
        legal += slide(rules, state, action)[1] != ILLEGAL
    left = np.int64(below(word, u64(legal)))
    for action in range(4):
        if slide(rules, state, action)[1] != ILLEGAL:
            if left == 0:
                return stand(method, rules, state, action)
            left -= 1
    return best


@implements(wander, Taught)
def follow(explore: Taught, method: Method, rules: Rules, state: State, best: Look, stream: Stream) -> Look:
    action = consider(explore.teacher, rules, as_known(explore.knowledge, rules, state)).action
    return best if action == best.action else stand(method, rules, state, action)
