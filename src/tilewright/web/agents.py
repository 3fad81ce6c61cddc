"""The agents of the server: specs of requests, limits of their options, and players that are kept between requests."""

import dataclasses
import logging
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from tilewright._core.options import Option
from tilewright.agents import AGENTS
from tilewright.agents.base import Agent, Analysis, Player
from tilewright.agents.defaults import NETWORK_AGENTS, ready_agents
from tilewright.errors import FileError, SpecError, TilewrightError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.web.limits import Limits
from tilewright.web.registration import parse_registered
from tilewright.web.runs import RunLibrary
from tilewright.web.schemas import JsonObject
from tilewright.web.searches import Search

__all__ = ["AgentCatalogue", "AgentFailedError", "WebAgent", "Work", "log_failure", "names_a_run"]

Work: TypeAlias = Literal["analyse", "play"]  # each has kernels of its own

_QUICK = {"random", "greedy", "ntuple", "exact"}  # agents that do not search
_MAX_AGENTS = 64  # that are kept with their players
_MAX_IDLE = 8  # players that one agent keeps
_BOUNDED = ("depth", "ms", "rollouts")  # options with a limit
_FREE = {"model", "downgrade_above", "value", "prune", "c"}  # options that neither take long nor name a file

_log = logging.getLogger(__name__)


class AgentFailedError(TilewrightError):
    """An agent raised an error of its own, or returned values that cannot be."""


def log_failure(error: TilewrightError) -> None:
    """Log an error of an agent's own code with its traceback, for the author of the agent."""
    if isinstance(error, AgentFailedError) and error.__cause__ is not None:
        _log.warning("%s", error, exc_info=error.__cause__)


class WebAgent:
    """An agent, the spec that clients know it by, and its idle players.

    A player keeps its policy and its transposition table from one request to the next. It serves one request at a time.
    """

    def __init__(self, agent: Agent, spec: str, max_seconds: float, model_file: Path | None = None) -> None:
        """Wrap an agent.

        Args:
            agent: The agent.
            spec: Its spec with the name of a run instead of the path of a model.
            max_seconds: The time that one search may take.
            model_file: The model of the run, if it plays one.
        """
        self.agent, self.spec, self._max_seconds = agent, spec, max_seconds
        self._model_file, self._model_version = model_file, _version(model_file)
        self._idle: list[Player] = []
        self._lock = threading.Lock()
        self._done: set[tuple[str, Work]] = set()  # games by name, and what was done in them

    @property
    def is_current(self) -> bool:
        """Whether the file of its model, if it has one, is still the same."""
        return self._model_version == _version(self._model_file)

    def is_quick(self, game: Game, work: Work, *, has_player: bool = False) -> bool:
        """Whether the work is quick for certain: it needs no search, and its model and kernels are loaded.

        Args:
            game: The game.
            work: What a player is to do.
            has_player: Whether there is a player for it; otherwise one must be idle, as a new one may load its model.
        """
        is_loaded = self.agent.name in _QUICK and (game.name, work) in self._done
        return is_loaded and (has_player or self._has_idle(game))

    def note_done(self, game: Game, work: Work) -> None:
        """Note that the work was done once; the first time loads the model and compiles kernels."""
        self._done.add((game.name, work))

    def new_search(self) -> Search:
        """Return the control of a search that may take as long as the agent is allowed to."""
        return Search(self._max_seconds)

    @contextmanager
    def player(self, game: Game, search: Search | None = None, *others: type[Exception]) -> Iterator[Player]:
        """Lend a player for one thread; errors of the agent's own code become AgentFailedError.

        Args:
            game: The game to play.
            search: Stops the player; a player that was stopped is not lent again.
            others: Errors that are not those of the agent.
        """
        search = search or self.new_search()
        with self.reporting_failures(*others):
            player = self._take(game) or self.agent.player(game)
            with search.using(player):
                yield player
        if not player.is_stopped:  # which may happen just after its last search
            with self._lock:
                self._idle.append(player)
                del self._idle[:-_MAX_IDLE]

    def _has_idle(self, game: Game) -> bool:
        with self._lock:
            return any(player.game == game for player in self._idle)

    def _take(self, game: Game) -> Player | None:
        with self._lock:
            for i in reversed(range(len(self._idle))):
                if self._idle[i].game == game:
                    return self._idle.pop(i)
        return None

    @contextmanager
    def reporting_failures(self, *others: type[Exception]) -> Iterator[None]:
        """Raise AgentFailedError instead of errors of the agent's own code; `others` are not its errors.

        An agent of this package fails because of the model that a run has: that is a FileError.
        """
        passed_on: tuple[type[Exception], ...] = (TilewrightError, *others)
        try:
            yield
        except passed_on:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            if self._model_file is not None:
                raise FileError(f"agent {self.spec}: the model of the run cannot be played: {reason}") from error
            raise AgentFailedError(f"agent {self.spec} failed: {reason}") from error

    def analyse(self, board: Board, search: Search | None = None) -> Analysis:
        """Search once, and return the values of all moves and the move that the agent plays.

        Args:
            board: The board.
            search: Stops the search.

        Raises:
            AgentFailedError: The agent raised an error, or a value is not a finite number.
            SearchStoppedError: The search was stopped.
        """
        with self.player(board.game, search) as player:
            analysis = player.analyse(board)
            values = {move: float(value) for move, value in analysis.values.items()}
        self.note_done(board.game, "analyse")
        for move, value in values.items():
            if not math.isfinite(value):
                raise AgentFailedError(f"agent {self.spec} failed: the value of {move} is {value}, no finite number")
        return dataclasses.replace(analysis, values=values)


