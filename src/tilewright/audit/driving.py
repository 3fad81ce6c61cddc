"""Driving an engine: the moves, first boards and replays that the checks look at."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tilewright.agents import make_agent
from tilewright.agents.base import Agent
from tilewright.audit.engines import Engine, EngineFactory, View
from tilewright.audit.reading import Reading
from tilewright.audit.rules import Tiles, legal_moves
from tilewright.errors import UsageError
from tilewright.games import make_game

__all__ = ["Evidence", "Transition", "collect_evidence", "replay"]

_ILLEGAL_FRACTION = 0.02  # of the random moves

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Transition:
    """One step of an engine."""

    before: Tiles
    direction: str
    after: Tiles
    reward: float
    is_legal: bool  # by the rules
    mask: dict[str, bool] | None  # the engine's own legal moves after the step
    over: bool
    truncated: bool


@dataclass
class Evidence:
    """Everything that was seen of an engine.

    Attributes:
        transitions: The steps.
        starts: The first boards of games.
        start_masks: The engine's own legal moves on them.
        games: The number of games that were started.
        errors: What the engine raised on illegal moves.
        changed_arrays: The boards that were shown in an array whose content changed later.
        agent_moves: The number of moves that an agent chose.
    """

    transitions: list[Transition] = field(default_factory=list)
    starts: list[Tiles] = field(default_factory=list)
    start_masks: list[dict[str, bool] | None] = field(default_factory=list)
    games: int = 0
    errors: list[str] = field(default_factory=list)
    changed_arrays: list[Tiles] = field(default_factory=list)
    agent_moves: int = 0


class _Driver:
    """Steps one engine, and writes down what it sees."""

    def __init__(self, engine: Engine, reading: Reading, evidence: Evidence, seed: int) -> None:
        self.engine, self.reading, self.evidence = engine, reading, evidence
        self._next_seed = seed
        self.view: View
        self.tiles: Tiles

    def mask(self) -> dict[str, bool] | None:
        """The engine's own legal moves, by direction."""
        if self.view.legal is None or len(self.view.legal) != 4:
            return None
        return dict(zip(self.reading.directions, self.view.legal, strict=True))

    def reset(self) -> None:
        self.view = self.engine.reset(self._next_seed)
        self.tiles = self.reading.tiles(self.view)
        self._next_seed += 1
        self.evidence.games += 1
        self.evidence.starts.append(self.tiles)
        self.evidence.start_masks.append(self.mask())

    def step(self, direction: str, *, is_legal: bool) -> None:
        """Make a move; a game that ends or raises an error is followed by another one."""
        before, shown = self.tiles, self.view.board
        try:
            self.view, reward = self.engine.step(self.reading.directions.index(direction))
        except Exception as error:
            if is_legal:
                raise UsageError(f"the engine raised {type(error).__name__} on a legal move: {error}") from error
            self.evidence.errors.append(type(error).__name__)
            self.reset()
            return
        if self.reading.decode(shown) != before:
            self.evidence.changed_arrays.append(before)
        self.tiles = self.reading.tiles(self.view)
        self.evidence.transitions.append(
            Transition(
                before, direction, self.tiles, reward, is_legal, self.mask(), self.view.over, self.view.truncated
            )
        )
        if self.view.over or self.view.truncated or not self.playable():
            self.reset()

    def playable(self) -> list[str]:
        """The moves that are legal by the rules and by the engine."""
        mask = self.mask()
        return [move for move in legal_moves(self.tiles) if mask is None or mask[move]]


def collect_evidence(
    factory: EngineFactory,
    reading: Reading,
    *,
    moves: int,
    agent: str | Agent,
    agent_moves: int,
    starts: int,
    seed: int,
    progress: Progress = lambda steps: None,
) -> Evidence:
    """Play with an engine.

    Args:
        factory: Makes the engine.
        reading: How to read it.
        moves: The number of random moves; some of them are illegal on purpose.
        agent: Reaches the large tiles that random moves do not.
        agent_moves: The number of its moves; it makes none on boards that are not 4x4.
        starts: The number of additional first boards.
        seed: The seed of the first game, and of the choice of moves.
        progress: Called with the numbers of finished moves.

    Returns:
        What was seen.
    """
    evidence = Evidence()
    driver = _Driver(factory.make(), reading, evidence, seed)
    choices = np.random.default_rng(seed)
    driver.reset()
    for _ in range(moves):
        illegal = [move for move in reading.directions if move not in legal_moves(driver.tiles)]
        if factory.takes_illegal_moves and illegal and choices.random() < _ILLEGAL_FRACTION:
            driver.step(str(choices.choice(illegal)), is_legal=False)
        elif playable := driver.playable():
            driver.step(str(choices.choice(playable)), is_legal=True)
        else:
            driver.reset()
        progress(1)
    if len(driver.tiles) == len(driver.tiles[0]) == 4 and agent_moves:
        _play_agent(driver, make_agent(agent), agent_moves, progress)
    for _ in range(starts):
        driver.reset()
    return evidence


def _play_agent(driver: _Driver, agent: Agent, moves: int, progress: Progress) -> None:
    player = agent.player(make_game("2048"))
    driver.reset()
    for _ in range(moves):
        playable = driver.playable()
        if not playable:
            driver.reset()
            continue
        wanted = player.move(driver.tiles)
        driver.step(wanted if wanted in playable else playable[0], is_legal=True)
        driver.evidence.agent_moves += 1
        progress(1)


def replay(engines: list[Engine], reading: Reading, seed: int, moves: int = 40) -> list[list[Tiles]]:
    """Play the same moves on several engines in turns, all reset with one seed.

    The moves are drawn alike for all seeds, so that only the engine can make games of different seeds differ.

    Returns:
        The boards that each engine has shown.
    """
    choices = np.random.default_rng(0)
    views = [engine.reset(seed) for engine in engines]
    boards = [[reading.tiles(view)] for view in views]
    for _ in range(moves):
        legal = [move for move in legal_moves(boards[0][-1]) if all(_allows(view, reading, move) for view in views)]
        if not legal or any(view.over or view.truncated for view in views):
            break
        action = reading.directions.index(str(choices.choice(legal)))
        views = [engine.step(action)[0] for engine in engines]
        for seen, view in zip(boards, views, strict=True):
            seen.append(reading.tiles(view))
    return boards


def _allows(view: View, reading: Reading, move: str) -> bool:
    return view.legal is None or view.legal[reading.directions.index(move)]
