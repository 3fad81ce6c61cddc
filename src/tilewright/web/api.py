"""The HTTP API, version 1: board in, move out; games, agents, jobs and runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from tilewright.errors import UsageError
from tilewright.games import GAMES
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.play.recording import parse_line
from tilewright.web.agents import WebAgent
from tilewright.web.games import describe_games, read_game
from tilewright.web.positions import Position, play_move, read_position, start_position
from tilewright.web.registration import parse_registered
from tilewright.web.schemas import (
    Advice,
    AgentEntry,
    EvaluationRequest,
    GameEntry,
    JobStatus,
    JsonObject,
    PositionAnswer,
    Refusal,
    ReviewRequest,
    RunDetails,
    RunSummary,
    Seed,
    StepAnswer,
    StepRequest,
)
from tilewright.web.state import ServerState

__all__ = ["PREFIX", "make_api"]

PREFIX = "/api/v1"
_Responses = dict[int | str, dict[str, Any]]  # as FastAPI declares them
_REFUSALS: _Responses = {
    400: {"model": Refusal, "description": "the request is not possible"},
    403: {"model": Refusal, "description": "the request comes from another site"},
    413: {"model": Refusal, "description": "the request is too large"},
    422: {"model": Refusal, "description": "a value is missing or has the wrong type"},
    429: {"model": Refusal, "description": "the server is busy"},
    500: {"model": Refusal, "description": "the agent failed"},
}
_UNKNOWN: _Responses = {404: {"model": Refusal, "description": "there is nothing of that name"}}

GameSpec = Annotated[str, Query(description="the game, as `threes` or `2048:rows=3,four=0.5`")]
AgentSpec = Annotated[str | None, Query(description="the agent, as `heuristic:depth=3`; by default the strongest one")]
BoardText = Annotated[str, Query(description="16 numbers row by row, 16 hexadecimal codes, or JSON")]


def make_api(server: ServerState) -> APIRouter:
    """Return the routes; whatever computes runs on the threads of the server."""
    api = APIRouter(prefix=PREFIX, responses=_REFUSALS)
    _add_games(api, server)
    _add_jobs(api, server)
    _add_runs(api, server)
    return api


def _add_games(api: APIRouter, server: ServerState) -> None:
    quick = server.executors.quick

    def game_of(spec: str) -> Game:
        return read_game(spec, server.limits.spec)

    @api.get("/games", response_model=list[GameEntry], tags=["games"])
    async def games() -> list[JsonObject]:
        """The games, their options, and how their tiles look."""
        return await quick.run(describe_games)

    @api.get("/agents", response_model=list[AgentEntry], tags=["games"])
    async def agents(game: GameSpec = "2048") -> list[JsonObject]:
        """The agents that can play a game: the strongest first, then those of users and of runs."""
        return await quick.run(lambda: server.agents.describe(game_of(game)))

    @api.get("/start", response_model=PositionAnswer, tags=["games"])
    async def start(game: GameSpec = "2048", seed: Seed = 0, number: int = 0) -> JsonObject:
        """The first position of game `number` of a seed: the one that `tilewright evaluate` plays."""
        return await quick.run(lambda: start_position(game_of(game), seed, number).to_json())

    @api.get("/board", response_model=PositionAnswer, tags=["games"])
    async def board(board: BoardText, game: GameSpec = "2048") -> JsonObject:
        """A board in any of its forms, parsed and checked."""
        return await quick.run(lambda: read_position(game_of(game), board).to_json())

    @api.post("/step", response_model=StepAnswer, tags=["games"])
    async def step(request: StepRequest) -> JsonObject:
        """One move from a position: a given one, or the move of an agent."""
        if (request.move is None) == (request.agent is None):
            raise UsageError("give either move or agent")
        game = await quick.run(game_of, request.game)
        position = await quick.run(read_position, game, request.board, request.score, request.stream)
        if request.move is not None:
            return await quick.run(_step, position, request.move)
        agent = await quick.run(server.agents.make, request.agent, game)
        return await server.executor_for(agent, game).run(_agent_step, position, agent)

    @api.get("/move", response_model=Advice, tags=["games"])
    async def move(request: Request, board: BoardText, agent: AgentSpec = None, game: GameSpec = "2048") -> JsonObject:
        """Board in, move out: the values of the legal moves, and the move that the agent plays."""

        def advise_if_quick() -> tuple[Board, WebAgent, JsonObject | None]:
            played = game_of(game)
            parsed, chosen = played.parse_position(board), server.agents.make(agent, played)
            return parsed, chosen, _advise(parsed, chosen) if server.is_warm(chosen, played) else None

        parsed, chosen, advice = await quick.run(advise_if_quick)
        if advice is None:
            advice = await server.executors.slow.run_while_connected(request, _advise, parsed, chosen)
            server.mark_warm(chosen, parsed.game)
        return advice


def _add_jobs(api: APIRouter, server: ServerState) -> None:
    limits = server.limits

    @api.post("/evaluations", response_model=JobStatus, status_code=202, tags=["jobs"])
    async def evaluate(request: EvaluationRequest) -> JsonObject:
        """Play games with an agent; `/jobs/{id}` has the results so far."""
        if request.games > limits.games:
            raise UsageError(f"games={request.games}: at most {limits.games:,} here")

        def start_job() -> JsonObject:
            game = read_game(request.game, limits.spec)
            agent = server.agents.make(request.agent, game)
            return server.jobs.evaluate(agent, game, request.games, request.seed).to_json()

        return await server.executors.quick.run(start_job)

    @api.post("/reviews", response_model=JobStatus, status_code=202, tags=["jobs"])
    async def review(request: ReviewRequest) -> JsonObject:
        """Review every move of a recorded game; `/jobs/{id}` has the result."""

        def start_job() -> JsonObject:
            recording = parse_line(request.recording.encode(errors="replace"), trusted=False)
            parse_registered(GAMES, recording.game.spec, limits.spec)
            if not recording.actions:
                raise UsageError("the game has no moves to review")
            agent = server.agents.make(request.agent, recording.game)
            return server.jobs.review(recording, agent, request.worst).to_json()

        return await server.executors.slow.run(start_job)

    @api.get("/jobs", response_model=list[JobStatus], tags=["jobs"])
    async def jobs() -> list[JsonObject]:
        """All jobs that are known, without their results."""
        return [job.to_json() | {"result": None} for job in server.jobs.all()]

    @api.get("/jobs/{id}", response_model=JobStatus, responses=_UNKNOWN, tags=["jobs"])
    async def job(id: str) -> JsonObject:  # noqa: A002  (its name in the path)
        """The state of a job and its result so far."""
        return server.jobs.get(id).to_json()

    @api.delete("/jobs/{id}", response_model=JobStatus, responses=_UNKNOWN, tags=["jobs"])
    async def stop(id: str) -> JsonObject:  # noqa: A002
        """Stop a job after the current move."""
        found = server.jobs.get(id)
        found.stop()
        return found.to_json()


def _add_runs(api: APIRouter, server: ServerState) -> None:
    quick, library = server.executors.quick, server.runs

    @api.get("/runs", response_model=list[RunSummary], tags=["runs"])
    async def runs() -> list[JsonObject]:
        """The training runs of the runs folder."""
        return await quick.run(lambda: [library.summary(name) for name in library.folders()])

    @api.get("/runs/{name}", response_model=RunDetails, responses=_UNKNOWN, tags=["runs"])
    async def run(name: str) -> JsonObject:
        """The configuration of a run, its learning curve and its evaluations."""
        return await quick.run(library.details, name, server.limits.curve_points)


def _step(position: Position, move: str) -> JsonObject:
    following, after = play_move(position, move)
    return _step_answer(position, move, after, following)


def _agent_step(position: Position, agent: WebAgent) -> JsonObject:
    """Play the move that the agent plays in `evaluate`, where it draws chance from the stream of the game."""
    board, stream = position.board, position.stream.copy()
    game = board.game
    with agent.player(game) as player:
        moves = player.play(board, position.score, stream, 1)
    if not moves:
        raise UsageError(f"the game is over: no move is legal on {game.text(board)!r}")
    after, _ = game.slide(board, moves[0].action)
    following = Position(Board(game, moves[0].state), moves[0].score, stream)
    return _step_answer(position, moves[0].action, after, following)


def _step_answer(position: Position, move: str, after: Board, following: Position) -> JsonObject:
    return following.to_json() | {"move": move, "after": after.tiles, "reward": following.score - position.score}


def _advise(board: Board, agent: WebAgent) -> JsonObject:
    game, analysis = board.game, agent.analyse(board)
    return {
        "game": game.spec,
        "agent": agent.spec,
        "board": board.tiles,
        "text": game.text(board),
        "legal": game.legal(board),
        "values": analysis.values,
        "unit": analysis.unit,
        "move": analysis.move,
        "depth": analysis.depth,
        "nodes": analysis.nodes,
        "seconds": analysis.seconds,
    }
