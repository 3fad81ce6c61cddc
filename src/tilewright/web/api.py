"""The HTTP interface, version 1: board in, move out; games, agents, jobs and runs."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from tilewright.errors import UsageError
from tilewright.games import GAMES
from tilewright.games.base import Game
from tilewright.play.recording import parse_line
from tilewright.web.agents import Player
from tilewright.web.playback import Mover
from tilewright.web.positions import Position, begin, read_game, read_position, step
from tilewright.web.schemas import (
    Advice,
    AgentEntry,
    EvaluationRequest,
    GameEntry,
    JobStatus,
    PositionAnswer,
    Problem,
    ReviewRequest,
    RunDetails,
    RunSummary,
    Seed,
    StepAnswer,
    StepRequest,
)
from tilewright.web.state import Site

__all__ = ["PREFIX", "make_api"]

PREFIX = "/api/v1"
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in (
        (400, "what was asked for cannot be"),
        (403, "the request comes from another site"),
        (413, "the request is too large"),
        (422, "a value is missing or of the wrong kind"),
        (429, "the server is busy"),
    )
}
_UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "there is none of that name"}}

GameSpec = Annotated[str, Query(description="the game, as `threes` or `2048:rows=3,four=0.5`")]
AgentSpec = Annotated[str | None, Query(description="the agent, as `heuristic:depth=3`; without one the strongest")]
BoardText = Annotated[str, Query(description="16 numbers row by row, 16 hexadecimal codes, or JSON")]
Answer = dict[str, Any]


def make_api(site: Site) -> APIRouter:
    """The routes, each a few lines; what computes runs on a thread of its own."""
    api = APIRouter(prefix=PREFIX, responses=_REFUSALS)
    _add_games(api, site)
    _add_jobs(api, site)
    _add_runs(api, site)
    return api


def _add_games(api: APIRouter, site: Site) -> None:
    quick = site.lanes.quick

    def game_of(spec: str) -> Game:
        return read_game(spec, site.limits.spec)

    @api.get("/games", response_model=list[GameEntry], tags=["games"])
    async def games() -> list[Answer]:
        """The games, their options, and how their tiles look."""
        return await quick.run(lambda: [describe_game(name) for name in GAMES.available()])

    @api.get("/agents", response_model=list[AgentEntry], tags=["games"])
    async def agents(game: GameSpec = "2048") -> list[Answer]:
        """The agents that can play a game, the strongest first, then those of the runs."""
        return await quick.run(lambda: site.players.listing(game_of(game)))

    @api.get("/start", response_model=PositionAnswer, tags=["games"])
    async def start(game: GameSpec = "2048", seed: Seed = 0, number: int = 0) -> Answer:
        """The first position of game `number` of a seed: the one that `tilewright evaluate` plays."""
        return await quick.run(lambda: begin(game_of(game), seed, number).to_json())

    @api.get("/board", response_model=PositionAnswer, tags=["games"])
    async def board(board: BoardText, game: GameSpec = "2048") -> Answer:
        """A board in any of its forms, read and checked."""
        return await quick.run(lambda: read_position(game_of(game), board).to_json())

    @api.post("/step", response_model=StepAnswer, tags=["games"])
    async def step_once(request: StepRequest) -> Answer:
        """One move from a position: the one given, or that of an agent."""
        if (request.move is None) == (request.agent is None):
            raise UsageError("give either move or agent")
        game = await quick.run(game_of, request.game)
        position = await quick.run(read_position, game, request.board, request.score, request.stream)
        if request.move is not None:
            return await quick.run(_step, position, request.move)
        player = await quick.run(site.players.make, request.agent, game)
        return await site.lane_of(player, game).run(_agents_step, position, player)

    @api.get("/move", response_model=Advice, tags=["games"])
    async def move(request: Request, board: BoardText, agent: AgentSpec = None, game: GameSpec = "2048") -> Answer:
        """Board in, move out: the legal moves, their values, the best one."""

        def answer_if_quick() -> tuple[Position, Player, Answer | None]:
            played = game_of(game)
            position, player = read_position(played, board), site.players.make(agent, played)
            return position, player, _advice(position, player) if site.is_quick(player, played) else None

        position, player, answer = await quick.run(answer_if_quick)
        if answer is None:
            answer = await site.lanes.slow.run_for(request, _advice, position, player)
            site.has_played(player, position.board.game)
        return answer


def _add_jobs(api: APIRouter, site: Site) -> None:
    quick, limits = site.lanes.quick, site.limits

    @api.post("/evaluations", response_model=JobStatus, status_code=202, tags=["jobs"])
    async def evaluate(request: EvaluationRequest) -> Answer:
        """Play games with an agent; look at `/jobs/{id}` for the figures so far."""
        if request.games > limits.games:
            raise UsageError(f"games={request.games}: at most {limits.games:,} here")

        def begin_job() -> Answer:
            game = read_game(request.game, limits.spec)
            player = site.players.make(request.agent, game)
            return site.jobs.evaluate(player, game, request.games, request.seed).to_json()

        return await quick.run(begin_job)

    @api.post("/reviews", response_model=JobStatus, status_code=202, tags=["jobs"])
    async def review(request: ReviewRequest) -> Answer:
        """Judge every move of a recorded game; look at `/jobs/{id}` for what came of it."""

        def begin_job() -> Answer:
            recording = parse_line(request.recording.encode(errors="replace"), trusted=False)
            if not recording.actions:
                raise UsageError("the game has no moves to review")
            player = site.players.make(request.agent, recording.game)
            return site.jobs.review(recording, player, request.worst).to_json()

        return await site.lanes.slow.run(begin_job)

    @api.get("/jobs", response_model=list[JobStatus], tags=["jobs"])
    async def jobs() -> list[Answer]:
        """All jobs that are known, without their results."""
        return [job.to_json() | {"result": None} for job in site.jobs.all()]

    @api.get("/jobs/{id}", response_model=JobStatus, responses=_UNKNOWN, tags=["jobs"])
    async def job(id: str) -> Answer:  # noqa: A002  (its name in the path)
        """How far a job is, and what came of it so far."""
        return site.jobs.get(id).to_json()

    @api.delete("/jobs/{id}", response_model=JobStatus, responses=_UNKNOWN, tags=["jobs"])
    async def stop(id: str) -> Answer:  # noqa: A002
        """Stop a job after the move under way."""
        found = site.jobs.get(id)
        found.stop()
        return found.to_json()


def _add_runs(api: APIRouter, site: Site) -> None:
    quick, shelf = site.lanes.quick, site.shelf

    @api.get("/runs", response_model=list[RunSummary], tags=["runs"])
    async def runs() -> list[Answer]:
        """The training runs of the runs folder."""
        return await quick.run(lambda: [shelf.summary(name) for name in shelf.runs()])

    @api.get("/runs/{name}", response_model=RunDetails, responses=_UNKNOWN, tags=["runs"])
    async def run(name: str) -> Answer:
        """A run's recipe, its learning curve and its tests."""
        return await quick.run(shelf.details, name, site.limits.curve_points)


