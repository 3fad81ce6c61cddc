"""Recorded games: one game a line, as JSON, exact for every game and every tile, and checked move by move when read.

    {"format": "tilewright-game-1", "game": "2048", "seed": 7, "number": 0, "start": "0000001000100000",
     "moves": [["left", "0100100010000000", 0], …], "agent": "greedy", "score": 3120, "over": true}

A move is its name, the board that came of it and the score then. Boards are texts that `Game.parse` reads: hexadecimal
tile codes with the game's notes behind them (`1233000000000004 hint=2 bag=143`), and numbers where a tile is beyond
the hexadecimal digits.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, kernel
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game, action_number
from tilewright.games.board import Board
from tilewright.games.notation import excerpt
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import ACTIONS, ILLEGAL, Outcomes, Rules, State, outcomes, slide, spawn
from tilewright.games.state_kernels import make_outcomes, typed_state
from tilewright.rng import Stream, new_stream, stream_for

__all__ = [
    "FORMAT",
    "Log",
    "Recording",
    "head_text",
    "is_ours",
    "load_recording_kernel",
    "make_log",
    "move_text",
    "parse_line",
    "play_on",
    "play_recorded",
    "read_game",
    "read_games",
    "state_text",
    "tail_text",
]

FORMAT = "tilewright-game-1"
_LONGEST_LINE = 1 << 26  # bytes; the longest games there are take about a tenth of it
_LONGEST_WORDS = 5000  # specs have paths in them
_ROOM = 4096  # moves that are recorded in one call of the kernel


@dataclass(frozen=True)
class Recording:
    """A game that was played, from its first board to its last."""

    game: Game
    agent: str  # who played: an agent's spec, or `human`
    seed: int
    number: int
    states: tuple[State, ...]  # the first one, and one after every move
    actions: tuple[str, ...]
    scores: tuple[int, ...]  # beside `states`

    def board(self, i: int) -> Board:
        """The board after `i` moves."""
        return Board(self.game, self.states[i])

    @property
    def score(self) -> int:
        return self.scores[-1]

    @property
    def is_over(self) -> bool:
        return self.game.is_over(self.board(-1))

    def line(self) -> str:
        """The game as a line of a file, without its end."""
        head = head_text(self.game, self.seed, self.number, self.states[0])
        moves = zip(self.actions, self.states[1:], self.scores[1:], strict=True)
        entries = ", ".join(move_text(self.game, *move) for move in moves)
        return head + entries + tail_text(self.agent, self.score, self.is_over)


def is_ours(line: bytes) -> bool:
    """Whether a line begins as every recorded game does."""
    return re.match(rb'\{"format": ?"tilewright-game-', line) is not None


def head_text(game: Game, seed: int, number: int, start: State) -> str:
    """A recorded game up to its first move."""
    head = {"format": FORMAT, "game": game.spec, "seed": seed, "number": number, "start": state_text(game, start)}
    return json.dumps(head)[:-1] + ', "moves": ['


def move_text(game: Game, action: str, state: State, score: int) -> str:
    return f'["{action}", "{state_text(game, state)}", {score}]'


def tail_text(agent: str, score: int, over: bool) -> str:
    """A recorded game from its last move on."""
    return "], " + json.dumps({"agent": agent, "score": score, "over": over})[1:]


def state_text(game: Game, state: State) -> str:
    """The shortest text that `parse` reads: hexadecimal codes where they do, and the notes."""
    board = Board(game, state)
    if game.high_bits(state):
        return game.text(board)
    digits = f"{int(state.cells):016x}"
    cells = "".join(digits[4 * row : 4 * row + game.columns] for row in range(game.rows))
    return " ".join([cells, *(f"{name}={text}" for name, text in game.notes(board).items())])


# Playing


class Log(NamedTuple):
    """Room for some moves of one game; the kernel fills it."""

    actions: NDArray[np.int64]
    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    scores: NDArray[np.int64]


def make_log(moves: int) -> Log:
    n = moves
    return Log(np.zeros(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.int64))


@kernel
def play_on(rules: Rules, policy: Policy, state: State, score: Int, stream: Stream, log: Log) -> Int:
    """Play until `log` is full or the game is over; returns how many moves were made."""
    for i in range(len(log.actions)):
        action, after, reward = act(policy, rules, state, stream)
        if action == NO_ACTION:
            return i
        state, gain = spawn(rules, after, stream)
        score += reward + gain
        log.actions[i], log.scores[i] = action, score
        log.cells[i], log.extra[i] = state.cells, state.extra
    return len(log.actions)


def load_recording_kernel(game: Game, policy: Policy) -> None:
    """Load or compile what `play_recorded` uses, so that only playing is timed."""
    play_on(game.rules, policy, typed_state(State(0, 0)), 0, new_stream(), make_log(0))


def play_recorded(game: Game, policy: Policy, agent: str, seed: int, number: int) -> Recording:
    """Play game `number` of `seed` by a policy: the one that `evaluate` plays, move by move."""
    stream = stream_for(seed, number)
    board, score = game.start_from(stream)
    states, actions, scores = [board.state], [], [score]
    log = make_log(_ROOM)
    made = _ROOM
    while made == _ROOM:
        made = play_on(game.rules, policy, typed_state(states[-1]), scores[-1], stream, log)
        actions += [ACTIONS[action] for action in log.actions[:made].tolist()]
        states += map(State, log.cells[:made].tolist(), log.extra[:made].tolist())
        scores += log.scores[:made].tolist()
    return Recording(game, agent, seed, number, tuple(states), tuple(actions), tuple(scores))


# Reading


def read_games(path: Path) -> Iterator[Recording]:
    """The games of a file, one after the other, each checked when it is its turn."""
    for number, line in _lines(path):
        yield _read_line(path, number, line)


def read_game(path: Path, position: int = 0) -> tuple[Recording, int]:
    """The game at a position, counted from 0, and how many games the file has; the others are not looked at."""
    found, games = None, 0
    for number, line in _lines(path):
        games = number
        if number == position + 1:
            found = _read_line(path, number, line)
    if found is None:
        has = "no games" if not games else f"{games:,} game{'s' if games > 1 else ''}, counted from 0"
        raise FileError(f"{path}: there is no game {position}; the file has {has}")
    return found, games


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, from 1."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    raise _wrong(path, number, "not a recorded game of tilewright: the line is longer than any")
                yield number, line
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None


def _wrong(path: Path, number: int, reason: str) -> FileError:
    return FileError(f"{path}, line {number}: {reason}")


def _read_line(path: Path, number: int, line: bytes) -> Recording:
    try:
        return parse_line(line)
    except TilewrightError as error:
        raise _wrong(path, number, str(error)) from None


def parse_line(line: bytes) -> Recording:
    """Read one line and check all of it; raises UsageError."""
    found = _read_object(line)
    game = make_game(_words(found, "game"))
    seed, number = _count(found, "seed"), _count(found, "number")
    agent, score = _words(found, "agent"), _member(found, "score", int)
    over = _member(found, "over", bool)
    start = _member(found, "start", str)
    states, actions, scores = [_state(game, start, "start")], [], [game.points(game.parse(start))]
    for i, entry in enumerate(_member(found, "moves", list), 1):
        action, state, then = _read_move(game, entry, i)
        actions.append(action)
        states.append(state)
        scores.append(then)
    recording = Recording(game, agent, seed, number, tuple(states), tuple(actions), tuple(scores))
    _check_moves(recording)
    if score != recording.score:
        raise UsageError(f"the score is given as {excerpt(score)}, the moves add up to {recording.score}")
    if over is not recording.is_over:
        raise UsageError(f"over is given as {json.dumps(over)}, the last board says {json.dumps(not over)}")
    return recording


def _read_object(line: bytes) -> dict[str, Any]:
    """The JSON of a line, if it is a recorded game at all; raises UsageError."""
    try:
        found: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        ours = "damaged: not JSON" if line.endswith(b"\n") else "the line is cut off"
        raise UsageError(ours if is_ours(line) else "not a recorded game of tilewright") from None
    if not is_ours(line):
        raise UsageError("not a recorded game of tilewright")
    default_stream = _member(found, "format", str)
    if default_stream != FORMAT:
        raise UsageError(f"the format {excerpt(default_stream)} is not known; this version reads {FORMAT}")
    return found


def _member(found: dict[str, Any], key: str, kind: type) -> Any:
    if key not in found:
        raise UsageError(f"damaged: {key} is missing")
    if type(found[key]) is not kind:
        noun = {str: "text", int: "a whole number", bool: "true or false", list: "a list"}[kind]
        raise UsageError(f"damaged: {key} is {excerpt(found[key])}, not {noun}")
    return found[key]


def _count(found: dict[str, Any], key: str) -> int:
    count: int = _member(found, key, int)
    if count < 0:
        raise UsageError(f"damaged: {key} is {excerpt(count)}, not a whole number from 0 up")
    return count


def _words(found: dict[str, Any], key: str) -> str:
    """A text of one line, which may be shown as it is."""
    text: str = _member(found, key, str)
    if len(text) > _LONGEST_WORDS or not text.isprintable():
        raise UsageError(f"damaged: {key} is {excerpt(text)}")
    return text


def _state(game: Game, text: str, place: str) -> State:
    try:
        return game.parse(text).state
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _read_move(game: Game, entry: Any, i: int) -> tuple[str, State, int]:
    if type(entry) is not list or [type(part) for part in entry] != [str, str, int]:
        raise UsageError(f"damaged: move {i} is {excerpt(entry)}, not [move, board, score]")
    action, text, score = entry
    if action not in ACTIONS:
        raise UsageError(f"damaged: move {i} is {excerpt(action)}; moves are {', '.join(ACTIONS)}")
    return action, _state(game, text, f"move {i}"), score


# Checking

_SOUND, _ILLEGAL_MOVE, _IMPOSSIBLE = 0, 1, 2


@kernel
def sound_moves(rules: Rules, log: Log, into: Outcomes) -> tuple[Int, Int]:
    """How many moves of a game are right, and what is wrong with the next one; fills in what the scores should be.

    Place 0 of `log` is the first board, its score given; action `i` leads from place `i - 1` to place `i`.
    """
    for i in range(1, len(log.actions)):
        after, reward = slide(rules, State(log.cells[i - 1], log.extra[i - 1]), log.actions[i])
        if reward == ILLEGAL:
            return i - 1, _ILLEGAL_MOVE
        found = -1
        for k in range(outcomes(rules, after, into)):
            if into.cells[k] == log.cells[i] and into.extra[k] == log.extra[i]:
                found = k
        if found < 0:
            return i - 1, _IMPOSSIBLE
        log.scores[i] = log.scores[i - 1] + reward + into.reward[found]
    return len(log.actions) - 1, _SOUND


def _check_moves(recording: Recording) -> None:
    log = make_log(len(recording.states))
    log.cells[:] = [state.cells for state in recording.states]
    log.extra[:] = [state.extra for state in recording.states]
    log.actions[1:] = [action_number(action) for action in recording.actions]
    log.scores[0] = recording.scores[0]
    good, fault = sound_moves(recording.game.rules, log, make_outcomes())
    for i, (right, default_stream) in enumerate(zip(log.scores[: good + 1].tolist(), recording.scores, strict=False)):
        if right != default_stream:
            raise UsageError(f"move {i}: the score is given as {excerpt(default_stream)}; it is {right}")
    text = recording.game.text
    if fault == _ILLEGAL_MOVE:
        raise UsageError(f"move {good + 1}: {recording.actions[good]} moves nothing on {text(recording.board(good))!r}")
    if fault == _IMPOSSIBLE:
        raise UsageError(
            f"move {good + 1}: {text(recording.board(good + 1))!r} cannot come of {recording.actions[good]} "
            f"on {text(recording.board(good))!r}"
        )
