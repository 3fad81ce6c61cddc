"""The example bot plays the game that it says it plays."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.process import environment
from tests.web.live import HANG_SECONDS, listening
from tilewright import Episode, make_agent, make_game

BOT = Path(__file__).parents[2] / "examples" / "bot.py"


def test_the_bot_plays_to_the_end(tmp_path: Path) -> None:
    with listening(tmp_path) as live:
        said = subprocess.run(
            [sys.executable, str(BOT), f"{live.url}/", "minimax:depth=1"],  # as `serve` prints it
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=HANG_SECONDS,
            check=True,
        ).stdout
    episode, agent = Episode(make_game("2048"), seed=7), make_agent("minimax:depth=1")
    while not episode.is_over:
        episode.move(agent.move(episode.board))
    largest = episode.game.largest(episode.board)
    assert said == f"minimax:depth=1: {episode.score:,} points, largest tile {largest:,}\n"


def test_the_bot_says_how_to_start_a_server_if_there_is_none() -> None:
    with socket.socket() as reserved:  # bound and not listening: connections to it are refused
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        ended = subprocess.run(
            [sys.executable, str(BOT), url],
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=HANG_SECONDS,
            check=False,
        )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"{url}: ")
    assert "tilewright serve" in ended.stderr
    assert ended.stderr.count("\n") == 1
