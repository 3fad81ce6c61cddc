"""Requests and answers as the OpenAPI description shows them."""

from typing import Annotated, Literal, TypeAlias

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from tilewright.agents.base import Unit

__all__ = [
    "Advice",
    "AgentEntry",
    "AutoplayRequest",
    "BoardText",
    "Control",
    "EvaluationRequest",
    "GameDetails",
    "GameEntry",
    "GameSpec",
    "JobStatus",
    "JsonObject",
    "Move",
    "Number",
    "OptionEntry",
    "OutcomesAnswer",
    "OutlookRequest",
    "PositionAnswer",
    "PracticeAnswer",
    "RecordingAnswer",
    "Refusal",
    "ReplayRequest",
    "ReviewRequest",
    "RuleTables",
    "RunDetails",
    "RunSummary",
    "Score",
    "Seed",
    "StatusAnswer",
    "StepAnswer",
    "StepRequest",
    "StepsAnswer",
    "StepsRequest",
    "WatchRequest",
]

JsonObject: TypeAlias = dict[str, object]
Move = Literal["up", "right", "down", "left"]
GameSpec = Annotated[str, Query(description="the game, as `threes` or `2048:rows=3,four=0.5`")]
BoardText = Annotated[str, Query(description="16 numbers row by row, 16 hexadecimal codes, or JSON")]
Seed = Annotated[int, Field(ge=0, lt=2**63, description="the same seed gives the same games")]
Number = Annotated[int, Field(ge=0, lt=2**63, description="the number of the game")]
Score = Annotated[int, Field(ge=0, le=2**53, description="the score so far")]  # every JSON parser reads it exactly
Speed = Annotated[float, Field(ge=0, le=1000, description="moves per second; 0 is as fast as possible")]
_GAME = "the game, as `threes` or `2048:rows=3,four=0.5`"
_AGENT = "the agent, as `heuristic:depth=3` or `ntuple:model=RUN`; by default the strongest one"


class _Answer(BaseModel):
    pass


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Refusal(_Answer):
    """Why a request was refused."""

    reason: str


class PositionAnswer(_Answer):
    """A board, its legal moves, and the random stream of the game."""

    game: str
    board: list[list[int]]
    code: str = Field(description="the shortest text of the board, as in recorded games")
    text: str = Field(description="the board row by row")
    notes: dict[str, str] = Field(description="what the text says besides the tiles: hint and bag in Threes")
    score: int
    legal: list[Move]
    over: bool
    won: bool
    largest: int
    stream: str = Field(description="the state of the game's random stream; send it back with the next step")


class StepAnswer(PositionAnswer):
    """The position after a move."""

    move: Move
    after: list[list[int]] = Field(description="the afterstate: the board before the new tile")
    reward: int


class Advice(_Answer):
    """The values of the moves on a board, and the move that the agent plays, from one search."""

    game: str
    agent: str
    board: list[list[int]]
    text: str
    legal: list[Move]
    values: dict[Move, float]
    unit: Unit = Field(
        description="what the values count: points to the end of the game, the reward of the move alone, the "
        "probability of reaching a goal, or none: they only compare moves"
    )
    move: Move | None = Field(description="the move that the agent plays; null when the game is over")
    depth: int | None = Field(description="the completed depth of the search; null for agents without one")
    nodes: int | None = Field(description="the number of expanded states; null for agents that do not count them")
    seconds: float


class OptionEntry(_Answer):
    """An option of a game."""

    name: str
    default: bool | int | float | str | None
    kind: Literal["bool", "int", "float", "str"]


class GameEntry(_Answer):
    """A game, its options, and how its tiles look."""

    name: str
    summary: str
    options: list[OptionEntry]
    tiles: list[int] = Field(description="tile values by code; code 0 is the empty cell")
    win_tile: int | None = Field(description="the tile that wins the game; null if there is none")
    colours: list[str] = Field(description="backgrounds by code")


class GameDetails(_Answer):
    """One game as it is played, with its options."""

    spec: str
    name: str
    title: str
    variant: str = Field(description="the options that differ from the usual game; empty for the usual one")
    rows: int
    columns: int
    hints: list[str] = Field(description="what a board can say of the next tile; empty where it says nothing")
    example: str = Field(description="a board of the game as text")
    tiles: list[int] = Field(description="tile values by code; code 0 is the empty cell")
    win_tile: int | None = Field(description="the tile that wins the game; null if there is none")
    colours: list[str] = Field(description="backgrounds by code")


class LineTable(_Answer):
    """What becomes of the 65,536 lines of four tile codes that move to their first cell, as base64 of uint16."""

    after: str
    reward_of: str = Field(description="the index of the reward in `rewards`")
    rewards: list[int] = Field(description="-1 where the line after the move has no tile codes below 16")


class SpawnTable(_Answer):
    """New tiles: the code of the first limit above 32 random bits."""

    codes: list[int]
    limits: list[int]


