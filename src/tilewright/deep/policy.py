"""Playing with a deep network: action values of many boards at once, and many games side by side."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, kernel
from tilewright.deep.network import BoardNetwork
from tilewright.envs.observations import Encoder, encode, encode_batch, make_grid_encoder, observation_shape
from tilewright.errors import DivergedError
from tilewright.games.base import Game
from tilewright.games.policy import GameResults
from tilewright.games.rules import (
    ILLEGAL,
    Outcomes,
    Rules,
    State,
    largest,
    make_outcomes,
    outcomes,
    slide,
    spawn,
    start,
)
from tilewright.rng import Key, below, next_word, seed_stream, stream_key

__all__ = [
    "GameBatch",
    "NetworkPolicy",
    "compute_afterstates",
    "make_game_batch",
    "play_batch",
    "play_batch_with_replacements",
]

u64 = np.uint64
# In the program of Bouhoula et al. a game ends after more invalid moves than this, and more than this fraction of all.
ALLOWED_INVALID, ALLOWED_FRACTION = 16, 0.1
SEARCH_CHUNK = 50  # boards that are searched at once, so that the states of three plies fit in memory
Words = NDArray[np.uint64]


class GameBatch(NamedTuple):
    """The states and random streams of n games, updated in place."""

    cells: Words
    extra: Words
    streams: NDArray[np.uint64]  # uint64[n, 2]


class Following(NamedTuple):
    """States that follow moves on some boards."""

    moves: NDArray[np.int64]  # 4 · number of the board + action
    cells: Words
    extra: Words
    probabilities: NDArray[np.float64]
    rewards: NDArray[np.float64]  # of the new tiles


def make_game_batch(num_games: int) -> GameBatch:
    """Return the arrays of a number of games, all zero."""
    return GameBatch(
        np.zeros(num_games, np.uint64), np.zeros(num_games, np.uint64), np.zeros((num_games, 2), np.uint64)
    )


@kernel
def compute_afterstates(
    rules: Rules, encoder: Encoder, cells: Words, extra: Words, grids: NDArray[np.uint8], rewards: NDArray[np.float32]
) -> None:
    """Make the four moves on each of n boards.

    Args:
        rules: The rules of the game.
        encoder: The encoder of the afterstates.
        cells: uint64[n], the first words of the states.
        extra: uint64[n], their second words.
        grids: uint8[n, 4, size], overwritten by the afterstates.
        rewards: float32[n, 4], overwritten by the rewards; -inf where a move is illegal.
    """
    for i in range(len(cells)):
        for action in range(4):
            after, reward = slide(rules, State(cells[i], extra[i]), action)
            rewards[i, action] = -np.inf if reward == ILLEGAL else reward
            encode(encoder, rules, after, grids[i, action])


@kernel
def expand_states(
    rules: Rules, cells: Words, extra: Words, into: Outcomes, following: Following, q_values: NDArray[np.float32]
) -> Int:
    """List everything that chance can bring after the four moves on each of n boards.

    Args:
        rules: The rules of the game.
        cells: uint64[n], the first words of the states.
        extra: uint64[n], their second words.
        into: Room for the outcomes of one afterstate, overwritten.
        following: Room for 4 n times the largest number of outcomes, overwritten.
        q_values: float32[n, 4], overwritten by the rewards of the moves; -inf where a move is illegal.

    Returns:
        The number of following states.
    """
    count = 0
    for i in range(len(cells)):
        for action in range(4):
            after, reward = slide(rules, State(cells[i], extra[i]), action)
            q_values[i, action] = -np.inf if reward == ILLEGAL else reward
            if reward == ILLEGAL:
                continue
            for k in range(outcomes(rules, after, into)):
                following.moves[count] = 4 * i + action
                following.cells[count], following.extra[count] = into.cells[k], into.extra[k]
                following.probabilities[count], following.rewards[count] = into.probability[k], into.reward[k]
                count += 1
    return count


@kernel
def reset_games(rules: Rules, key: Key, first: Int, games: GameBatch, results: GameResults) -> None:
    """Start games number `first` and following; `games`, and scores and moves of `results`, are overwritten."""
    for i in range(len(games.cells)):
        seed_stream(games.streams[i], key, u64(first + i))
        state, score = start(rules, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        results.scores[i], results.moves[i] = score, 0


@kernel
def step_games(
    rules: Rules, games: GameBatch, indices: NDArray[np.int64], actions: NDArray[np.int64], results: GameResults
) -> None:
    """Make a move in some of the games.

    A game whose action is illegal has ended: it stays as it is, and the code of its largest tile is stored.

    Args:
        rules: The rules of the game.
        games: All games, updated in place.
        indices: int64[m], the games to make a move in.
        actions: int64[m].
        results: The results of all games, updated in place.
    """
    for k in range(len(indices)):
        i = indices[k]
        state = State(games.cells[i], games.extra[i])
        after, reward = slide(rules, state, actions[k])
        if reward == ILLEGAL:
            results.codes[i] = largest(rules, state)
            continue
        state, spawn_reward = spawn(rules, after, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        results.scores[i] += reward + spawn_reward
        results.moves[i] += 1


@kernel
def step_with_replacements(
    rules: Rules,
    games: GameBatch,
    indices: NDArray[np.int64],
    actions: NDArray[np.int64],
    tried: NDArray[np.int64],
    invalid: NDArray[np.int64],
    results: GameResults,
    playing: NDArray[np.bool_],
) -> None:
    """Make a move in some of the games; an invalid one is replaced by a random move, which may be invalid, too.

    Args:
        rules: The rules of the game.
        games: All games, updated in place.
        indices: int64[m], the games to make a move in.
        actions: int64[m].
        tried: int64[n], the number of moves tried in each game, updated in place.
        invalid: int64[n], the number of these that were invalid, updated in place.
        results: The results of all games, updated in place; only moves that changed the board count.
        playing: bool[n], set to False where a game has ended.
    """
    for k in range(len(indices)):
        i = indices[k]
        state = State(games.cells[i], games.extra[i])
        after, reward = slide(rules, state, actions[k])
        tried[i] += 1
        if reward == ILLEGAL:
            after, reward = slide(rules, state, np.int64(below(next_word(games.streams[i]), u64(4))))
            tried[i] += 1
            invalid[i] += 1
        if reward == ILLEGAL:
            invalid[i] += 1
            if invalid[i] > ALLOWED_INVALID and invalid[i] > ALLOWED_FRACTION * tried[i]:
                playing[i], results.codes[i] = False, largest(rules, state)
            continue
        state, spawn_reward = spawn(rules, after, games.streams[i])
        games.cells[i], games.extra[i] = state.cells, state.extra
        results.scores[i] += reward + spawn_reward
        results.moves[i] += 1
        legal = 0
        for action in range(4):
            legal += slide(rules, state, action)[1] != ILLEGAL
        if legal == 0:
            playing[i], results.codes[i] = False, largest(rules, state)


@dataclass(frozen=True)
class NetworkPolicy:
    """The greedy policy of a network.

    Attributes:
        network: The network.
        reward_scale: The factor from the network's values to points.
        depth: The number of plies; more than one are searched by expectimax, for networks of afterstate values.
    """

    network: BoardNetwork
    reward_scale: float
    depth: int = 1

    def q_values(self, game: Game, cells: Words, extra: Words) -> NDArray[np.float32]:
        """Return the action values of n boards.

        Args:
            game: The game.
            cells: uint64[n], the first words of the states.
            extra: uint64[n], their second words.

        Returns:
            float32[n, 4], in points; -inf where a move is illegal.

        Raises:
            DivergedError: A value is infinite or no number.
        """
        if self.depth == 1 or not len(cells):
            return self._greedy_values(game, cells, extra)
        chunks = range(0, len(cells), SEARCH_CHUNK)
        return np.concatenate([self._search(game, *(a[i : i + SEARCH_CHUNK] for a in (cells, extra))) for i in chunks])

    def _search(self, game: Game, cells: Words, extra: Words) -> NDArray[np.float32]:
        """Return the action values of n boards: the expectation over all new tiles of the value one ply less deep."""
        n, room = len(cells), 4 * len(cells) * game.max_outcomes
        words = np.empty((2, room), np.uint64)
        following = Following(np.empty(room, np.int64), words[0], words[1], np.empty(room), np.empty(room))
        q_values = np.empty((n, 4), np.float32)
        count = expand_states(game.rules, cells, extra, make_outcomes(), following, q_values)
        if not count:
            return q_values
        next_cells, next_extra = following.cells[:count], following.extra[:count]
        places: NDArray[np.int64] | slice = slice(None)
        if not next_extra.any():  # moves often lead to the same states
            next_cells, places = np.unique(next_cells, return_inverse=True)
            next_extra = np.zeros(len(next_cells), np.uint64)
        values = replace(self, depth=self.depth - 1).q_values(game, next_cells, next_extra).max(axis=1)
        values = np.where(np.isfinite(values), values, 0)[places]
        weighted = following.probabilities[:count] * (following.rewards[:count] + values)
        expected = np.bincount(following.moves[:count], weighted, 4 * n).reshape(n, 4)
        return (q_values + expected).astype(np.float32)

    def _greedy_values(self, game: Game, cells: Words, extra: Words) -> NDArray[np.float32]:
        """Return the action values of n boards without search."""
        encoder = make_grid_encoder(game)
        shape, n = observation_shape(encoder), len(cells)
        size = shape[0] * shape[1]
        afterstates = np.empty((n, 4, *shape), np.uint8)
        q_values = np.empty((n, 4), np.float32)
        compute_afterstates(game.rules, encoder, cells, extra, afterstates.reshape(n, 4, size), q_values)
        legal = np.isfinite(q_values)
        if self.network.config.algorithm == "afterstate":
            if legal.any():
                q_values[legal] += self._predict(afterstates[legal])[:, 0]
            return q_values
        values: NDArray[np.float32] = np.where(legal, self.outputs(game, cells, extra), -np.inf)
        return values.astype(np.float32)

    def outputs(self, game: Game, cells: Words, extra: Words) -> NDArray[np.float32]:
        """Return the outputs of a network of action values for n boards: float32[n, 4] in points, legal or not."""
        encoder, n = make_grid_encoder(game), len(cells)
        grids = np.empty((n, *observation_shape(encoder)), np.uint8)
        encode_batch(encoder, game.rules, cells, extra, grids.reshape(n, -1))
        return self._predict(grids)

    def _predict(self, grids: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the outputs of the network in points; an infinite one would look like an illegal move."""
        with np.errstate(over="ignore"):  # it is told below
            found = self.reward_scale * self.network.predict(grids)
        if not np.isfinite(found).all():
            raise DivergedError("the values of the network are not finite numbers: its weights are too large")
        return found