def describe_game(name: str) -> Answer:
    found = GAMES.load(name)
    options = [
        {"name": option.name, "default": option.default, "kind": type(option.default).__name__}
        for option in GAMES.options(name).values()
    ]
    return {
        "name": name,
        "summary": GAMES.summary(name),
        "options": options,
        "tiles": found.tile_values,
        "colours": [found.palette.background(code) for code in range(len(found.tile_values))],
    }


def _step(position: Position, move: str) -> Answer:
    found, after, earned = step(position, move)
    return found.to_json() | {"move": move, "after": after.tiles, "earned": earned}


def _agents_step(position: Position, player: Player) -> Answer:
    """The move that the agent makes in `evaluate`, where it draws chance from the game's own stream."""
    game = position.board.game
    made = Mover(player.agent, game).play(position, 1)
    if not made:
        raise UsageError(f"the game is over: no move is legal on {game.text(position.board)!r}")
    move, found = made[0]
    after, _ = game.slide(position.board, move)
    return found.to_json() | {"move": move, "after": after.tiles, "earned": found.score - position.score}


def _advice(position: Position, player: Player) -> Answer:
    board, began = position.board, time.perf_counter()
    values = player.agent.values(board)
    return {
        "game": board.game.spec,
        "agent": player.spec,
        "board": board.tiles,
        "text": board.game.text(board),
        "legal": list(values),
        "values": values,
        "move": max(values, key=lambda action: values[action], default=None),
        "milliseconds": 1000 * (time.perf_counter() - began),
    }
