"""Specs of games and agents: what is made has a spec that makes an equal object, and can be used at once."""

import functools
import random
import re
from pathlib import Path

from tilewright.agents import AGENTS, make_agent
from tilewright.games import GAMES, make_game
from torture.campaign import Campaign, Case, WrongError, allow_refusal
from torture.mutation import any_number, any_text, any_value, mutate_text, sometimes

__all__ = ["Specs", "random_spec"]

_GOOD = {
    "rows": ("2", "3", "4"),
    "columns": ("2", "3", "4"),
    "four": ("0", "0.1", "1", "0.5"),
    "start_tiles": ("1", "2", "3"),
    "cascade": ("true", "no", "1"),
    "win_tile": ("64", "2048", "131072"),
    "max_tile": ("6", "6144", "12288"),
    "depth": ("1", "2", "3", "12", "none"),
    "ms": ("1", "0.5", "50", "none", "3600000"),
    "limits": ("2-1", "6-5-4", "12-12-12", "1"),
    "prune": ("0", "0.1", "0.999"),
    "table": ("0", "0.5", "4096", "1e-9"),
    "model": ("", "no-such-file", "/dev/null", "."),
    "downgrade_above": ("0", "2048", "32768"),
    "rollouts": ("1", "9", "500"),
    "value": ("score", "sum", "largest"),
    "playout": ("random", "merges", "network"),
    "horizon": ("0", "3", "1000000"),
    "spawn": ("shared", "separate"),
    "threads": ("1", "2"),
    "c": ("0", "1.4", "1e9"),
    "prior": ("", "no-such-file", "/dev/null", "."),
    "endgames": ("", "no-such-file", "/dev/null", "a+b"),
    "invalid": ("never", "random"),
    "device": ("cpu", "auto", "cuda:1"),
}
_WORDS = (":", ",", "=", "rows=", "depth=", "ms=", "=none", "2048:", "threes:", ",,", "::", "lambda")


@functools.cache
def _names(kind: str) -> tuple[str, ...]:
    """Return the names of the games or agents that are installed."""
    return tuple((GAMES if kind == "game" else AGENTS).available())


@functools.cache
def _options(name: str) -> tuple[str, ...]:
    """Return the names of the options of a game or an agent."""
    return tuple((GAMES if name in GAMES else AGENTS).options(name))


def random_spec(chance: random.Random, names: tuple[str, ...]) -> str:
    """Return a spec that begins with one of some names; its options may be anything."""
    name = chance.choice(names)
    options = list(_options(name))
    chance.shuffle(options)
    words = []
    for option in options[: chance.choice((0, 1, 1, 2, 3))]:
        good = sometimes(chance, 0.5)
        value = (
            chance.choice(_GOOD[option])
            if good
            else str(any_number(chance))
            if sometimes(chance, 0.6)
            else any_text(chance)
        )
        words.append(f"{option}={value[:6000]}")
    spec = f"{name}:{','.join(words)}" if words or sometimes(chance, 0.1) else name
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        spec = mutate_text(chance, spec, _WORDS)
    return spec


class Specs(Campaign):
    """Specs of all registered games and agents, as text and as keyword arguments."""

    name = "specs"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.board = make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
        if AGENTS.is_available("dqn"):
            AGENTS.load("dqn")  # PyTorch takes memory, which is not the fault of an input
        for name in ("random", "greedy"):
            make_agent(name).values(self.board)

    def make(self, chance: random.Random) -> Case:
        """Make a spec, and sometimes options beside it."""
        kind = chance.choice(("game", "agent", "agent"))
        names = _names(kind)
        spec = random_spec(chance, names)
        options = {}
        if sometimes(chance, 0.2):
            option = chance.choice(_options(chance.choice(names)) or ("rows",))
            options[option] = any_value(chance)
        return {"kind": kind, "spec": spec, "options": options, "use": sometimes(chance, 0.05)}

    def run(self, case: Case) -> None:
        """Make the object, compare it with that of its own spec, and use it where that costs nothing."""
        if case["kind"] == "game":
            game = make_game(case["spec"], **case["options"])
            if make_game(game.spec) != game:
                raise WrongError(f"round trip: {game.spec!r} makes another game")
            if case["use"]:
                allow_refusal(lambda: game.legal(game.start(seed=1)))
            return
        agent = make_agent(case["spec"], **case["options"])
        readable = all(part == part.strip() for part in re.split("[:,=]", agent.spec))  # a spec has no other spaces
        comparable = readable and AGENTS.parse(agent.spec)[0] in ("heuristic", "minimax", "uct", "montecarlo")
        if comparable and make_agent(agent.spec) != agent:
            raise WrongError(f"round trip: {agent.spec!r} makes another agent")
        if agent.name in ("random", "greedy"):
            agent.values(self.board)
