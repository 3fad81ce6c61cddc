"""Agents, and players: agents at work on one game.

An `Agent` is a frozen dataclass of options. A `Player` is what it becomes for one game: it owns the workspace and the
transposition table, keeps them from move to move, and serves one thread.
"""

import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from tilewright._core.checks import check_that
from tilewright._core.options import Configurable, check_ranges
from tilewright.agents import AGENTS
from tilewright.errors import SearchStoppedError, SpecError
from tilewright.games import make_game
from tilewright.games.base import Game, no_move_error
from tilewright.games.board import Board, BoardLike
from tilewright.games.policy import GameResults, Policy, QValues, act_one, innermost, make_move_log, play_moves
from tilewright.games.rules import ACTIONS, State, typed_state
from tilewright.rng import Stream, stream_for
from tilewright.search.searcher import SearchControl, make_search_control

__all__ = ["Agent", "Analysis", "BatchAgent", "PlayedMove", "Player", "Unit", "as_board", "values_by_action"]


Unit: TypeAlias = Literal["points", "reward", "probability", "none"]


@dataclass(frozen=True)
class Analysis:
    """The result of one search of a board.

    Attributes:
        values: The value of every legal move; empty when the game is over.
        move: The move that the agent plays, None when the game is over.
        depth: The depth that the search completed, None where the agent does not search by depth.
        nodes: The number of states that the search expanded, None where it does not count them.
        seconds: The time it took.
        unit: What the values count (see `Agent.unit`).
    """

    values: dict[str, float]
    move: str | None
    depth: int | None
    nodes: int | None
    seconds: float
    unit: Unit


@dataclass(frozen=True)
class PlayedMove:
    """A move of a game: the action, the state with the new tile, and the score then."""

    action: str
    state: State
    score: int


@dataclass(frozen=True)
class Agent(Configurable):
    """A player's options; `player(game)` puts it to work.

    An agent written in plain Python overrides only `values`, and plays the first move with the highest value. An agent
    whose moves kernels can compute overrides `policy`.

    >>> class Corner(Agent):
    ...     def values(self, board, stream=None):
    ...         order = ("right", "down", "left", "up")
    ...         return {move: -order.index(move) for move in board.game.legal(board)}
    >>> Corner().move(make_game("2048").start(seed=1))
    'right'

    Class attributes:
        name: What specs call it.
        unit: What its values count: "points" that are expected to the end of the game, the "reward" of the move alone,
            the "probability" of reaching a goal, or "none" where values only compare moves.
    """

    name: ClassVar[str]
    unit: ClassVar[Unit] = "none"

    def __post_init__(self) -> None:
        """Check the ranges of the options; a subclass that checks more calls this first.

        Raises:
            SpecError: An option is out of its range.
        """
        check_ranges(self, "agent", SpecError)

    def values(self, board: Any, stream: Stream | None = None) -> dict[str, float]:
        """Return the value of every legal move of a board; empty when the game is over.

        Args:
            board: A Board of any game that the agent can play; text, lists and arrays are boards of 2048.
            stream: Random numbers are drawn from it. A stream in the same state gives the values that `move` decides
                by. Without one, the same stream is used every time.
        """
        board = as_board(board)
        return self._own_player(board.game).analyse(board, stream).values

    def policy(self, game: Game) -> Policy | None:
        """Return a policy for kernels with its own workspace; None for an agent written in Python."""
        return None

    def player(self, game: Game) -> "Player":
        """Return the agent at work on `game`; every thread needs its own player."""
        return Player(self, game, self.policy(game))

    def move(self, board: Any, stream: Stream | None = None) -> str:
        """Return the move that the agent plays.

        Args:
            board: A Board of any game that the agent can play; text, lists and arrays are boards of 2048.
            stream: See `values`.

        Raises:
            UsageError: The game is over.

        >>> make_agent("expectimax:depth=2").move([[2, 2, 4, 0], [0] * 4, [0] * 4, [0, 0, 0, 2]])
        'up'
        """
        board = as_board(board)
        player = self._own_player(board.game)
        if player.policy is not None:
            return player.move(board, stream)
        values = self.values(board, stream)
        if not values:
            raise no_move_error(board)
        return _first_best(values)

    def loaded(self, game: Game) -> Self:
        """Return an equal agent that needs no files: the models it names are part of it."""
        return self

    @property
    def spec(self) -> str:
        """The text that `make_agent` reads."""
        return AGENTS.spec_of(self)

    def _own_player(self, game: Game) -> "Player":
        """Return the player that this thread has used for the game before, or a new one."""
        players = self.__dict__.get("_players")
        if players is None:
            players = threading.local()
            object.__setattr__(self, "_players", players)  # no field: agents with equal options stay equal
        key = (game, self._model_version(game))
        if getattr(players, "key", None) != key:
            players.key, players.player = key, self.player(game)
        player: Player = players.player
        return player

    def _model_version(self, game: Game) -> object:
        """Return something that changes when the file of the agent's model does."""
        return None

    def __getstate__(self) -> dict[str, object]:
        """Leave out the players: another process makes its own."""
        return {key: value for key, value in self.__dict__.items() if key != "_players"}

    def _check(self, option: str, holds: bool, complaint: str) -> None:
        """Raise SpecError unless an option's value is allowed."""
        check_that(holds, f"agent {self.name}, option {option}={getattr(self, option)}", complaint, SpecError)

    def _overrides(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Agent, method)


class BatchAgent(Agent, ABC):
    """An agent without a policy for which many boards cost little more than one: it plays games side by side."""

    batch_size: ClassVar[int]  # the number of games

    @abstractmethod
    def play_batch(self, game: Game, seed: int, first: int, results: GameResults) -> None:
        """Play the games numbered from `first` at the same time, one for every entry of `results`."""


