"""Many games at once: one kernel call makes a move in each of them.

Both environments, `BoardEnv` and `BoardVectorEnv`, are built on this module. It does not use Gymnasium.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, inline, kernel, specialise
from tilewright._core.text import excerpt
from tilewright.envs.observations import (
    Encoder,
    encode,
    encode_batch,
    legal_masks,
    make_encoder,
    make_grid_encoder,
    observation_shape,
)
from tilewright.envs.options import LIMITS, EnvOptions, KernelOptions, RewardFunction
from tilewright.errors import UsageError
from tilewright.games.board import Board
from tilewright.games.rules import ACTIONS, ILLEGAL, Rules, State, largest, slide, spawn, start, typed_state
from tilewright.rng import Stream, low_half, next_word, stream_for

__all__ = ["BatchState", "BatchedGames", "StepResult", "make_batch_state"]

u64 = np.uint64
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class BatchState(NamedTuple):
    """The state of n games, updated in place."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    streams: NDArray[np.uint64]  # uint64[n, 2]
    scores: Ints
    moves: Ints
    invalid_moves: Ints  # the part of `moves` that changed nothing
    last_valid: Ints  # the number of the last valid move of the episode, counted from 1; 0 for none
    done: Bools  # the episode has ended; the next step resets the game


class StepResult(NamedTuple):
    """The result of one step of n games.

    With `autoreset`, a game whose episode ends is reset in the same step. The fields `final_…` then hold the end of the
    old episode, and `observations`, `action_masks` and `scores` the beginning of the new one.
    """

    observations: Bytes  # uint8[n, size]
    action_masks: NDArray[np.int8]  # int8[n, 4], 1 where a move is legal; all 1 on a board without a legal move
    rewards: Floats
    terminated: Bools
    truncated: Bools
    scores: Ints
    largest_codes: Ints  # the code of the largest tile; set where an episode ends
    next_states: NDArray[np.uint64]  # uint64[2, n], the states after the moves and before a reset
    final_observations: Bytes
    final_action_masks: NDArray[np.int8]
    final_scores: Ints


def make_batch_state(num_games: int) -> BatchState:
    """Return the state of games that are reset by the first step."""
    cells, extra = np.zeros(num_games, np.uint64), np.zeros(num_games, np.uint64)
    streams = np.zeros((num_games, 2), np.uint64)
    scores, moves, invalid_moves, last_valid = np.zeros((4, num_games), np.int64)
    done = np.ones(num_games, np.bool_)
    return BatchState(cells, extra, streams, scores, moves, invalid_moves, last_valid, done)


@inline
def _reset_game(rules: Rules, games: BatchState, i: Int) -> None:
    state, score = start(rules, games.streams[i])
    games.cells[i], games.extra[i] = state.cells, state.extra
    games.scores[i], games.moves[i], games.done[i] = score, 0, False
    games.invalid_moves[i] = games.last_valid[i] = 0


@inline
def _fill_action_mask(rules: Rules, state: State, mask: NDArray[np.int8]) -> Int:
    """Write the legal moves of a state to `mask`; return their number."""
    count = 0
    for action in range(4):
        legal = slide(rules, state, action)[1] != ILLEGAL
        mask[action] = legal
        count += legal
    return count


@inline
def _invalid_move_ends(options: KernelOptions, games: BatchState, i: Int) -> bool:
    """Return whether the invalid move that was just made ends the episode."""
    if options.end_threshold and low_half(next_word(games.streams[i])) < options.end_threshold:
        return True
    limit = options.end_fraction * games.moves[i]
    if options.end_after:
        return bool(games.invalid_moves[i] > options.end_after and games.invalid_moves[i] > limit)
    return bool(options.end_fraction > 0 and limit >= 1 and games.invalid_moves[i] > limit)


