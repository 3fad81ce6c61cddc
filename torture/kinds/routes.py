"""The routes of the web server as it describes them itself, each with an example of a good request."""

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from tilewright.agents import AGENTS
from tilewright.play.replays import read_replay
from tilewright.web.app import make_app
from tilewright.web.sockets import make_sockets

__all__ = ["Route", "Routes", "agent_specs", "fill_path", "list_routes"]

_REPLAY = "replay  !`"  # a game of one move
# By the names of parameters and fields; None where a request is good without it.
_EXAMPLES: dict[str, Any] = {
    "agent": "greedy",
    "board": "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2",
    "game": "2048",
    "games": 2,
    "id": "x",
    "level": "easy",
    "move": "left",
    "moves": ["left"],
    "name": "good",
    "number": 0,
    "recording": read_replay(_REPLAY).to_line(),
    "score": 0,
    "seed": 1,
    "speed": 0,
    "stream": None,
    "table": None,
    "text": _REPLAY,
    "theme": "merge",
    "worst": 1,
}


class Route(NamedTuple):
    """A path with placeholders, its method, and examples of what it takes."""

    method: str
    path: str
    places: dict[str, Any]  # what goes into the path
    query: dict[str, Any]
    body: dict[str, Any] | None


class Routes(NamedTuple):
    """All routes of HTTP, and the paths of the WebSockets."""

    http: list[Route]
    sockets: list[str]


def list_routes(runs: Path) -> Routes:
    """Return the routes of a server with a runs folder; a new parameter needs an example here."""
    app = make_app(runs)
    try:
        description = app.openapi()
        schemas = description["components"]["schemas"]
        found = [
            _route(method.upper(), path, about, schemas)
            for path, methods in description["paths"].items()
            for method, about in methods.items()
        ]
        return Routes(found, [route.path for route in make_sockets(app.state.server).routes])  # type: ignore[attr-defined]
    finally:
        app.state.server.close()


def _route(method: str, path: str, about: dict[str, Any], schemas: dict[str, Any]) -> Route:
    named: dict[str, list[str]] = {"path": [], "query": []}
    for parameter in about.get("parameters", ()):
        named[parameter["in"]].append(parameter["name"])
    body = None
    if "requestBody" in about:
        schema = about["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        body = _examples(path, list(schemas[schema]["properties"]))
    return Route(method, path, _examples(path, named["path"]), _examples(path, named["query"]), body)


def _examples(path: str, names: list[str]) -> dict[str, Any]:
    if unknown := [name for name in names if name not in _EXAMPLES]:
        raise KeyError(f"{path}: there is no example of {', '.join(unknown)}")
    return {name: _EXAMPLES[name] for name in names if _EXAMPLES[name] is not None}


def fill_path(route: Route, places: dict[str, Any]) -> str:
    """Return the path of a route with values in place of its placeholders."""
    quoted = {name: quote(str(value).encode("utf-8", "replace"), safe="") for name, value in places.items()}
    return route.path.format(**quoted)


def agent_specs(run: str) -> list[str]:
    """Return every kind of agent that is installed, with what it plays by itself and with the model of a run."""
    names = AGENTS.available()
    return [*names, *(f"{name}:model={run}" for name in names if "model" in AGENTS.options(name))]
