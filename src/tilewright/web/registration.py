"""Which games and agents a server offers: those that are registered, and nothing else.

A spec may name a class as `module:Class`. Whoever starts the server may import modules in this way; a request may not.
"""

from pathlib import Path

from tilewright._core.files import read_metadata
from tilewright._core.registry import Registry
from tilewright._core.text import with_article
from tilewright.agents import AGENTS
from tilewright.agents.base import Agent
from tilewright.agents.exact import ExactAgent
from tilewright.errors import SpecError
from tilewright.games import GAMES
from tilewright.games.base import Game

__all__ = ["parse_registered", "register_agent", "register_game"]


def parse_registered(
    registry: Registry[Game] | Registry[Agent], spec: str, max_length: int
) -> tuple[str, dict[str, str]]:
    """Split the spec of a request into a registered name and the options as they are written; nothing is imported.

    A class of a registered name may also be written as `module:Class`, as recorded games have it.

    Args:
        registry: The registry of games or of agents.
        spec: The spec.
        max_length: The largest number of characters.

    Raises:
        SpecError: The spec is too long, or its class is not registered.
    """
    if len(spec) > max_length:
        raise SpecError(f"a text of {len(spec):,} characters is not {with_article(registry.kind)}")
    name, words = registry.parse(spec)
    if ":" not in name:
        return name, words
    for known, entry in registry.entries.items():
        if entry.target == name:
            return known, words
    raise SpecError(f"{registry.kind} {name}: this server offers registered {registry.kind}s only")


def register_game(spec: str) -> str:
    """Offer a game to visitors of the page.

    Args:
        spec: A registered name, or `module:Class`.

    Returns:
        The name of the game, which is registered if it was not.

    Raises:
        SpecError: There is no such game, it cannot be played, or its name is the name of another game.
    """
    name, words = GAMES.parse(spec)
    if words:
        raise SpecError(f"game {spec}: give it without options; visitors choose them on the page")
    name = _register(GAMES, name)
    GAMES.make(name).start()
    return name


def register_agent(spec: str) -> str:
    """Offer an agent to visitors of the page.

    Args:
        spec: A registered name or `module:Class`, with or without options.

    Returns:
        The spec of the agent by its name, which is registered if it was not.

    Raises:
        SpecError: There is no such agent or option, or its name is the name of another agent.
        FileError: The agent plays by a table whose file cannot be read.
    """
    name, words = AGENTS.parse(spec)
    agent = AGENTS.make(_register(AGENTS, name), **words)
    if isinstance(agent, ExactAgent) and isinstance(agent.table, str | Path):
        read_metadata(Path(agent.table))  # the checksum of a large table takes long, and waits for the first request
    return agent.spec


def _register(registry: Registry[Game] | Registry[Agent], name: str) -> str:
    if ":" not in name:
        return name
    found = registry.load(name)
    registry.register(found.name, name)
    return found.name
