"""The state of one server: limits, threads, agents, jobs and runs."""

import threading
from collections.abc import Sequence
from pathlib import Path

from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.web.agents import AgentCatalogue, WebAgent, Work, names_a_run
from tilewright.web.executors import BoundedExecutor, Executors
from tilewright.web.jobs import Jobs
from tilewright.web.limits import Limits
from tilewright.web.positions import start_position
from tilewright.web.runs import RunLibrary
from tilewright.web.warm_up import WarmUpStatus

__all__ = ["ServerState"]

_WARM_GAMES = ("2048", "threes")  # whose kernels are loaded at the start


class ServerState:
    """What all requests of one server share; the games of clients are not part of it.

    Attributes:
        limits: The limits.
        executors: The threads.
        runs: The training runs.
        agents: The agents that clients may choose.
        jobs: The jobs of all clients.
        open_sockets: The number of open WebSockets.
        warm_up_status: Whether the kernels of the first answers are there.
        has_advised: Set when a first move was advised.
    """

    def __init__(self, runs: Path, limits: Limits, agents: Sequence[str] = ()) -> None:
        """Start the threads.

        Args:
            runs: The folder of training runs.
            limits: The limits.
            agents: Specs of agents to offer in addition to all registered ones.
        """
        self.limits = limits
        self.executors = Executors(limits)
        self.runs = RunLibrary(runs, limits)
        self.agents = AgentCatalogue(self.runs, limits, agents)
        self.jobs = Jobs(self.executors.jobs, limits, self.runs.hide_paths)
        self.open_sockets = 0
        self.warm_up_status = WarmUpStatus()
        self.has_advised = threading.Event()
        self._is_closed = False

    def executor_for(self, agent: WebAgent, game: Game, work: Work, *, has_player: bool = False) -> BoundedExecutor:
        """Return the threads for the work of an agent, see `WebAgent.is_quick`."""
        return self.executors.quick if agent.is_quick(game, work, has_player=has_player) else self.executors.slow

    async def agent_of(self, spec: str | None, game: Game) -> WebAgent:
        """Return the agent of a spec; the runs folder is only read on the threads whose disk may be slow."""
        executor = self.executors.files if names_a_run(spec) else self.executors.quick
        return await executor.run(self.agents.make, spec, game)

    def warm_up(self) -> None:
        """Load or compile the kernels that the first request needs, and those of the other games after its answer."""
        first, *others = _WARM_GAMES
        with self.warm_up_status:
            self._load_kernels(first)
        self.has_advised.wait(self.limits.warm_up_seconds)  # compiling takes time from the request that waits
        for name in others:
            if not self._is_closed:
                self._load_kernels(name)

    def _load_kernels(self, name: str) -> None:
        game = make_game(name)
        position = start_position(game, 0, 0)
        position.to_json()
        self.agents.make(None, game).analyse(position.board)

    def close(self) -> None:
        """Stop all jobs and threads."""
        self._is_closed = True
        self.has_advised.set()
        self.jobs.close()
        self.executors.close()
