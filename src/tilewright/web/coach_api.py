"""Routes of the API that the page as a coach uses: practice positions, replays of other sites, outcomes of a move."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.twenty48 import Twenty48
from tilewright.play.recording import state_text
from tilewright.play.replays import read_replay
from tilewright.web.agents import WebAgent
from tilewright.web.games import read_game
from tilewright.web.positions import read_position
from tilewright.web.practice import Level, Theme, find_position, find_table_position
from tilewright.web.schemas import (
    BoardText,
    GameSpec,
    JsonObject,
    Move,
    OutcomesAnswer,
    PracticeAnswer,
    RecordingAnswer,
    ReplayRequest,
    Score,
    Seed,
    StatusAnswer,
)
from tilewright.web.state import ServerState

__all__ = ["add_coach"]

_PLAYER, _JUDGE = "ntuple", "expectimax:depth=2"  # of practice positions
TableSpec = Annotated[str | None, Query(description="for endgames: the agent with the table, as exact:table=FILE")]


def add_coach(api: APIRouter, server: ServerState) -> None:
    """Add the routes to the API."""
    quick, slow, limits = server.executors.quick, server.executors.slow, server.limits

    @api.get("/status", response_model=StatusAnswer, operation_id="get_status", tags=["games"])
    async def status() -> JsonObject:
        """Whether the server is ready, or still compiles its kernels, and for how long."""
        return server.warm_up_status.to_json()

    @api.get("/outcomes", response_model=OutcomesAnswer, operation_id="list_outcomes", tags=["games"])
    async def outcomes(board: BoardText, move: Move, game: GameSpec = "2048", score: Score | None = None) -> JsonObject:
        """The board after a slide, and every board that can follow it with its probability."""
        return await quick.run(lambda: _outcomes(read_game(game, limits.spec), board, move, score))

    @api.post("/replays", response_model=RecordingAnswer, operation_id="read_replay", tags=["games"])
    async def replays(request: ReplayRequest) -> JsonObject:
        """A replay of 2048verse as a recorded game, checked move by move."""
        recording = await slow.run(read_replay, request.text)
        return {"recording": recording.to_line(), "moves": len(recording.actions), "score": recording.score}

    @api.get("/practice", response_model=PracticeAnswer, operation_id="find_practice", tags=["games"])
    async def practice(
        request: Request, theme: Theme, level: Level = "medium", seed: Seed = 0, table: TableSpec = None
    ) -> JsonObject:
        """A position to practise: of a theme, and as difficult as wanted."""
        game = Twenty48()
        if theme == "endgame":
            agent = await server.executors.files.run(_table_agent, server, table, game)
            return await slow.run(find_table_position, agent, level, seed)
        player, judge = await quick.run(lambda: [server.agents.make(name, game) for name in (_PLAYER, _JUDGE)])
        search = judge.new_search()
        return await slow.run_search(search, request, find_position, player, judge, game, theme, level, seed, search)


def _table_agent(server: ServerState, spec: str | None, game: Game) -> WebAgent:
    """Return an agent with a table: the one that is asked for, or the first that the server has."""
    tables = [found for found in server.agents.specs(game) if found.partition(":")[0] == "exact"]
    if spec is None and not tables:
        raise UsageError("this server has no table of endgames")
    return server.agents.make(spec or tables[0], game)


def _outcomes(game: Game, text: str, move: str, score: int | None) -> JsonObject:
    position = read_position(game, text, score)
    after, reward = game.slide(position.board, move)
    earned = position.score + reward - game.board_score(after)  # new tiles have points where a board has points itself

    def entry(board: Board, probability: float) -> list[object]:
        legal = "".join(action[0] for action in game.legal(board))
        return [state_text(game, board.state), earned + game.board_score(board), legal, probability]

    return {"game": game.spec, "after": after.tiles, "outcomes": [entry(*found) for found in game.outcomes(after)]}