@inline
def _make_move(
    rules: Rules, options: KernelOptions, games: BatchState, i: Int, action: Int, result: StepResult
) -> tuple[bool, bool]:
    """Make a move in game i; return whether it terminates the episode by being invalid, and whether it truncates it."""
    after, reward = slide(rules, State(games.cells[i], games.extra[i]), action)
    games.moves[i] += 1
    if reward == ILLEGAL:
        games.invalid_moves[i] += 1
        result.rewards[i] = -options.penalty
        is_stuck = games.moves[i] - games.last_valid[i] >= options.max_invalid_moves
        is_long = games.moves[i] >= options.max_episode_steps
        return _invalid_move_ends(options, games, i), bool(is_stuck or is_long)
    state, spawn_reward = spawn(rules, after, games.streams[i])
    points = reward + spawn_reward
    games.cells[i], games.extra[i] = state.cells, state.extra
    games.scores[i] += points
    games.last_valid[i] = games.moves[i]
    result.rewards[i] = np.log2(points) if options.log2 and points > 0 else points
    return False, bool(games.moves[i] >= options.max_episode_steps)


@inline
def _copy(source: NDArray[np.uint8] | NDArray[np.int8], target: NDArray[np.uint8] | NDArray[np.int8]) -> None:
    for k in range(len(source)):
        target[k] = source[k]


@kernel
def step_batch(
    rules: Rules,
    options: KernelOptions,
    encoder: Encoder,
    games: BatchState,
    actions: Ints,
    autoreset: bool,
    result: StepResult,
) -> bool:
    """Make a move in every game. Games whose episode has ended before are reset instead.

    Args:
        rules: The rules of the game.
        options: The rewards and the cost of invalid moves.
        encoder: The encoder of the observations.
        games: The games, updated in place.
        actions: int64[n], from 0 to 3.
        autoreset: Whether a game whose episode ends is reset at once.
        result: Overwritten; `final_…` only where an episode ends, and `largest_codes`, too, unless `every_largest`.

    Returns:
        Whether any episode has ended.
    """
    any_ended = False
    for i in range(len(actions)):
        resets, invalid_end, truncated = games.done[i], False, False
        result.rewards[i], result.terminated[i] = 0.0, False
        if not resets:
            invalid_end, truncated = _make_move(rules, options, games, i, actions[i], result)
            result.next_states[0, i], result.next_states[1, i] = games.cells[i], games.extra[i]
        result.truncated[i] = truncated
        while True:  # once, or twice where an episode ends and the game is reset at once
            if resets:
                _reset_game(rules, games, i)
            state = State(games.cells[i], games.extra[i])
            legal_moves = _fill_action_mask(rules, state, result.action_masks[i])
            encode(encoder, rules, state, result.observations[i])
            result.scores[i] = games.scores[i]
            goes_on = resets or not (invalid_end or truncated or legal_moves == 0)
            if options.every_largest or not goes_on:
                result.largest_codes[i] = largest(rules, state)
            if goes_on:
                break
            any_ended = games.done[i] = True
            result.terminated[i] = invalid_end or legal_moves == 0
            if legal_moves == 0:
                # A distribution over no action at all is an error in most libraries, and no action matters any more.
                result.action_masks[i, :] = 1
            if not autoreset:
                break
            _copy(result.observations[i], result.final_observations[i])
            _copy(result.action_masks[i], result.final_action_masks[i])
            result.final_scores[i] = games.scores[i]
            resets = True
    return any_ended


@kernel
def draw_until(rules: Rules, after: State, wanted: State, stream: Stream) -> None:
    """Advance a stream until the next tile that it draws leads to a wanted outcome.

    Args:
        rules: The rules of the game.
        after: The afterstate.
        wanted: One of its outcomes.
        stream: uint64[2], advanced in place.
    """
    while True:
        first, second = stream[0], stream[1]
        state, _reward = spawn(rules, after, stream)
        if state.cells == wanted.cells and state.extra == wanted.extra:
            stream[0], stream[1] = first, second
            return


