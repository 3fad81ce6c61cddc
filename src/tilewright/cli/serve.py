"""`tilewright serve`: the web page."""

import sys
from pathlib import Path

import click

from tilewright.agents import AGENTS
from tilewright.cli import output
from tilewright.errors import MissingExtraError
from tilewright.games import GAMES

__all__ = ["serve_command"]


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; only this machine by default.")
@click.option("--port", type=click.IntRange(0, 65535), default=2048, show_default=True, help="0 takes any free port.")
@click.option("--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True,
              help="The folder of training runs to show, and of models to play with.")  # fmt: skip
@click.option("--game", "games", multiple=True, metavar="MODULE:CLASS", help="Offer a game of your own, too.")
@click.option("--agent", "agents", multiple=True, metavar="MODULE:CLASS", help="Offer an agent of your own, too.")
@click.option("--no-open", "--no-browser", "quiet", is_flag=True, help="Do not open a browser.")
def serve_command(
    host: str, port: int, runs: Path, games: tuple[str, ...], agents: tuple[str, ...], quiet: bool
) -> None:
    """Open the web page: play, ask an agent, review games, compare agents, watch runs.

    The same server answers bots: GET /api/v1/move?board=…&agent=… is "board in, move out", and
    /api/v1/openapi.json describes the rest. Ctrl-C stops it.

    \b
    Examples:
      tilewright serve
      tilewright serve --port 8000 --runs my-runs --no-open
      tilewright serve --host 0.0.0.0
      tilewright serve --game my_games:MyGame --agent my_agents:MyAgent
    """
    for target in games:
        GAMES.register(GAMES.load(target).name, target)
    for target in agents:
        AGENTS.register(AGENTS.load(target).name, target)
    output.announce_compilation()
    try:
        from tilewright.web.security import is_loopback
        from tilewright.web.server import bind, serve, url_of
    except ImportError as error:
        raise MissingExtraError(f"the web page needs {error.name}: pip install 'tilewright[web]'") from None

    listening = bind(host, port)

    def ready() -> None:
        print(f"tilewright is at {url_of(listening)} (Ctrl-C stops it)", flush=True)
        if not is_loopback(host):
            print(f"it listens on {host}: everybody who can reach this machine can use it", file=sys.stderr, flush=True)

    serve(listening, host, runs, open_browser=not quiet, ready=ready)