class DeckTable(_Answer):
    """New tiles that are announced: one of each code is drawn from a bag with so many copies, or a bonus tile.

    A bonus tile comes if 32 random bits are below `bonus_limit` and the code of the largest tile is at least
    `bonus_from`. Its largest code is `bonus_step` below that of the largest tile.
    """

    codes: list[int]
    copies: int
    bonus_limit: int
    bonus_from: int
    bonus_step: int
    scores: list[int] = Field(description="the points of a new tile by its code")


class RuleTables(_Answer):
    """The rules of a game as tables; null where they cannot be tables."""

    game: str
    lines: dict[Literal["row", "column"], LineTable] | None
    spawn: SpawnTable | None
    deck: DeckTable | None


class AgentEntry(_Answer):
    """An agent that can play the game; `bounds` are the options that limit its search, with default, min and max."""

    spec: str
    name: str
    run: str | None
    summary: str
    bounds: dict[str, dict[str, float | None]]


class JobStatus(_Answer):
    """The state of a job; `result` has the fields of `evaluate --json` or `review --json`.

    A review also has the `best` move at every position, and the `unit` of the values.
    """

    id: str
    kind: Literal["evaluation", "outlook", "review"]
    state: Literal["waiting", "running", "done", "stopped", "failed"]
    done: int
    total: int
    reason: str
    result: JsonObject | None


class RunSummary(_Answer):
    """A training run."""

    name: str
    game: str
    agent: str = Field(description="the agent that plays its model: AGENT:model=NAME")
    running: bool
    has_model: bool
    games: int
    seconds: float
    score_mean: float | None


class RunDetails(RunSummary):
    """The configuration of a run and its curves; long curves are thinned out."""

    config: str
    curve: list[dict[str, float]]
    evaluations: list[dict[str, float]]
    stages: list[dict[str, float]]


class StepRequest(_Request):
    """One move from a position: a given one, or the move of an agent."""

    game: str = Field("2048", description=_GAME)
    board: str = Field(description="any text that is a board of the game")
    score: Score | None = None
    stream: str | None = Field(None, description="as in the last position; by default always the same one")
    move: Move | None = None
    agent: str | None = Field(None, description=_AGENT)


class StepsRequest(_Request):
    """Several moves from a position, one after the other."""

    game: str = Field("2048", description=_GAME)
    board: str = Field(description="any text that is a board of the game")
    score: Score | None = None
    stream: str | None = Field(None, description="as in the last position; by default always the same one")
    moves: list[Move] = Field(min_length=1, max_length=200)


class StepsAnswer(_Answer):
    """The positions after the moves, as [move, board, score, stream, first letters of the legal moves]."""

    moves: list[tuple[Move, str, int, str, str]]


class StatusAnswer(_Answer):
    """What the server is doing before it answers quickly: loading its kernels, or compiling them, once."""

    ready: bool = Field(description="the kernels of the first questions are loaded")
    compiling: bool = Field(description="kernels are being compiled; the next start loads them")
    seconds: float = Field(description="since the server was started, as long as it is not ready")
    about: float = Field(description="about how many seconds compiling takes in all")


class OutcomesAnswer(_Answer):
    """The afterstate of a move, and what can follow: [board, score, first letters of the legal moves, probability]."""

    game: str
    after: list[list[int]]
    outcomes: list[tuple[str, int, str, float]]


class PracticeAnswer(_Answer):
    """A position to practise, and what its moves are worth."""

    game: str
    code: str
    text: str
    score: int
    legal: list[Move]
    values: dict[Move, float]
    unit: Unit
    agent: str


class ReplayRequest(_Request):
    """A replay of another site."""

    text: str = Field(description="the text of a replay of 2048verse", max_length=500_000)


class RecordingAnswer(_Answer):
    """A recorded game, as a line of a file of `evaluate --record`."""

    recording: str
    moves: int
    score: int


class EvaluationRequest(_Request):
    """Games to play with an agent."""

    agent: str | None = Field(None, description=_AGENT)
    game: str = Field("2048", description=_GAME)
    games: int = Field(100, ge=1)
    seed: Seed = 0


class ReviewRequest(_Request):
    """A recorded game to review with an agent."""

    recording: str = Field(description="a recorded game: one line of a file of `evaluate --record`")
    agent: str | None = Field(None, description=_AGENT)
    worst: int = Field(10, ge=0, le=100, description="the number of worst moves in the result")


class OutlookRequest(_Request):
    """Games to play out from a position."""

    game: str = Field("2048", description=_GAME)
    board: str = Field(description="any text that is a board of the game")
    agent: str | None = Field(None, description=_AGENT)
    games: int = Field(200, ge=1)
    seed: Seed = 0


class AutoplayRequest(_Request):
    """The first message of the autoplay socket."""

    game: str = "2048"
    board: str
    score: Score | None = None
    stream: str | None = None
    agent: str | None = None
    speed: Speed = 5


class WatchRequest(_Request):
    """The first message of the watch socket."""

    agent: str | None = None
    game: str = "2048"
    games: int = Field(100, ge=1)
    seed: Seed = 0
    speed: Speed = 0


class Control(_Request):
    """Any later message of a socket."""

    speed: Speed | None = None