def play_batch(policy: NetworkPolicy, game: Game, seed: int, first: int, results: GameResults) -> None:
    """Play games number `first` and following side by side until all have ended.

    Args:
        policy: The policy.
        game: The game.
        seed: The seed; game i of a seed has the same random stream wherever it is played.
        first: The number of the first game.
        results: The results of n games, overwritten; n is the number of games to play.
    """
    games = make_game_batch(len(results.scores))
    reset_games(game.rules, stream_key(seed), first, games, results)
    playing = np.arange(len(results.scores))
    while len(playing):
        q_values = policy.q_values(game, games.cells[playing], games.extra[playing])
        step_games(game.rules, games, playing, q_values.argmax(axis=1), results)
        playing = playing[np.isfinite(q_values.max(axis=1))]


def play_batch_with_replacements(
    policy: NetworkPolicy, game: Game, seed: int, first: int, results: GameResults
) -> None:
    """Play games as the test program of Bouhoula et al. does; the arguments are those of `play_batch`.

    The network chooses among all four moves. An invalid choice is replaced by a random move. A game also ends when that
    one is invalid, too, and more than 16 moves and more than 10 % of all were.
    """
    games, n = make_game_batch(len(results.scores)), len(results.scores)
    reset_games(game.rules, stream_key(seed), first, games, results)
    tried, invalid = np.zeros((2, n), np.int64)
    playing = np.ones(n, np.bool_)
    while playing.any():
        indices = np.flatnonzero(playing)
        actions = policy.outputs(game, games.cells[indices], games.extra[indices]).argmax(axis=1)
        step_with_replacements(game.rules, games, indices, actions, tried, invalid, results, playing)
