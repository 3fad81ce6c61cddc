"""The agents that a visitor may choose: which there are, how far they may think, and models by the name of a run."""

import dataclasses
from pathlib import Path
from typing import Any

from tilewright.agents import AGENTS
from tilewright.agents.base import Agent
from tilewright.agents.defaults import NETWORK_AGENTS, ready_agents
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.web.limits import Limits
from tilewright.web.runs import RunShelf

__all__ = ["Player", "Players"]

_QUICK = {"random", "greedy", "ntuple"}  # one look at the board
_REMEMBERED = 256  # players that need not be made again
_BOUNDED = ("depth", "ms", "rollouts")
_HARMLESS = {"model", "downgrade_above", "value", "prune", "c"}  # options that neither take long nor name a file


@dataclasses.dataclass(frozen=True)
class Player:
    """An agent, and the spec that a visitor knows it by."""

    agent: Agent
    spec: str

    @property
    def is_there(self) -> bool:
        """Whether its model, if it has one, has not gone."""
        model = getattr(self.agent, "model", "")
        return not model or Path(model).is_file()

    @property
    def is_quick(self) -> bool:
        return self.agent.name in _QUICK


def _can_be_made(name: str) -> bool:
    """Whether what an agent needs is installed."""
    return AGENTS.is_available(name)


class Players:
    """Makes agents out of visitors' specs."""

    def __init__(self, shelf: RunShelf, limits: Limits) -> None:
        self._shelf, self._limits = shelf, limits
        self._made: dict[str, Player] = {}  # by spec: bots ask for the same one again and again

    def make(self, spec: str | None, game: Game) -> Player:
        """The player of a spec, or without one the strongest there is; raises SpecError or UsageError."""
        if spec is None or not spec.strip():
            spec = ready_agents(game)[0]
        known = self._made.get(spec)
        if known is None or not known.is_there:
            known = self._make(spec)
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            self._made[spec] = known
        return known

    def _make(self, spec: str) -> Player:
        if len(spec) > self._limits.spec:
            raise SpecError(f"a text of {len(spec):,} characters is no agent")
        AGENTS.check_imported(spec)
        name, words = AGENTS.parse(spec)
        known = AGENTS.options(name)
        for option in words:
            if option in known and option not in _HARMLESS.union(_BOUNDED):
                raise SpecError(f"agent {name}: the option {option} cannot be chosen here")
        run = words.get("model", "")
        if run:
            words["model"] = str(self._shelf.model(run))
        agent = AGENTS.make(name, **words)
        self._check_bounds(agent)
        return Player(agent, dataclasses.replace(agent, model=run).spec if run else agent.spec)  # type: ignore[call-arg]

    def _check_bounds(self, agent: Agent) -> None:
        for option in _BOUNDED:
            value, most = getattr(agent, option, None), getattr(self._limits, option)
            if value is not None and value > most:
                raise SpecError(f"agent {agent.name}, option {option}={value}: at most {most:,} here")

    def specs(self, game: Game) -> list[str]:
        """The agents that can play a game, the strongest first, then those of the runs."""
        runs = [
            f"{name}:model={run}"
            for run, player in self._shelf.models_for(game).items()
            for name in (NETWORK_AGENTS if player in NETWORK_AGENTS else (player,))
            if _can_be_made(name)
        ]
        return ready_agents(game) + runs

    def listing(self, game: Game) -> list[dict[str, Any]]:
        """What a visitor chooses from."""
        return [self._describe(spec) for spec in self.specs(game)]

    def _describe(self, spec: str) -> dict[str, Any]:
        name, words = AGENTS.parse(spec)
        options = {option.name: option.default for option in AGENTS.options(name).values()}
        bounds = {
            option: {"default": options[option], "most": getattr(self._limits, option)}
            for option in _BOUNDED
            if option in options
        }
        return {
            "spec": spec,
            "name": name,
            "run": words.get("model"),
            "summary": AGENTS.summary(name),
            "bounds": bounds,
        }
