"""Recorded games: files with one game a line, as JSON, checked move by move when they are read.

    {"format": "tilewright-game-1", "game": "2048", "seed": 7, "number": 0, "start": "0000001000100000",
     "moves": [["left", "0100100010000000", 0], …], "agent": "greedy", "score": 3120, "over": true}

A move is its name, the board after the new tile, and the score then. Boards are texts that `Game.parse` reads:
hexadecimal tile codes with the notes of the game (`1233000000000004 hint=2 bag=143`), or numbers where a tile has no
hexadecimal digit.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tilewright._core.inputs import open_input, shown
from tilewright._core.jit import Int, kernel
from tilewright._core.outputs import FileKind
from tilewright._core.text import excerpt, readable
from tilewright.agents.base import Player
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.games import make_game, make_known_game
from tilewright.games.base import Game, action_number
from tilewright.games.board import Board
from tilewright.games.episode import Episode
from tilewright.games.policy import MoveLog, make_move_log
from tilewright.games.rules import ACTIONS, ILLEGAL, Outcomes, Rules, State, make_outcomes, outcomes, slide
from tilewright.rng import stream_for

__all__ = [
    "FORMAT",
    "RECORDING",
    "Recording",
    "as_path",
    "head_text",
    "move_text",
    "parse_line",
    "play_recorded",
    "read_game",
    "read_games",
    "recording_of",
    "state_text",
    "tail_text",
]

T = TypeVar("T")
FORMAT = "tilewright-game-1"
_MAX_LINE = 1 << 26  # bytes; the longest possible games take about a tenth of it
_MAX_SPEC = 5000  # characters; specs may contain paths
_MOVES_PER_CALL = 4096  # of the kernel
_NOUNS: dict[type, str] = {str: "text", int: "a whole number", bool: "true or false", list: "a list"}


@dataclass(frozen=True, repr=False)
class Recording:
    """A game that was played, from its first board to its last.

    Attributes:
        game: The game.
        agent: The spec of the agent that played, or `human`.
        seed: The seed of the game.
        number: The number of the game.
        states: The first state, and the state after every move.
        actions: The moves by name, one fewer than `states`.
        scores: The score at every state.
    """

    game: Game
    agent: str
    seed: int
    number: int
    states: tuple[State, ...]
    actions: tuple[str, ...]
    scores: tuple[int, ...]

    def board(self, i: int) -> Board:
        """Return the board after `i` moves; -1 for the last board."""
        return Board(self.game, self.states[i])

    @property
    def score(self) -> int:
        """The score at the end."""
        return self.scores[-1]

    @property
    def is_over(self) -> bool:
        """True if no move is legal on the last board."""
        return self.game.is_over(self.board(-1))

    def to_line(self) -> str:
        """Return the game as a line of a file, without the newline."""
        head = head_text(self.game, self.seed, self.number, self.states[0])
        moves = zip(self.actions, self.states[1:], self.scores[1:], strict=True)
        entries = ", ".join(move_text(self.game, *move) for move in moves)
        return head + entries + tail_text(self.agent, self.score, self.is_over)

    def __repr__(self) -> str:
        """Return who played and the result in one line."""
        moves = "1 move" if len(self.actions) == 1 else f"{len(self.actions):,} moves"
        return f"<Recording of {self.game.spec} by {self.agent}: score {self.score:,} after {moves}>"


def _is_recording(line: bytes) -> bool:
    """Tell whether a line begins as every recorded game does."""
    return re.match(rb'\{"format": ?"tilewright-game-', line) is not None


RECORDING = FileKind("file of recorded games", _is_recording)


def head_text(game: Game, seed: int, number: int, start: State) -> str:
    """Return the text of a recorded game up to its first move."""
    head = {"format": FORMAT, "game": game.spec, "seed": seed, "number": number, "start": state_text(game, start)}
    return json.dumps(head)[:-1] + ', "moves": ['


def move_text(game: Game, action: str, state: State, score: int) -> str:
    """Return the text of one move, the board after it and the score then."""
    return f'["{action}", "{state_text(game, state)}", {score}]'


def tail_text(agent: str, score: int, over: bool) -> str:
    """Return the text of a recorded game after its last move."""
    return "], " + json.dumps({"agent": readable(agent), "score": score, "over": over})[1:]


def state_text(game: Game, state: State) -> str:
    """Return the shortest text of a state that `Game.parse` reads: hexadecimal codes if possible, and the notes."""
    board = Board(game, state)
    if game.high_bits(state):
        return game.text(board)
    digits = f"{int(state.cells):016x}"
    cells = "".join(digits[4 * row : 4 * row + game.columns] for row in range(game.rows))
    return " ".join([cells, *(f"{name}={text}" for name, text in game.notes(board).items())])


# Playing


def play_recorded(player: Player, seed: int, number: int) -> Recording:
    """Play the game that `evaluate` plays with this seed and number, and return all its moves."""
    game, stream = player.game, stream_for(seed, number)
    board, score = game.start_from(stream)
    states, actions, scores = [board.state], list[str](), [score]
    while True:
        moves = player.play(Board(game, states[-1]), scores[-1], stream, _MOVES_PER_CALL)
        actions += [move.action for move in moves]
        states += [move.state for move in moves]
        scores += [move.score for move in moves]
        if len(moves) < _MOVES_PER_CALL:
            return Recording(game, player.agent.spec, seed, number, tuple(states), tuple(actions), tuple(scores))


# Reading


def read_games(path: Path | str) -> Iterator[Recording]:
    """Read the games of a file one after the other; `list(read_games(path))` reads them all.

    Every game is checked move by move when it is read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = evaluate("greedy", games=3, seed=1, record=f"{folder}/games.jsonl")
    ...     [game.score for game in read_games(f"{folder}/games.jsonl")] == result.scores.tolist()
    True

    Args:
        path: A file that `evaluate` or `tilewright play` has recorded.

    Raises:
        FileError: The file cannot be read, or a line of it is not a recorded game; the message names the line.
    """
    file = as_path(path)
    return (_read_line(file, number, line) for number, line in _lines(file))


def read_game(path: Path | str, position: int = 0) -> tuple[Recording, int]:
    """Read one game of a file without checking the others.

    Args:
        path: A file of recorded games.
        position: The position of the game in the file, from 0.

    Returns:
        The game, and the number of games in the file.

    Raises:
        FileError: The file cannot be read, has no such game, or the line is not a recorded game.
    """
    path = as_path(path)
    found, games = None, 0
    for number, line in _lines(path):
        games = number
        if number == position + 1:
            found = _read_line(path, number, line)
    if found is None:
        has = "no games" if not games else f"{games:,} game{'s' if games > 1 else ''}, counted from 0"
        raise FileError(f"{path}: there is no game {position}; the file has {has}")
    return found, games


def as_path(path: Path | str) -> Path:
    """Return the path of a file.

    Raises:
        UsageError: It is neither a path nor text.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{excerpt(path)} is not a file: give a path as text or as a Path")
    return Path(path)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, from 1."""
    try:
        with open_input(path) as file:
            number = 0
            while line := file.readline(_MAX_LINE):
                number += 1
                if len(line) == _MAX_LINE:
                    raise _wrong(path, number, "not a recorded game of tilewright: the line is too long")
                yield number, line
    except OSError as error:
        raise FileError(f"{shown(path)}: cannot be read: {error.strerror or error}") from None


def _wrong(path: Path, number: int, reason: str) -> FileError:
    return FileError(f"{path}, line {number}: {reason}")


def _read_line(path: Path, number: int, line: bytes) -> Recording:
    try:
        return parse_line(line)
    except TilewrightError as error:
        raise _wrong(path, number, str(error)) from None


def parse_line(line: bytes, *, trusted: bool = True) -> Recording:
    """Read a recorded game from its line, and check every move.

    Args:
        line: A recorded game.
        trusted: Whether to import the module of a game that the line names as module:Class.

    Raises:
        UsageError: The line is not a recorded game, or no such game can have been played.
    """
    found = _read_object(line)
    spec = _line_of_text(found, "game")
    game = make_game(spec) if trusted else make_known_game(spec)
    seed, number = _count(found, "seed"), _count(found, "number")
    agent, score = _line_of_text(found, "agent"), _member(found, "score", int)
    over = _member(found, "over", bool)
    start = _member(found, "start", str)
    states, actions, scores = [_state(game, start, "start")], [], [game.board_score(start)]
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


def _read_object(line: bytes) -> dict[str, object]:
    """Return the JSON object of a recorded game."""
    try:
        found: dict[str, object] = json.loads(line)
    except (ValueError, RecursionError):
        reason = "damaged: not JSON" if line.endswith(b"\n") else "the line is cut off"
        raise UsageError(reason if _is_recording(line) else "not a recorded game of tilewright") from None
    if not _is_recording(line):
        raise UsageError("not a recorded game of tilewright")
    version = _member(found, "format", str)
    if version != FORMAT:
        raise UsageError(f"the format {excerpt(version)} is not known; this version reads {FORMAT}")
    return found


def _member(found: dict[str, object], key: str, kind: type[T]) -> T:
    if key not in found:
        raise UsageError(f"damaged: {key} is missing")
    value = found[key]
    if type(value) is not kind:  # isinstance would take true for a number
        raise UsageError(f"damaged: {key} is {excerpt(value)}, not {_NOUNS[kind]}")
    return value


def _count(found: dict[str, object], key: str) -> int:
    count = _member(found, key, int)
    if count < 0:
        raise UsageError(f"damaged: {key} is {excerpt(count)}, not a whole number from 0 up")
    return count


def _line_of_text(found: dict[str, object], key: str) -> str:
    """Return a text that is safe to print: one line without control characters."""
    text = _member(found, key, str)
    if len(text) > _MAX_SPEC or not text.isprintable():
        raise UsageError(f"damaged: {key} is {excerpt(text)}")
    return text


def _state(game: Game, text: str, place: str) -> State:
    try:
        return game.parse(text).state
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _read_move(game: Game, entry: object, i: int) -> tuple[str, State, int]:
    if type(entry) is not list or [type(part) for part in entry] != [str, str, int]:
        raise UsageError(f"damaged: move {i} is {excerpt(entry)}, not [move, board, score]")
    action, text, score = entry
    if action not in ACTIONS:
        raise UsageError(f"damaged: move {i} is {excerpt(action)}; moves are {', '.join(ACTIONS)}")
    return action, _state(game, text, f"move {i}"), score


# Checking

_SOUND, _ILLEGAL_MOVE, _IMPOSSIBLE = 0, 1, 2


@kernel
def sound_moves(rules: Rules, log: MoveLog, into: Outcomes) -> tuple[Int, Int]:
    """Check the moves of a game, and compute its scores.

    Args:
        rules: The rules of the game.
        log: The first state at index 0; action `i` leads from state `i - 1` to state `i`. The score at index 0 is
            given, the others are computed in place.
        into: Workspace for the outcomes of a move.

    Returns:
        The number of correct moves, and the fault of the next one: _SOUND, _ILLEGAL_MOVE or _IMPOSSIBLE.
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
    """Raise UsageError unless every move is legal, every new tile possible and every score right."""
    log = make_move_log(len(recording.states))
    log.cells[:] = [state.cells for state in recording.states]
    log.extra[:] = [state.extra for state in recording.states]
    log.actions[1:] = [action_number(action) for action in recording.actions]
    log.scores[0] = recording.scores[0]
    good, fault = sound_moves(recording.game.rules, log, make_outcomes())
    for i, (right, given) in enumerate(zip(log.scores[: good + 1].tolist(), recording.scores, strict=False)):
        if right != given:
            raise UsageError(f"move {i}: the score is given as {excerpt(given)}; it is {right}")
    text = recording.game.text
    if fault == _ILLEGAL_MOVE:
        raise UsageError(f"move {good + 1}: {recording.actions[good]} moves nothing on {text(recording.board(good))!r}")
    if fault == _IMPOSSIBLE:
        raise UsageError(
            f"move {good + 1}: {text(recording.board(good + 1))!r} cannot come of {recording.actions[good]} "
            f"on {text(recording.board(good))!r}"
        )


def recording_of(episode: Episode, agent: str) -> Recording:
    """Return the recording of an episode up to its current board."""
    turns = episode.history
    return Recording(
        game=episode.game,
        agent=agent,
        seed=episode.seed,
        number=episode.number,
        states=(*(turn.board.state for turn in turns), episode.board.state),
        actions=tuple(turn.action for turn in turns),
        scores=(*(turn.score for turn in turns), episode.score),
    )
