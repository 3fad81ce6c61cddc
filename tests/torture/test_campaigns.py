"""A slice of every campaign that runs in one process: nothing fails."""

import random
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.torture.test_pool import worker_environment
from tilewright.web.app import make_app
from torture.campaign import KINDS, judge, load_campaign
from torture.kinds.routes import fill_path, list_routes
from torture.pool import run_campaign
from torture.tensor_files import mutated_file, sealed
from torture.worker import input_of

# How many inputs take about a second, and how many of its models, agents or commands a campaign uses: those whose
# kernels other tests compile, too.
SLICES = {
    "boards": (300, None),
    "specs": (500, None),
    "configs": (200, None),
    "commands": (40, 2),
    "recordings": (100, None),
    "replays": (100, None),
    "models": (60, 1),
    "deep-models": (40, None),
    "checkpoints": (30, 1),
    "deep-checkpoints": (10, 1),
    "positions": (20, 1),
    "fetches": (40, None),
    "tables": (40, 1),
    "stores": (20, None),
    "run-folders": (30, None),
    "environments": (80, 2),
    "kernels": (100, 3),
}
FORKING = {"kills": "SmallKills", "full-disk": "SmallFullDisk", "two-processes": "SmallTwoProcesses"}


@pytest.mark.parametrize("kind", SLICES)
def test_a_slice_of_it_finds_nothing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, parts = SLICES[kind]
    found = load_campaign(kind)
    monkeypatch.setattr(found, "parts", slice(parts))
    monkeypatch.chdir(tmp_path)
    campaign = found(tmp_path)
    try:
        for number in range(inputs):
            case = input_of(campaign, kind, 2026, number)
            verdict = judge(campaign, case)
            assert verdict.outcome != "failed", f"{kind} {number}: {verdict.problem}\n{str(case)[:2000]}"
    finally:
        campaign.finish()


@pytest.mark.parametrize("name", FORKING.values())
def test_a_slice_of_a_campaign_that_forks_finds_nothing(name: str, tmp_path: Path) -> None:
    """In a process of its own, because forking this one, which has threads, is not safe."""
    tally = run_campaign(
        f"tests.torture.small:{name}",
        seed=7,
        seconds=600,
        inputs=3,
        folder=tmp_path / "work",
        failures=tmp_path / "failures",
        environment=worker_environment(),
    )
    assert [failure.problem for failure in tally.failures] == []
    assert tally.accepted == 3


def test_every_kind_has_a_slice_or_a_test_of_its_own() -> None:
    others = {
        "requests",
        "deep-kills",
        "ray-kills",
    }  # tests/web, tests/deep and tests/_core/test_cluster.py do the same
    assert set(KINDS) - set(SLICES) - set(FORKING) == others


def test_every_route_of_the_server_has_a_good_example(tmp_path: Path) -> None:
    """The campaign of requests loads with them whatever the server loads on first use."""
    found = list_routes(tmp_path)
    with TestClient(make_app(tmp_path)) as client:
        for route in found.http:
            body = None if route.body is None else {key: route.body[key] for key in route.body if key != "agent"}
            answer = client.request(route.method, fill_path(route, route.places), params=route.query, json=body)
            unknown = {404} if route.places else set()
            assert answer.status_code in {200, 202} | unknown, (route, answer.text)
    assert {"/api/v1/autoplay", "/api/v1/watch"} <= set(found.sockets)


@pytest.mark.parametrize("kind", ["boards", "specs", "configs"])
def test_an_input_depends_on_its_number_alone(kind: str, tmp_path: Path) -> None:
    first, second = load_campaign(kind)(tmp_path), load_campaign(kind)(tmp_path)
    made = [input_of(first, kind, 1, number) for number in range(20)]
    random.seed(5)
    assert repr([input_of(second, kind, 1, number) for number in reversed(range(20))][::-1]) == repr(made)
    assert repr(input_of(first, kind, 2, 0)) != repr(made[0])


def test_files_whose_metadata_is_broken_json_are_changed_further() -> None:
    """An earlier change may have broken it."""
    content = sealed({"__metadata__": {"progress": '{"games": 1', "patterns": "[" * 5000}}, b"")
    changed = {mutated_file(random.Random(number), content) for number in range(100)}
    assert len(changed) > 20
