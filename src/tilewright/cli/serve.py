"""`tilewright serve`: the web page."""

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tilewright.cli import output
from tilewright.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    import socket

__all__ = ["serve_command"]


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=2048, show_default=True, help="0 for any free port.")
@click.option("--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True,
              help="Folder of training runs to show and to play with.")  # fmt: skip
@click.option("--game", "games", multiple=True, metavar="MODULE:CLASS",
              help="Your own game to offer on the page; repeatable.")  # fmt: skip
@click.option("--agent", "agents", multiple=True, metavar="SPEC",
              help="Another agent to offer on the page, such as MODULE:CLASS,OPTION=VALUE; repeatable.")  # fmt: skip
@click.option("--allow-origin", "origins", multiple=True, metavar="URL",
              help="A site whose pages may ask for moves (GET), e.g. https://play2048.co; repeatable.")  # fmt: skip
@click.option("--no-open", "--no-browser", "no_browser", is_flag=True, help="Do not open a browser.")
def serve_command(
    host: str,
    port: int,
    runs: Path,
    games: tuple[str, ...],
    agents: tuple[str, ...],
    origins: tuple[str, ...],
    no_browser: bool,
) -> None:
    """Open the web page: play, ask an agent, review games, compare agents, watch runs.

    The same server answers bots: GET /api/v1/move?board=…&agent=… is "board in, move out", and
    /api/v1/openapi.json describes the rest. Ctrl-C stops it.

    \b
    Examples:
      tilewright serve
      tilewright serve --port 8000 --runs my-runs --no-open
      tilewright serve --game my_games:Fibonacci --agent my_agents:Corner,weight=2
      tilewright serve --allow-origin https://play2048.co
      tilewright serve --host 0.0.0.0
    """
    output.announce_compilation()
    try:
        from tilewright.web.registration import register_agent, register_game
        from tilewright.web.security import check_origin, is_loopback
        from tilewright.web.server import serve, url_of
    except ImportError as error:
        raise MissingExtraError(f"the web page needs {error.name}: pip install 'tilewright[web]'") from None

    for spec in games:
        register_game(spec)
    offered = [register_agent(spec) for spec in agents]
    trusted = [check_origin(origin) for origin in origins]
    listening = _bind(host, port)

    def on_ready() -> None:
        print(f"tilewright is at {url_of(listening)} (Ctrl-C stops it)", flush=True)
        if not is_loopback(host):
            warning = f"it listens on {host}: everybody who can reach this machine can use it"
            print(warning, file=sys.stderr, flush=True)

    is_idle = serve(
        listening, host, runs, agents=offered, origins=trusted, open_browser=not no_browser, on_ready=on_ready
    )
    if is_idle is False:
        _exit_at_once()


def _exit_at_once() -> None:
    """End the process without waiting for threads that compile or search; nothing of theirs is kept."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _bind(host: str, port: int) -> "socket.socket":
    from tilewright.web import server

    try:
        return server.bind(host, port)
    except UsageError as error:
        if getattr(error.__cause__, "errno", None) == errno.EADDRINUSE:
            raise UsageError(f"{error}; choose another port with --port") from None
        raise
