"""Games to watch, over WebSockets: moves are sent as they are played, and a closed tab ends its work.

The first message of a client is the request; later ones may change the speed. Every answer is one JSON object. After an
error, `{"reason": …}`, the socket is closed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from anyio import create_task_group
from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ValidationError

from tilewright.errors import TilewrightError, UsageError
from tilewright.play.recording import state_text
from tilewright.web.agents import log_failure
from tilewright.web.errors import describe_errors
from tilewright.web.games import read_game
from tilewright.web.playback import GameSeries, Playback, PlaybackMove
from tilewright.web.positions import Position, entry_of, read_position
from tilewright.web.schemas import AutoplayRequest, Control, JsonObject, WatchRequest
from tilewright.web.state import ServerState

__all__ = ["Pace", "make_sockets"]

R = TypeVar("R", AutoplayRequest, WatchRequest)
M = TypeVar("M", bound=BaseModel)
_MESSAGES_PER_SECOND = 25  # at most
_TOO_FAST_TO_FOLLOW = 100  # moves per message from which the end of a game is not shown
_TRY_AGAIN_LATER = 1013


class Pace:
    """The number of moves of a message, and the time at which it is due; the speed can change at any time."""

    def __init__(self, speed: float) -> None:
        """Set the speed in moves per second; 0 is as fast as possible."""
        self._speed = speed
        self._changed = asyncio.Event()

    def change(self, speed: float) -> None:
        """Change the speed, also of the message that is waited for."""
        self._speed = speed
        self._changed.set()

    @property
    def moves_per_message(self) -> int:
        """The number of moves of the next message.

        >>> [Pace(speed).moves_per_message for speed in (1, 20, 200, 0)]
        [1, 1, 8, 1000]
        """
        return max(1, round(self._speed / _MESSAGES_PER_SECOND)) if self._speed else 1_000

    def seconds_left(self, elapsed: float) -> float:
        """Return how long to wait for the next message, `elapsed` seconds after the work on the last one began.

        >>> Pace(2).seconds_left(0.1)
        0.4
        """
        return max(0.0, self.moves_per_message / self._speed - elapsed) if self._speed else 0.0

    async def wait(self, started: float) -> None:
        """Wait until the next message is due, if work on the last one started at this time of `time.monotonic`."""
        while left := self.seconds_left(time.monotonic() - started):
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                return


def make_sockets(server: ServerState) -> APIRouter:
    """Return the WebSocket routes."""
    router = APIRouter(prefix="/api/v1")

    @router.websocket("/autoplay")
    async def autoplay(socket: WebSocket) -> None:
        """An agent continues a game; every position is sent."""
        await _serve(server, socket, AutoplayRequest, _autoplay)

    @router.websocket("/watch")
    async def watch(socket: WebSocket) -> None:
        """An agent plays the games of a seed; some boards are sent, and the results after every game."""
        await _serve(server, socket, WatchRequest, _watch)

    return router


async def _serve(
    server: ServerState,
    socket: WebSocket,
    kind: type[R],
    play: Callable[[ServerState, WebSocket, R, Pace], Awaitable[None]],
) -> None:
    await socket.accept()
    if server.open_sockets >= server.limits.sockets:
        await socket.close(_TRY_AGAIN_LATER, "too many sockets are open")
        return
    server.open_sockets += 1
    try:
        request = _read(kind, await _first_message(socket, server.limits.silent_seconds))
        pace = Pace(request.speed)
        await _run_both(play(server, socket, request, pace), _listen(socket, pace))
        await socket.close()
    except TilewrightError as error:
        log_failure(error)
        with suppress(WebSocketDisconnect, RuntimeError):  # the client may have gone without waiting for the reason
            await socket.send_json({"reason": server.runs.hide_paths(str(error))})
            await socket.close(1008)
    except (WebSocketDisconnect, RuntimeError, KeyError):
        pass  # the tab was closed, or sent bytes instead of text
    finally:
        server.open_sockets -= 1


async def _first_message(socket: WebSocket, seconds: float) -> str:
    try:
        return await asyncio.wait_for(socket.receive_text(), seconds)
    except TimeoutError:
        raise UsageError(f"no request came within {seconds:g} seconds") from None


async def _run_both(play: Awaitable[None], listen: Awaitable[None]) -> None:
    """Run both until one of them ends, and cancel the other: nobody watches after the tab is closed."""
    errors: list[Exception] = []
    async with create_task_group() as group:

        async def run(part: Awaitable[None]) -> None:
            try:
                await part
            except (TilewrightError, WebSocketDisconnect, RuntimeError, KeyError) as error:
                errors.append(error)
            group.cancel_scope.cancel()

        group.start_soon(run, play)
        group.start_soon(run, listen)
    if errors:
        raise errors[0]


async def _listen(socket: WebSocket, pace: Pace) -> None:
    """Accept new speeds; raises WebSocketDisconnect when the tab is closed."""
    while True:
        control = _read(Control, await socket.receive_text())
        if control.speed is not None:
            pace.change(control.speed)


def _read(kind: type[M], text: str) -> M:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(describe_errors([{**found} for found in error.errors()])) from None


async def _autoplay(server: ServerState, socket: WebSocket, request: AutoplayRequest, pace: Pace) -> None:
    quick = server.executors.quick
    game = await quick.run(read_game, request.game, server.limits.spec)
    position = await quick.run(read_position, game, request.board, request.score, request.stream)
    agent = await server.agent_of(request.agent, game)
    executor = server.executor_for(agent, game, "play", has_player=True)
    search = agent.new_search()
    playback = await server.executors.slow.run(Playback, agent, game, search)  # it may load a model
    while True:
        started = time.monotonic()
        moves, entries = await executor.run_search(search, None, _play, playback, position, pace.moves_per_message)
        if not moves:
            break
        await socket.send_json({"moves": entries})
        position = moves[-1].position
        await pace.wait(started)
    await socket.send_json({"over": True})


def _play(playback: Playback, position: Position, max_moves: int) -> tuple[list[PlaybackMove], list[list[object]]]:
    moves = playback.play(position, max_moves)
    return moves, [entry_of(move.move, move.position) for move in moves]


async def _watch(server: ServerState, socket: WebSocket, request: WatchRequest, pace: Pace) -> None:
    if request.games > server.limits.games:
        raise UsageError(f"games={request.games}: at most {server.limits.games:,} here")
    quick = server.executors.quick
    game = await quick.run(read_game, request.game, server.limits.spec)
    agent = await server.agent_of(request.agent, game)
    executor = server.executor_for(agent, game, "play", has_player=True)
    search = agent.new_search()
    series = await server.executors.slow.run(GameSeries, agent, game, request.games, request.seed, search)
    while not series.is_done:
        started = time.monotonic()
        message = await executor.run_search(search, None, _advance, series, pace.moves_per_message)
        await socket.send_json(message | {"agent": agent.spec})
        await pace.wait(started)


def _advance(series: GameSeries, max_moves: int) -> JsonObject:
    """Play on for at most the time of one message, and return the message."""
    if series.is_between:
        series.next_game()
    deadline, finished_before = time.monotonic() + 1 / _MESSAGES_PER_SECOND, series.finished
    left = max_moves
    while left > 0 and time.monotonic() < deadline:
        moves_before = series.moves
        is_over = series.advance(left)
        left -= series.moves - moves_before
        if series.is_done or (is_over and max_moves < _TOO_FAST_TO_FOLLOW):
            break  # a visitor who can follow the moves sees the end of a game before the next one starts
        if is_over:
            series.next_game()
    position = series.position
    return {
        "number": series.finished - series.is_between,
        "code": state_text(position.board.game, position.board.state),
        "score": position.score,
        "moves": series.moves,
        "finished": series.finished,
        "scores": series.scores(finished_before),
        "result": series.to_json() if series.finished > finished_before else None,
    }
