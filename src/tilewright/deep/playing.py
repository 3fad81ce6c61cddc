"""Playing with a deep network: what the four moves are worth on many boards at once, and whole games side by side."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, kernel
from tilewright.deep.network import BoardNetwork
from tilewright.envs.observations import View, make_view, show, show_grids, view_shape
from tilewright.games.base import Game
from tilewright.games.policy import GameResults
from tilewright.games.rules import ILLEGAL, Rules, State, largest, slide, spawn, start
from tilewright.rng import Key, seed_stream, stream_key

__all__ = ["Player", "play_batch"]

u64 = np.uint64
Words = NDArray[np.uint64]


@kernel
def list_afterstates(
    rules: Rules, view: View, cells: Words, extra: Words, grids: NDArray[np.uint8], rewards: NDArray[np.float32]
) -> None:
    """What the four moves lead to, grids: uint8[n, 4, size], and earn, rewards: float32[n, 4]; -inf if illegal."""
    for i in range(len(cells)):
        for action in range(4):
            after, reward = slide(rules, State(cells[i], extra[i]), action)
            rewards[i, action] = -np.inf if reward == ILLEGAL else reward
            show(view, rules, after, grids[i, action])


class Games(NamedTuple):
    """Some games under way, a place each."""

    cells: Words
    extra: Words
    streams: NDArray[np.uint64]  # uint64[n, 2]


@kernel
def begin_games(rules: Rules, key: Key, first: Int, games: Games, results: GameResults) -> None:
    for i in range(len(games.cells)):
        seed_stream(games.streams[i], key, u64(first + i))
        state, score = start(rules, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        results.scores[i], results.moves[i] = score, 0


@kernel
def move_games(
    rules: Rules, games: Games, which: NDArray[np.int64], actions: NDArray[np.int64], results: GameResults
) -> None:
    """Make the action on each of the games `which`; one without a legal move ends, and gets its place in `results`."""
    for k in range(len(which)):
        i = which[k]
        state = State(games.cells[i], games.extra[i])
        after, reward = slide(rules, state, actions[k])
        if reward == ILLEGAL:
            results.codes[i] = largest(rules, state)
            continue
        state, gain = spawn(rules, after, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        results.scores[i] += reward + gain
        results.moves[i] += 1


@dataclass(frozen=True)
class Player:
    """A network that chooses moves. `reward_scale`: how many points one is in its values."""

    network: BoardNetwork
    reward_scale: float

    def q_values(self, game: Game, cells: Words, extra: Words) -> NDArray[np.float32]:
        """What each move is worth on each board, in points: float32[n, 4], -inf where it is illegal."""
        view = make_view(game, "grid")
        shape, n = view_shape(view), len(cells)
        size = shape[0] * shape[1]
        after = np.empty((n, 4, *shape), np.uint8)
        q_values = np.empty((n, 4), np.float32)
        list_afterstates(game.rules, view, cells, extra, after.reshape(n, 4, size), q_values)
        legal = np.isfinite(q_values)
        if self.network.plan.kind == "afterstate":
            if legal.any():
                q_values[legal] += self.reward_scale * self.network.predict(after[legal])[:, 0]
            return q_values
        grids = np.empty((n, *shape), np.uint8)
        show_grids(view, game.rules, cells, extra, grids.reshape(n, size))
        values: NDArray[np.float32] = np.where(legal, self.reward_scale * self.network.predict(grids), -np.inf)
        return values.astype(np.float32)


def play_batch(player: Player, game: Game, seed: int, first: int, results: GameResults) -> None:
    """Play games number `first` and on, all at the same time, one for every place of `results`."""
    n = len(results.scores)
    games = Games(np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty((n, 2), np.uint64))
    begin_games(game.rules, stream_key(seed), first, games, results)
    which = np.arange(n)
    while True:
        q_values = player.q_values(game, games.cells[which], games.extra[which])
        actions = q_values.argmax(axis=1)
        move_games(game.rules, games, which, actions, results)
        which = which[np.isfinite(q_values.max(axis=1))]
        if not len(which):
            return