def names_a_run(spec: str | None) -> bool:
    """Return whether a spec may name a model of the runs folder, so that making its agent may read the folder."""
    return spec is not None and re.search(r"\bmodel\s*=", spec) is not None


def _version(file: Path | None) -> tuple[int, int]:
    """Return the time at which a file was last written, and its size; zeros if there is none."""
    try:
        found = None if file is None else file.stat(follow_symlinks=False)
    except OSError:
        found = None
    return (0, 0) if found is None else (found.st_mtime_ns, found.st_size)


class AgentCatalogue:
    """The agents that clients may choose.

    These are all registered agents, the models of all runs, and the specs that the server was started with. Of the
    options, clients choose those that cannot take long; the offered specs are taken as they are.
    """

    def __init__(self, runs: RunLibrary, limits: Limits, offered: Sequence[str] = ()) -> None:
        """Make a catalogue.

        Args:
            runs: The training runs, whose models agents play.
            limits: The limits of the server.
            offered: Specs of registered agents, with options that clients could not choose.
        """
        self._runs, self._limits = runs, limits
        self._offered = [AGENTS.parse(spec) for spec in offered]
        self._offered_specs = list(offered)
        self._made: OrderedDict[str, WebAgent] = OrderedDict()
        self._lock = threading.Lock()

    def make(self, spec: str | None, game: Game) -> WebAgent:
        """Return the agent of a spec, with the players that it kept; without a spec, the default agent of the game.

        Raises:
            SpecError: There is no such agent or option, or an option is beyond its limit.
            UsageError: A run has no model.
        """
        if spec is None or not spec.strip():
            spec = ready_agents(game)[0]
        with self._lock:
            found = self._made.get(spec)
            if found is not None and found.is_current:
                self._made.move_to_end(spec)
                return found
        found = self._make(spec)
        with self._lock:
            self._made[spec] = found
            while len(self._made) > _MAX_AGENTS:
                self._made.popitem(last=False)
        return found

    def _make(self, spec: str) -> WebAgent:
        name, words = parse_registered(AGENTS, spec, self._limits.spec)
        if (name, words) in self._offered:
            agent = AGENTS.make(name, **words)
            return WebAgent(agent, agent.spec, self._limits.job_seconds)
        known = AGENTS.options(name)
        for option in words:
            if option in known and option not in _FREE.union(_BOUNDED):
                raise SpecError(f"agent {name}: the option {option} cannot be chosen here")
        run = words.get("model", "")
        file = self._runs.model_file(run) if run else None
        agent = AGENTS.make(name, **words | ({"model": str(file)} if file else {}))
        for option in _BOUNDED:
            value, limit = getattr(agent, option, None), getattr(self._limits, option)
            if isinstance(value, int | float) and value > limit:
                raise SpecError(f"agent {agent.name}, option {option}={value}: at most {limit:,} here")
        shown = dataclasses.replace(agent, model=run).spec if run else agent.spec  # type: ignore[call-arg]
        return WebAgent(agent, shown, self._limits.search_seconds, file)

    def specs(self, game: Game) -> list[str]:
        """Return the specs of the agents that can play a game: the strongest first, then those of users and of runs."""
        ready = [name for name in ready_agents(game) if AGENTS.is_available(name) and not _needs_options(name)]
        runs = [
            f"{name}:model={run}"
            for run, agent in self._runs.agents_for(game).items()
            for name in (NETWORK_AGENTS if agent in NETWORK_AGENTS else (agent,))
            if AGENTS.is_available(name) and _is_spec(f"{name}:model={run}", run, self._limits.spec)
        ]
        return list(dict.fromkeys((*ready, *self._offered_specs, *runs)))

    def describe(self, game: Game) -> list[JsonObject]:
        """Describe the agents that can play a game, in the order of `specs`."""
        return [self._describe(spec) for spec in self.specs(game)]

    def _describe(self, spec: str) -> JsonObject:
        name, words = AGENTS.parse(spec)
        options, offered = AGENTS.options(name), spec in self._offered_specs
        bounds = {
            option: self._bounds(options[option])
            for option in _BOUNDED
            if option in options and not (offered and words)
        }
        run = None if offered else words.get("model")
        return {"spec": spec, "name": name, "run": run, "summary": AGENTS.summary(name), "bounds": bounds}

    def _bounds(self, option: Option) -> JsonObject:
        """Return the default of an option and its least and largest value here; None where there is no such value."""
        limit, own = getattr(self._limits, option.name), option.range
        least, largest = (None, limit) if own is None else (own.least, min(limit, own.largest))
        return {"default": option.default, "min": least, "max": largest}


def _is_spec(spec: str, run: str, max_length: int) -> bool:
    """Return whether a spec reads back: the folder of a run may have any name, also one with a comma."""
    try:
        return len(spec) <= max_length and AGENTS.parse(spec)[1] == {"model": run}
    except SpecError:
        return False


def _needs_options(name: str) -> bool:
    return any(option.is_required for option in AGENTS.options(name).values())