class Player:
    """An agent at work on one game. It keeps its tables from move to move; use one for every thread.

    >>> player = make_agent("expectimax:depth=2").player(make_game("2048"))
    >>> player.analyse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2").depth
    2
    """

    def __init__(self, agent: Agent, game: Game, policy: Policy | None) -> None:
        self.agent, self.game, self.policy = agent, game, policy
        self.unit: Unit = agent.unit
        self._control: SearchControl = getattr(innermost(policy), "control", None) or make_search_control()

    def stop(self) -> None:
        """End the search that is under way, and every later one, from any thread.

        `analyse`, `move` and `play` then raise SearchStoppedError. A search ends at once. An agent that does not search
        finishes its current call; one written in Python finishes its current move.
        """
        self._control.stop[0] = 1

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return bool(self._control.stop[0])

    @property
    def has_begun(self) -> bool:
        """Whether a search has begun since `reset_begun`; the time before that is spent on loading and compiling."""
        return bool(self._control.began[0])

    def reset_begun(self) -> None:
        """Forget earlier searches, so that `has_begun` tells about the next one."""
        self._control.began[0] = 0

    @property
    def q_values(self) -> QValues | None:
        """Where the policy leaves the values of the four moves, float[4]; None where it has none."""
        found: QValues | None = getattr(innermost(self.policy), "q_values", None)
        return found

    def _check_stopped(self) -> None:
        if self.is_stopped:
            raise SearchStoppedError(f"the search of agent {self.agent.name} was stopped")

    def analyse(self, board: BoardLike, stream: Stream | None = None) -> Analysis:
        """Search once, and return the values of all moves and the move that the agent plays.

        Args:
            board: A Board, or anything that `game.parse` reads.
            stream: The random numbers are drawn from it; without one, the same stream is used every time.

        Raises:
            SearchStoppedError: The player was stopped.
        """
        self._check_stopped()
        board, began = self.game.parse(board), time.perf_counter()
        stream = stream_for(0) if stream is None else stream
        if self.policy is None:
            values, move = self._analyse_in_python(board, stream)
        else:
            values, move = self._analyse_in_kernel(board, stream)
        self._check_stopped()
        status = getattr(innermost(self.policy), "status", None)
        depth, nodes = (None, None) if status is None else (int(status.depth[0]), int(status.nodes[0]))
        return Analysis(values, move, depth, nodes, time.perf_counter() - began, self.unit)

    def _analyse_in_python(self, board: Board, stream: Stream) -> tuple[dict[str, float], str | None]:
        agent = self.agent
        if not agent._overrides("values"):
            raise SpecError(f"agent {agent.name} has neither `values` nor `policy`: define one of them")
        self.game.legal(board)  # compiles what most agents call, before their time counts
        self._control.began[0] = 1
        decides = agent._overrides("move")  # it draws for itself what `values` draws
        values = agent.values(board, stream.copy() if decides else stream)
        if not values:
            return {}, None
        return values, agent.move(board, stream) if decides else _first_best(values)

    def _analyse_in_kernel(self, board: Board, stream: Stream) -> tuple[dict[str, float], str | None]:
        action = act_one(self.policy, self.game.rules, typed_state(board.state), stream)
        q_values = self.q_values
        values = self.agent.values(board) if q_values is None else values_by_action(q_values)
        return values, ACTIONS[action] if values else None

    def move(self, board: BoardLike, stream: Stream | None = None) -> str:
        """Return the move that the agent plays.

        Raises:
            UsageError: The game is over.
        """
        board = self.game.parse(board)
        move = self.analyse(board, stream).move
        if move is None:
            raise no_move_error(board)
        return move

    def play(self, board: BoardLike, score: int, stream: Stream, max_moves: int) -> list[PlayedMove]:
        """Play on from a board, and return the moves; fewer than `max_moves` only when the game is over.

        Args:
            board: A Board, or anything that `game.parse` reads.
            score: The score so far.
            stream: uint64[2], the stream of the game, advanced in place.
            max_moves: The largest number of moves.

        Raises:
            SearchStoppedError: The player was stopped.
        """
        self._check_stopped()
        board = self.game.parse(board)
        if self.policy is None:
            return self._play_in_python(board, score, stream, max_moves)
        log = make_move_log(max_moves)
        made = play_moves(self.game.rules, self.policy, typed_state(board.state), score, stream, log, max_moves)
        self._check_stopped()
        actions = [ACTIONS[action] for action in log.actions[:made].tolist()]
        states = map(State, log.cells[:made].tolist(), log.extra[:made].tolist())
        return [PlayedMove(*move) for move in zip(actions, states, log.scores[:made].tolist(), strict=True)]

    def _play_in_python(self, board: Board, score: int, stream: Stream, max_moves: int) -> list[PlayedMove]:
        game, made = self.game, list[PlayedMove]()
        while len(made) < max_moves and not game.is_over(board):
            action = self.move(board, stream)
            after, reward = game.slide(board, action)
            board, spawn_reward = game.spawn(after, stream)
            score += reward + spawn_reward
            made.append(PlayedMove(action, board.state, score))
        return made


def _first_best(values: dict[str, float]) -> str:
    return max(values, key=lambda action: values[action])


def as_board(board: BoardLike) -> Board:
    """Return a Board as it is, and anything else as a board of 2048."""
    return board if isinstance(board, Board) else make_game("2048").parse(board)


def values_by_action(q_values: QValues) -> dict[str, float]:
    """Return the values of a kernel by the names of the moves, without those of illegal moves, which are -inf."""
    return {action: float(q_values[i]) for i, action in enumerate(ACTIONS) if np.isfinite(q_values[i])}
