"""The HTTP API, version 1: board in, move out; games, agents, jobs and runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from tilewright.errors import UsageError
from tilewright.games import GAMES
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.play.recording import parse_line
from tilewright.web.agents import WebAgent, names_a_run
from tilewright.web.coach_api import add_coach
from tilewright.web.games import describe_game, describe_games, read_game
from tilewright.web.positions import Position, entry_of, play_move, read_position, start_position
from tilewright.web.registration import parse_registered
from tilewright.web.rule_tables import rule_tables
from tilewright.web.schemas import (
    Advice,
    AgentEntry,
    BoardText,
    EvaluationRequest,
    GameDetails,
    GameEntry,
    GameSpec,
    JobStatus,
    JsonObject,
    Number,
    OutlookRequest,
    PositionAnswer,
    Refusal,
    ReviewRequest,
    RuleTables,
    RunDetails,
    RunSummary,
    Seed,
    StepAnswer,
    StepRequest,
    StepsAnswer,
    StepsRequest,
)
from tilewright.web.searches import Search
from tilewright.web.state import ServerState

__all__ = ["PREFIX", "make_api"]

PREFIX = "/api/v1"
_Responses = dict[int | str, dict[str, Any]]  # as FastAPI declares them
_REFUSALS: _Responses = {
    400: {"model": Refusal, "description": "the request is not possible"},
    403: {"model": Refusal, "description": "the request comes from another site"},
    405: {"model": Refusal, "description": "the path has other methods: see `Allow`"},
    408: {"model": Refusal, "description": "the body of the request did not come in time"},
    413: {"model": Refusal, "description": "the request is too large"},
    422: {"model": Refusal, "description": "a value is missing or has the wrong type"},
    429: {"model": Refusal, "description": "the server is busy"},
    500: {"model": Refusal, "description": "the agent failed"},
}
_UNKNOWN: _Responses = {404: {"model": Refusal, "description": "there is nothing of that name"}}

AgentSpec = Annotated[str | None, Query(description="the agent, as `heuristic:depth=3`; by default the strongest one")]


def make_api(server: ServerState) -> APIRouter:
    """Return the routes; whatever computes runs on the threads of the server."""
    api = APIRouter(prefix=PREFIX, responses=_REFUSALS)
    _add_games(api, server)
    _add_jobs(api, server)
    _add_runs(api, server)
    add_coach(api, server)
    return api


def _add_games(api: APIRouter, server: ServerState) -> None:
    quick, files = server.executors.quick, server.executors.files

    def game_of(spec: str) -> Game:
        return read_game(spec, server.limits.spec)

    @api.get("/games", response_model=list[GameEntry], operation_id="list_games", tags=["games"])
    async def games() -> list[JsonObject]:
        """The games, their options, and how their tiles look."""
        return await quick.run(describe_games)

    @api.get("/game", response_model=GameDetails, operation_id="describe_game", tags=["games"])
    async def game_details(game: GameSpec = "2048") -> JsonObject:
        """One game as it is played: its size, its tiles, how they look."""
        return await quick.run(lambda: describe_game(game_of(game)))

    @api.get("/rules", response_model=RuleTables, operation_id="list_rules", tags=["games"])
    async def rules(game: GameSpec = "2048") -> JsonObject:
        """The rules of a game as tables, from which a client can make moves without waiting."""
        return await quick.run(lambda: rule_tables(game_of(game)))

    @api.get("/agents", response_model=list[AgentEntry], operation_id="list_agents", tags=["games"])
    async def agents(game: GameSpec = "2048") -> list[JsonObject]:
        """The agents that can play a game: the strongest first, then those of users and of runs."""
        return await files.run(lambda: server.agents.describe(game_of(game)))

    @api.get("/start", response_model=PositionAnswer, operation_id="start_game", tags=["games"])
    async def start(game: GameSpec = "2048", seed: Seed = 0, number: Number = 0) -> JsonObject:
        """The first position of game `number` of a seed: the one that `tilewright evaluate` plays."""
        return await quick.run(lambda: start_position(game_of(game), seed, number).to_json())

    @api.get("/board", response_model=PositionAnswer, operation_id="read_board", tags=["games"])
    async def board(board: BoardText, game: GameSpec = "2048") -> JsonObject:
        """A board in any of its forms, parsed and checked."""
        return await quick.run(lambda: read_position(game_of(game), board).to_json())

    @api.post("/step", response_model=StepAnswer, operation_id="play_step", tags=["games"])
    async def step(request: Request, asked: StepRequest) -> JsonObject:
        """One move from a position: a given one, or the move of an agent."""
        if (asked.move is None) == (asked.agent is None):
            raise UsageError("give either move or agent")
        game = await quick.run(game_of, asked.game)
        position = await quick.run(read_position, game, asked.board, asked.score, asked.stream)
        if asked.move is not None:
            return await quick.run(_step, position, asked.move)
        agent = await server.agent_of(asked.agent, game)
        executor, search = server.executor_for(agent, game, "play"), agent.new_search()
        return await executor.run_search(search, request, _agent_step, position, agent, search)

    @api.post("/steps", response_model=StepsAnswer, operation_id="play_steps", tags=["games"])
    async def steps(request: StepsRequest) -> JsonObject:
        """Several moves from a position."""

        def play_all() -> JsonObject:
            position = read_position(game_of(request.game), request.board, request.score, request.stream)
            entries = []
            for move in request.moves:
                position, _ = play_move(position, move)
                entries.append(entry_of(move, position))
            return {"moves": entries}

        return await quick.run(play_all)

    @api.get("/move", response_model=Advice, operation_id="advise_move", tags=["games"])
    async def move(request: Request, board: BoardText, agent: AgentSpec = None, game: GameSpec = "2048") -> JsonObject:
        """Board in, move out: the values of the legal moves, and the move that the agent plays."""

        def advise_if_quick(chosen: WebAgent | None) -> tuple[Board, WebAgent, JsonObject | None]:
            played = game_of(game)
            parsed, chosen = played.parse_position(board), chosen or server.agents.make(agent, played)
            return parsed, chosen, _advise(parsed, chosen) if chosen.is_quick(played, "analyse") else None

        of_run = await server.agent_of(agent, await quick.run(game_of, game)) if names_a_run(agent) else None
        parsed, chosen, advice = await quick.run(advise_if_quick, of_run)
        if advice is None:
            await server.warm_up_status.until_loaded()
            slow, search = server.executors.slow, chosen.new_search()
            advice = await slow.run_search(search, request, _advise, parsed, chosen, search)
        server.has_advised.set()
        return advice


def _add_jobs(api: APIRouter, server: ServerState) -> None:
    limits = server.limits

    @api.post("/evaluations", response_model=JobStatus, status_code=202, operation_id="start_evaluation", tags=["jobs"])
    async def evaluate(request: EvaluationRequest) -> JsonObject:
        """Play games with an agent; `/jobs/{id}` has the results so far."""
        if request.games > limits.games:
            raise UsageError(f"games={request.games}: at most {limits.games:,} here")

        quick = server.executors.quick
        game = await quick.run(read_game, request.game, limits.spec)
        agent = await server.agent_of(request.agent, game)
        return await quick.run(lambda: server.jobs.evaluate(agent, game, request.games, request.seed).to_json())

    @api.post("/outlooks", response_model=JobStatus, status_code=202, operation_id="start_outlook", tags=["jobs"])
    async def look_ahead(request: OutlookRequest) -> JsonObject:
        """Play games out from a position: the chances of the next tiles; `/jobs/{id}` has the results so far."""
        if request.games > limits.games:
            raise UsageError(f"games={request.games}: at most {limits.games:,} here")

        quick = server.executors.quick
        game = await quick.run(read_game, request.game, limits.spec)
        position = await quick.run(read_position, game, request.board)
        agent = await server.agent_of(request.agent, game)
        return await quick.run(lambda: server.jobs.look_ahead(agent, position, request.games, request.seed).to_json())

    @api.post("/reviews", response_model=JobStatus, status_code=202, operation_id="start_review", tags=["jobs"])
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

    @api.get("/jobs", response_model=list[JobStatus], operation_id="list_jobs", tags=["jobs"])
    async def jobs() -> list[JsonObject]:
        """All jobs that are known, without their results."""
        return [job.to_json() | {"result": None} for job in server.jobs.all()]

    @api.get("/jobs/{id}", response_model=JobStatus, responses=_UNKNOWN, operation_id="get_job", tags=["jobs"])
    async def job(id: str) -> JsonObject:  # noqa: A002  (its name in the path)
        """The state of a job and its result so far."""
        return server.jobs.get(id).to_json()

    @api.delete("/jobs/{id}", response_model=JobStatus, responses=_UNKNOWN, operation_id="stop_job", tags=["jobs"])
    async def stop(id: str) -> JsonObject:  # noqa: A002
        """Stop a job, also within a move."""
        found = server.jobs.get(id)
        found.stop()
        return found.to_json()


def _add_runs(api: APIRouter, server: ServerState) -> None:
    files, library = server.executors.files, server.runs

    @api.get("/runs", response_model=list[RunSummary], operation_id="list_runs", tags=["runs"])
    async def runs() -> list[JsonObject]:
        """The training runs of the runs folder."""
        return await files.run(library.summaries)

    @api.get("/runs/{name}", response_model=RunDetails, responses=_UNKNOWN, operation_id="get_run", tags=["runs"])
    async def run(name: str) -> JsonObject:
        """The configuration of a run, its learning curve and its evaluations."""
        return await files.run(library.details, name)


def _step(position: Position, move: str) -> JsonObject:
    following, after = play_move(position, move)
    return _step_answer(position, move, after, following)


def _agent_step(position: Position, agent: WebAgent, search: Search) -> JsonObject:
    """Play the move that the agent plays in `evaluate`, where it draws chance from the stream of the game."""
    board, stream = position.board, position.stream.copy()
    game = board.game
    with agent.player(game, search) as player:
        moves = player.play(board, position.score, stream, 1)
    agent.note_done(game, "play")
    if not moves:
        raise UsageError(f"the game is over: no move is legal on {game.text(board)!r}")
    after, _ = game.slide(board, moves[0].action)
    following = Position(Board(game, moves[0].state), moves[0].score, stream)
    return _step_answer(position, moves[0].action, after, following)


def _step_answer(position: Position, move: str, after: Board, following: Position) -> JsonObject:
    return following.to_json() | {"move": move, "after": after.tiles, "reward": following.score - position.score}


def _advise(board: Board, agent: WebAgent, search: Search | None = None) -> JsonObject:
    game, analysis = board.game, agent.analyse(board, search)
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
