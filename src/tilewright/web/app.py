"""The application: routes, sockets, the page itself, and the guard before them all."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from tilewright import __version__
from tilewright.web.api import PREFIX, make_api
from tilewright.web.errors import add_problems
from tilewright.web.limits import Limits
from tilewright.web.security import Guard
from tilewright.web.sockets import make_sockets
from tilewright.web.state import Site

__all__ = ["make_app"]


def make_app(runs: Path, limits: Limits | None = None, hosts: Iterable[str] | None = None) -> FastAPI:
    """The server for a runs folder; `hosts` are the names it may be called by, or None for any."""
    site = Site(runs, limits or Limits())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = site.lanes.quick.submit(site.warm_up)
        yield
        warming.cancel()
        site.close()

    app = FastAPI(
        title="tilewright",
        version=__version__,
        description="Board in, move out: play, ask, evaluate and review 2048 and Threes.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.site = site
    add_problems(app, site.shelf)
    app.include_router(make_api(site))
    app.include_router(make_sockets(site))
    app.mount("/", StaticFiles(directory=str(resources.files("tilewright.web") / "static"), html=True))
    app.add_middleware(Guard, limits=site.limits, hosts=hosts)
    return app
