"""Tables of exact values on the web page: those that the server offers, and no other file."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.web.conftest import API
from tests.web.live import PATIENT
from tilewright import load_table, solve
from tilewright.web.app import make_app

GAME = "2048:rows=2,columns=2"


def test_a_table_of_the_server_gives_exact_values_with_their_unit(tmp_path: Path) -> None:
    table = solve(GAME, goal=32, out=tmp_path / "table", threads=1)
    spec = f"exact:table={table.path}"
    with TestClient(make_app(Path("nowhere"), agents=[spec], limits=PATIENT)) as client:
        asked = {"board": "2 2 / 4 0", "game": GAME, "agent": spec}
        advice = client.get(f"{API}/move", params=asked).json()
        assert advice["values"] == load_table(tmp_path / "table").values("2 2 / 4 0")
        assert advice["unit"] == "probability"
        assert client.get(f"{API}/move", params=asked | {"agent": "greedy"}).json()["unit"] == "reward"
        elsewhere = client.get(f"{API}/move", params={"board": "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2", "agent": spec})
        assert elsewhere.status_code in (400, 422)
        assert "cannot play 2048" in elsewhere.json()["reason"]


@pytest.mark.parametrize("agent", ["exact:table=/etc/hostname", "ntuple:endgames=/etc/hostname", "exact"])
def test_a_request_names_no_file(agent: str) -> None:
    with TestClient(make_app(Path("nowhere"), limits=PATIENT)) as client:
        asked = {"board": "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2", "agent": agent}
        found = client.get(f"{API}/move", params=asked)
        assert found.status_code in (400, 422)
        assert "cannot be chosen here" in found.json()["reason"] or "is missing" in found.json()["reason"]
