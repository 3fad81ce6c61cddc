"""Which weights a network looks up when it plays: a model that ships can do without the others.

Learning visits many boards that good play never meets again. Games are played at one ply, and marked are the weights of
all boards that a search of two plies looks at along the way.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.engines.local import default_threads, spread
from tilewright.errors import UsageError
from tilewright.games.calls import make_outcomes
from tilewright.games.rules import ILLEGAL, Outcomes, Rules, State, outcomes, slide, spawn, start
from tilewright.jit import Int, Word, inline, kernel
from tilewright.networks.model import Model
from tilewright.networks.stages import UNWRITTEN, UNWRITTEN_16
from tilewright.networks.tables import Places, Tables, add_up, list_places, lookups
from tilewright.rng import Stream, new_stream, seed_stream, stream_key

__all__ = ["only_what_is_used", "used_weights"]

u64 = np.uint64
Marks = NDArray[np.uint8]


@inline
def _look_at(tables: Tables, rules: Rules, state: State, places: Places, marks: Marks) -> None:
    """Mark the weights of a board, and in earlier stages those that may be read instead."""
    list_places(tables, rules, state, places, 0)
    for i in range(lookups(tables)):
        place = u64(places[i])
        while True:
            marks[place] = 1
            if place < tables.stage_size:
                break
            place -= tables.stage_size


@kernel
def mark_games(
    rules: Rules,
    tables: Tables,
    key: Word,
    first: Int,
    count: Int,
    stream: Stream,
    chances: Outcomes,
    places: Places,
    marks: Marks,
) -> None:
    """Play some games, and mark what is looked at."""
    for game in range(first, first + count):
        seed_stream(stream, key, u64(game))
        state, _ = start(rules, stream)
        while True:
            best, chosen, legal = np.float32(0), state, False
            for action in range(4):
                after, reward = slide(rules, state, action)
                if reward == ILLEGAL:
                    continue
                for i in range(outcomes(rules, after, chances)):
                    for reply in range(4):
                        later, gain = slide(rules, State(chances.cells[i], chances.extra[i]), reply)
                        if gain != ILLEGAL:
                            _look_at(tables, rules, later, places, marks)
                _look_at(tables, rules, after, places, marks)
                worth = np.float32(reward) + add_up(tables, places, 0, u64(0))
                if not legal or worth > best:
                    best, chosen, legal = worth, after, True
            if not legal:
                break
            state, _ = spawn(rules, chosen, stream)


def used_weights(
    model: Model,
    games: int,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> NDArray[np.bool_]:
    """Which weights are looked up in so many games."""
    if model.method != "afterstate":
        raise UsageError(f"a network of {model.method} values; only those of afterstates can be cut to what play uses")
    rules, tables, key = model.game.rules, model.tables, stream_key(seed)
    marks = np.zeros(len(model.weights), np.uint8)
    lookups_of_one = model.shape.lookups(model.game)

    def work(first: int, count: int) -> None:
        places = np.empty(lookups_of_one, np.uint32)
        mark_games(rules, tables, key, first, count, new_stream(), make_outcomes(), places, marks)

    spread(work, games, default_threads() if threads is None else threads, progress)
    return marks.view(np.bool_)


def only_what_is_used(model: Model, games: int, **options: Any) -> Model:
    """The model without the weights that so many games (and `options` of `used_weights`) never look up.

    >>> from tilewright.networks.shapes import NetworkShape
    >>> from tilewright.games import make_game
    >>> shape = NetworkShape(("01", "04"))
    >>> model = Model(make_game("2048:rows=2,columns=2"), shape, "afterstate", np.ones(shape.table_size, np.float32))
    >>> int(only_what_is_used(model, games=100, threads=1).weights.sum())
    48
    """
    used = used_weights(model, games, **options)
    blank = UNWRITTEN_16 if model.weights.dtype == np.int16 else UNWRITTEN
    kept = np.where(used, model.weights, model.weights.dtype.type(0))
    if model.shape.promoted_from is not None:
        later = slice(model.shape.promoted_from, None)
        kept[later] = np.where(used[later], model.weights[later], model.weights.dtype.type(blank))
    return Model(model.game, model.shape, model.method, kept, model.unit, model.origin)
