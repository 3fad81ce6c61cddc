"""A server with a few runs, in this process."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.training.sessions import tiny, train
from tests.web.live import PATIENT, wait_until
from tilewright.web.app import make_app
from tilewright.web.state import ServerState

API = "/api/v1"
BOARD = "2 2 4 0 / 0 0 8 0 / 0 0 16 0 / 2 0 0 32"


def wait_for(client: TestClient, job: str) -> dict[str, Any]:
    """Return a job as soon as it neither waits nor runs."""
    found: dict[str, Any] = {}

    def is_closed() -> bool:
        found.update(client.get(f"{API}/jobs/{job}").json())
        return found["state"] not in ("waiting", "running")

    wait_until(is_closed, pause=time.sleep)
    return found


def state_of(client: TestClient) -> ServerState:
    """Return the state of the server behind a client."""
    server: ServerState = client.app.state.server  # type: ignore[attr-defined]
    return server


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs, of 4x4 and of 3x3 boards, and a file that is no run."""
    folder = tmp_path_factory.mktemp("runs")
    train(tiny(game="2048", games=100), folder / "large")
    train(tiny(games=100), folder / "small")
    (folder / "notes.txt").write_text("not a run")
    return folder


@pytest.fixture(scope="session")
def client(runs: Path) -> Iterator[TestClient]:
    with TestClient(make_app(runs, limits=PATIENT)) as found:
        yield found