class BatchedGames:
    """A number of games that are played side by side.

    Every call returns new arrays unless a `StepResult` is passed to be overwritten. Games can be pickled and copied.

    Attributes:
        options: The options of the environment.
        num_games: The number of games.
        autoreset: Whether a game whose episode ends is reset in the same step.
        game: The game.
        encoder: The encoder of the observations.
        observation_shape: The shape of one observation.
        state: The state of all games, updated in place.
    """

    def __init__(
        self, options: EnvOptions, num_games: int, *, autoreset: bool = False, every_largest: bool = False
    ) -> None:
        """Prepare the games. Call `seed` for each of them and then `reset`.

        Args:
            options: The options of the environment.
            num_games: The number of games.
            autoreset: Whether a game whose episode ends is reset in the same step.
            every_largest: Whether every step finds the largest tile. Without it only the last step of an episode does,
                which is faster.

        Raises:
            UsageError: `num_games` is not a whole number from 1 to 1,000,000.
        """
        LIMITS["num_envs"].check(f"num_envs={excerpt(num_games)}", num_games, whole=True)
        self.options, self.num_games, self.autoreset = options, num_games, autoreset
        self.game = options.make_game()
        self.encoder = make_encoder(self.game, options.observation)
        self.observation_shape = observation_shape(self.encoder)
        self.state = make_batch_state(num_games)
        self._grid_encoder = make_grid_encoder(self.game)
        self._kernel_options = options.kernel_options(every_largest=every_largest)
        self._size = int(np.prod(self.observation_shape))
        self._no_actions = np.zeros(num_games, np.int64)
        self._prepare_kernel()

    def _prepare_kernel(self) -> None:
        self._rules = self.game.rules
        self._step = specialise(step_batch, *self._arguments(self._no_actions, self.make_result()))

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is made from the game again: its tables and the machine code."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_rules", "_step")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._prepare_kernel()

    def _arguments(
        self, actions: Ints, result: StepResult
    ) -> tuple[Rules, KernelOptions, Encoder, BatchState, Ints, bool, StepResult]:
        return self._rules, self._kernel_options, self.encoder, self.state, actions, self.autoreset, result

    def seed(self, i: int, seed: int) -> None:
        """Give game i the random stream of a seed."""
        self.state.streams[i] = stream_for(seed)

    def reset(self, result: StepResult | None = None) -> StepResult:
        """Start a new episode in every game.

        Args:
            result: Arrays to overwrite; by default new ones.

        Returns:
            The first observations, with rewards of 0.
        """
        result = self.make_result() if result is None else result
        self.state.done[:] = True
        self._step(*self._arguments(self._no_actions, result))
        return result

    def reset_some(self, which: Bools) -> StepResult:
        """Start a new episode in some of the games.

        Args:
            which: bool[n], True where a game is reset.

        Returns:
            The first observations of these games and the current ones of all others, with rewards of 0.
        """
        for i in np.flatnonzero(which):
            board, score = self.game.start_from(self.state.streams[i])
            self.set_state(int(i), board.state, score)
        return self.observe()

    def set_state(self, i: int, state: State, score: int) -> None:
        """Begin a new episode of game i in a given state, with a given score."""
        self.state.cells[i], self.state.extra[i] = state
        self.state.scores[i], self.state.done[i] = score, False
        self.state.moves[i] = self.state.invalid_moves[i] = self.state.last_valid[i] = 0

    def choose_outcome(self, i: int, action: int, board: Board) -> None:
        """Advance the random stream of game i until a move leads to a board.

        Args:
            i: The number of the game.
            action: The move, from 0 to 3.
            board: The board after the move and the new tile.

        Raises:
            IllegalMoveError: The move changes nothing.
            UsageError: The board is not among the outcomes of the move.
        """
        now = Board(self.game, State(self.state.cells[i].item(), self.state.extra[i].item()))
        after, _ = self.game.slide(now, ACTIONS[action])
        if board not in dict(self.game.outcomes(after)):
            chosen, before = self.game.text(board), self.game.text(now)
            raise UsageError(f"{chosen!r} is not an outcome of {ACTIONS[action]} on {before!r}")
        draw_until(self._rules, typed_state(after.state), typed_state(board.state), self.state.streams[i])

    def observe(self, result: StepResult | None = None) -> StepResult:
        """Observe all games as they are now.

        Args:
            result: Arrays to overwrite; by default new ones.

        Returns:
            Observations, masks and scores, with rewards of 0.
        """
        result = self.make_result() if result is None else result
        encode_batch(self.encoder, self._rules, self.state.cells, self.state.extra, result.observations)
        masks = np.empty((self.num_games, 4), np.bool_)
        grids = self.grids(self.state.cells, self.state.extra).reshape(self.num_games, -1)
        legal_masks(self._grid_encoder, self._rules, grids, masks)
        masks[~masks.any(axis=1)] = True  # as in `step`
        result.action_masks[:], result.scores[:] = masks, self.state.scores
        result.rewards[:], result.terminated[:], result.truncated[:] = 0.0, False, False
        return result

    def step(self, actions: Ints, result: StepResult | None = None) -> tuple[StepResult, bool]:
        """Make a move in every game.

        Args:
            actions: int64[n], from 0 to 3.
            result: Arrays to overwrite; by default new ones.

        Returns:
            The result, and whether any episode has ended.
        """
        result = self.make_result() if result is None else result
        reward_function = self.options.reward_function
        before = None if reward_function is None else (self.states(), self.state.done.copy())
        any_ended = self._step(*self._arguments(actions, result))
        if reward_function is not None and before is not None:
            self._set_rewards(reward_function, *before, result)
        return result, any_ended

    def _set_rewards(
        self, reward_function: RewardFunction, before: NDArray[np.uint64], was_reset: Bools, result: StepResult
    ) -> None:
        """Replace the rewards of valid moves, which are those that changed the board."""
        valid = (before != result.next_states).any(axis=0) & ~was_reset
        if not valid.any():
            return
        grids = [self.grids(*np.ascontiguousarray(states[:, valid])) for states in (before, result.next_states)]
        rewards = reward_function(result.rewards[valid], *grids)
        try:
            result.rewards[valid] = rewards
        except (TypeError, ValueError):
            raise UsageError(f"the reward function must return {valid.sum()} numbers, one for each move") from None

    def grids(self, cells: NDArray[np.uint64], extra: NDArray[np.uint64]) -> Bytes:
        """Return the grids of n states.

        Args:
            cells: uint64[n], the first words of the states.
            extra: uint64[n], their second words.

        Returns:
            uint8[n, rows, columns], with one more row in games with hints.
        """
        found = np.empty((len(cells), *observation_shape(self._grid_encoder)), np.uint8)
        encode_batch(self._grid_encoder, self._rules, cells, extra, found.reshape(len(cells), -1))
        return found

    def states(self) -> NDArray[np.uint64]:
        """Return a copy of all states as uint64[2, n]."""
        return np.stack((self.state.cells, self.state.extra))

    def make_result(self) -> StepResult:
        """Return uninitialised arrays for the result of a step."""
        n, finals = self.num_games, self.num_games if self.autoreset else 0
        return StepResult(
            np.empty((n, self._size), np.uint8),
            np.empty((n, 4), np.int8),
            np.empty(n, np.float64),
            np.empty(n, np.bool_),
            np.empty(n, np.bool_),
            np.empty(n, np.int64),
            np.zeros(n, np.int64),
            np.empty((2, n), np.uint64),
            np.empty((finals, self._size), np.uint8),
            np.zeros((finals, 4), np.int8),
            np.zeros(finals, np.int64),
        )
