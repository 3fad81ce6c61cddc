"""A server with a few runs, in this process."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.training.sessions import tiny, train
from tilewright.web.app import make_app

API = "/api/v1"
BOARD = "2 2 4 0 / 0 0 8 0 / 0 0 16 0 / 2 0 0 32"


def wait_for(client: TestClient, job: str) -> dict[str, Any]:
    """A job when it is no longer under way."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found: dict[str, Any] = client.get(f"{API}/jobs/{job}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.02)
    raise AssertionError(f"a job takes too long: {found}")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs, of 4x4 and of 3x3 boards, and what is no run at all."""
    folder = tmp_path_factory.mktemp("runs")
    train(tiny(game="2048", games=100), folder / "large")
    train(tiny(games=100), folder / "small")
    (folder / "notes.txt").write_text("not a run")
    return folder


@pytest.fixture(scope="session")
def client(runs: Path) -> Iterator[TestClient]:
    with TestClient(make_app(runs)) as found:
        yield found
