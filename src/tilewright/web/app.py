"""The application: routes, sockets, the page, and the checks before them."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from tilewright import __version__
from tilewright.web.api import PREFIX, make_api
from tilewright.web.errors import add_error_handlers
from tilewright.web.limits import Limits
from tilewright.web.security import SecurityMiddleware
from tilewright.web.sockets import make_sockets
from tilewright.web.state import ServerState

__all__ = ["make_app"]


def make_app(
    runs: Path,
    limits: Limits | None = None,
    hosts: Iterable[str] | None = None,
    agents: Sequence[str] = (),
    origins: Iterable[str] = (),
) -> FastAPI:
    """Make the application; its `state.server` is the ServerState.

    Args:
        runs: The folder of training runs.
        limits: The limits; None for the usual ones.
        hosts: The host names that requests may use; None for any.
        agents: Specs of agents to offer in addition to all registered ones.
        origins: The origins of other sites whose pages may read from the API.
    """
    server = ServerState(runs, limits or Limits(), agents)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = server.executors.quick.submit(server.warm_up)
        yield
        warming.cancel()
        server.close()

    app = FastAPI(
        title="tilewright",
        version=__version__,
        description="Board in, move out: play, ask, evaluate and review 2048 and Threes.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.server = server
    api = make_api(server)
    add_error_handlers(app, api.routes, server.runs)
    app.include_router(api)
    app.include_router(make_sockets(server))
    app.mount("/", StaticFiles(directory=str(resources.files("tilewright.web") / "static"), html=True))
    app.add_middleware(SecurityMiddleware, limits=server.limits, hosts=hosts, origins=origins)
    app.openapi = partial(_describe, app, server.limits)  # type: ignore[method-assign]
    return app


def _describe(app: FastAPI, limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI description with the limits of this server."""
    if app.openapi_schema is None:
        description = FastAPI.openapi(app)
        for request in ("EvaluationRequest", "OutlookRequest"):
            description["components"]["schemas"][request]["properties"]["games"]["maximum"] = limits.games
    return app.openapi_schema or {}
