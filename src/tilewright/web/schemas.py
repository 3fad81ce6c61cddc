"""What goes over the wire, as the OpenAPI description shows it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Advice",
    "AgentEntry",
    "AutoplayRequest",
    "Control",
    "EvaluationRequest",
    "GameEntry",
    "JobStatus",
    "PositionAnswer",
    "Problem",
    "ReviewRequest",
    "RunDetails",
    "RunSummary",
    "Seed",
    "StepAnswer",
    "StepRequest",
    "WatchRequest",
]

Move = Literal["up", "right", "down", "left"]
Values = dict[Move, float]
Seed = Annotated[int, Field(ge=0, lt=2**63, description="the same seed gives the same games")]
Speed = Annotated[float, Field(ge=0, le=1000, description="moves a second; 0 is as fast as it goes")]
_GAME = "the game, as `threes` or `2048:rows=3,four=0.5`"
_AGENT = "the agent, as `heuristic:depth=3` or `ntuple:model=RUN`; without one the strongest there is"


class _Answer(BaseModel):
    pass


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(_Answer):
    """Why something was refused."""

    reason: str


class PositionAnswer(_Answer):
    """A board, what can be played on it, and the chance to come."""

    game: str
    board: list[list[int]]
    code: str = Field(description="the shortest text of the board, as recorded games have it")
    text: str = Field(description="the board row by row")
    notes: dict[str, str] = Field(description="what is known beside the tiles: hint and bag in Threes")
    score: int
    legal: list[Move]
    over: bool
    won: bool
    largest: int
    stream: str = Field(description="the state of the game's random stream; a step takes it back")


class StepAnswer(PositionAnswer):
    """The position after a move."""

    move: Move
    after: list[list[int]] = Field(description="the board before the new tile came")
    earned: int


class Advice(_Answer):
    """What an agent thinks of a board."""

    game: str
    agent: str
    board: list[list[int]]
    text: str
    legal: list[Move]
    values: Values
    move: Move | None = Field(description="the move of the highest value; null when the game is over")
    milliseconds: float


class Option(_Answer):
    name: str
    default: Any
    kind: str


class GameEntry(_Answer):
    """A game, its options, and how its tiles look."""

    name: str
    summary: str
    options: list[Option]
    tiles: list[int] = Field(description="tile values by code; code 0 is the empty cell")
    colours: list[str] = Field(description="backgrounds by code")


class AgentEntry(_Answer):
    """An agent that plays the game; `bounds` are the options that say how far it thinks."""

    spec: str
    name: str
    run: str | None
    summary: str
    bounds: dict[str, dict[str, float | None]]


class JobStatus(_Answer):
    """How far a job is; `result` has the figures of `evaluate --json` or `review --json`."""

    id: str
    kind: Literal["evaluation", "review"]
    state: Literal["waiting", "running", "done", "stopped", "failed"]
    done: int
    total: int
    reason: str
    result: dict[str, Any] | None


class RunSummary(_Answer):
    name: str
    game: str
    player: str = Field(description="the agent that plays its network: player:model=name")
    running: bool
    has_model: bool
    games: int
    seconds: float
    score_mean: float | None


class RunDetails(RunSummary):
    """A run's recipe and its curve; long curves are thinned out."""

    config: str
    curve: list[dict[str, float]]
    tests: list[dict[str, float]]
    stages: list[dict[str, float]]


class StepRequest(_Request):
    """One move from a position: the one given, or that of an agent."""

    game: str = Field("2048", description=_GAME)
    board: str = Field(description="any text that is a board of the game")
    score: int | None = Field(None, description="the score so far")
    stream: str | None = Field(None, description="as the last position had it; always the same chance without")
    move: Move | None = None
    agent: str | None = Field(None, description=_AGENT)


class EvaluationRequest(_Request):
    agent: str | None = Field(None, description=_AGENT)
    game: str = Field("2048", description=_GAME)
    games: int = Field(100, ge=1)
    seed: Seed = 0


class ReviewRequest(_Request):
    recording: str = Field(description="a recorded game: one line of the file that `--record` writes")
    agent: str | None = Field(None, description=_AGENT)
    worst: int = Field(10, ge=0, le=100)


class AutoplayRequest(_Request):
    """The first message of the autoplay socket."""

    game: str = "2048"
    board: str
    score: int | None = None
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
