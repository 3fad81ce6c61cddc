"""Play that is watched, over WebSockets: moves are sent as they are made, and a closed tab ends its work.

The first message says what is wanted; later ones may change the speed. Every answer is one JSON object. An error is
`{"reason": …}`, and then the socket is closed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from anyio import create_task_group
from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ValidationError

from tilewright.errors import TilewrightError, UsageError
from tilewright.play.recording import state_text
from tilewright.web.errors import describe_errors
from tilewright.web.playback import Made, Mover, Series
from tilewright.web.positions import Position, read_game, read_position, stream_text
from tilewright.web.schemas import AutoplayRequest, Control, WatchRequest
from tilewright.web.state import Site

__all__ = ["make_sockets"]

M = TypeVar("M", bound=BaseModel)
_FRAMES = 25  # messages a second, at most
_AT_LEAST = 100  # moves a message from which on nobody follows them
_FULL = 1013  # "try again later"


class _Pace:
    """How many moves go into the next message, and how long to wait before it."""

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.changed = asyncio.Event()

    @property
    def moves(self) -> int:
        return max(1, round(self.speed / _FRAMES)) if self.speed else 1_000

    async def wait(self, began: float) -> None:
        """Until the next message is due; a new speed counts at once."""
        while self.speed:
            left = began + self.moves / self.speed - time.monotonic()
            if left <= 0:
                return
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), left)
            except TimeoutError:
                return


def make_sockets(site: Site) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.websocket("/autoplay")
    async def autoplay(socket: WebSocket) -> None:
        """An agent goes on with a game; every position on the way is sent."""
        await _serve(site, socket, AutoplayRequest, _autoplay)

    @router.websocket("/watch")
    async def watch(socket: WebSocket) -> None:
        """An agent plays the games of a seed; boards are sent now and then, figures as games finish."""
        await _serve(site, socket, WatchRequest, _watch)

    return router


async def _serve(
    site: Site, socket: WebSocket, kind: type[M], play: Callable[[Site, WebSocket, M, _Pace], Awaitable[None]]
) -> None:
    await socket.accept()
    if site.sockets >= site.limits.sockets:
        await socket.close(_FULL, "too many are open")
        return
    site.sockets += 1
    try:
        request = _read(kind, await socket.receive_text())
        pace = _Pace(getattr(request, "speed", 0.0))
        await _until_closed(play(site, socket, request, pace), _listen(socket, pace))
        await socket.close()
    except TilewrightError as error:
        await _tell(socket, {"reason": site.shelf.hide(str(error))})
        await socket.close(1008)
    except (WebSocketDisconnect, RuntimeError, KeyError):
        pass  # the tab was closed, or sent bytes that are no text
    finally:
        site.sockets -= 1


async def _until_closed(play: Awaitable[None], listen: Awaitable[None]) -> None:
    """Play to the end, but no longer than somebody listens; whichever of the two ends first ends the other."""
    wrong: list[Exception] = []
    async with create_task_group() as group:

        async def run(part: Awaitable[None]) -> None:
            try:
                await part
            except (TilewrightError, WebSocketDisconnect, RuntimeError, KeyError) as error:
                wrong.append(error)
            group.cancel_scope.cancel()

        group.start_soon(run, play)
        group.start_soon(run, listen)
    if wrong:
        raise wrong[0]


async def _listen(socket: WebSocket, pace: _Pace) -> None:
    """Take new speeds; raises when the tab is closed."""
    while True:
        control = _read(Control, await socket.receive_text())
        if control.speed is not None:
            pace.speed = control.speed
            pace.changed.set()


def _read(kind: type[M], text: str) -> M:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(describe_errors(error.errors())) from None


async def _tell(socket: WebSocket, message: dict[str, Any]) -> None:
    await socket.send_json(message)


async def _autoplay(site: Site, socket: WebSocket, request: AutoplayRequest, pace: _Pace) -> None:
    lanes = site.lanes
    game = await lanes.quick.run(read_game, request.game, site.limits.spec)
    position = await lanes.quick.run(read_position, game, request.board, request.score, request.stream)
    player = await lanes.quick.run(site.players.make, request.agent, game)
    lane = site.lane_of(player, game)
    mover = await lane.run(Mover, player.agent, game)
    while True:
        began = time.monotonic()
        made = await lane.run(_play, mover, position, pace.moves)
        if not made:
            break
        await _tell(socket, {"moves": [entry for _, entry in made]})
        position = made[-1][0].position
        await pace.wait(began)
    await _tell(socket, {"over": True})


def _play(mover: Mover, position: Position, most: int) -> list[tuple[Made, list[Any]]]:
    return [(made, _entry(made)) for made in mover.play(position, most)]


def _entry(made: Made) -> list[Any]:
    """[move, board, score, stream, legal moves], the last as their first letters."""
    board, score = made.position.board, made.position.score
    legal = "".join(action[0] for action in board.game.legal(board))
    return [made.move, state_text(board.game, board.state), score, stream_text(made.position.stream), legal]


async def _watch(site: Site, socket: WebSocket, request: WatchRequest, pace: _Pace) -> None:
    if request.games > site.limits.games:
        raise UsageError(f"games={request.games}: at most {site.limits.games:,} here")
    game = await site.lanes.quick.run(read_game, request.game, site.limits.spec)
    player = await site.lanes.quick.run(site.players.make, request.agent, game)
    lane = site.lane_of(player, game)
    series = await lane.run(Series, player, game, request.games, request.seed)
    while not series.is_done:
        began = time.monotonic()
        message = await lane.run(_piece, series, pace.moves)
        await _tell(socket, message | {"agent": player.spec})
        await pace.wait(began)


def _piece(series: Series, most: int) -> dict[str, Any]:
    """Some moves, as many as fit into the time of a frame, and what there is to show after them."""
    if series.is_between:
        series.next_game()
    deadline, before = time.monotonic() + 1 / _FRAMES, series.finished
    left = most
    while left > 0 and time.monotonic() < deadline:
        made = series.moves
        ended = series.advance(left)
        left -= series.moves - made
        if series.is_done or (ended and most < _AT_LEAST):
            break  # where moves can be followed, the end of a game is shown before the next one begins
        if ended:
            series.next_game()
    position = series.position
    return {
        "number": series.finished - series.is_between,
        "code": state_text(position.board.game, position.board.state),
        "score": position.score,
        "moves": series.moves,
        "finished": series.finished,
        "figures": series.to_json() if series.finished > before else None,
    }
