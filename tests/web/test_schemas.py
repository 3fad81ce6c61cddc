"""Whatever is sent to the routes of the OpenAPI description, the server never fails."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from tests.web.conftest import API
from tests.web.live import HANG_SECONDS, listening
from tilewright.web.limits import Limits

ROUTES = {
    f"GET {API}/games",
    f"GET {API}/game",
    f"GET {API}/rules",
    f"GET {API}/agents",
    f"GET {API}/start",
    f"GET {API}/board",
    f"GET {API}/move",
    f"POST {API}/step",
    f"POST {API}/steps",
    f"POST {API}/outlooks",
    f"POST {API}/evaluations",
    f"POST {API}/reviews",
    f"GET {API}/jobs",
    f"GET {API}/jobs/{{id}}",
    f"DELETE {API}/jobs/{{id}}",
    f"GET {API}/runs",
    f"GET {API}/runs/{{name}}",
    f"GET {API}/status",
    f"GET {API}/outcomes",
    f"POST {API}/replays",
    f"GET {API}/practice",
}


@pytest.fixture(scope="module")
def operations(runs: Path) -> Iterator[dict[str, Any]]:
    with listening(runs, Limits(games=5, job_seconds=1)) as live:
        found: list[Any] = list(schemathesis.openapi.from_url(f"{live.url}{API}/openapi.json").get_all_operations())
        yield {operation.ok().label: operation.ok() for operation in found}


def test_the_description_has_every_route(operations: dict[str, Any]) -> None:
    assert operations.keys() == ROUTES


def test_every_operation_has_a_name_of_its_own(client: TestClient) -> None:
    paths = client.get(f"{API}/openapi.json").json()["paths"]
    names = {operation["operationId"] for methods in paths.values() for operation in methods.values()}
    assert names == {
        "list_games",
        "describe_game",
        "list_rules",
        "list_agents",
        "start_game",
        "read_board",
        "play_step",
        "play_steps",
        "start_outlook",
        "advise_move",
        "start_evaluation",
        "start_review",
        "list_jobs",
        "get_job",
        "stop_job",
        "list_runs",
        "get_run",
        "get_status",
        "list_outcomes",
        "read_replay",
        "find_practice",
    }


def test_every_number_of_a_request_has_a_minimum_and_a_maximum(client: TestClient) -> None:
    description = client.get(f"{API}/openapi.json").json()
    parameters = [
        (parameter["name"], parameter["schema"])
        for methods in description["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", ())
    ]
    bodies = [
        (f"{name}.{key}", kind)
        for name, schema in description["components"]["schemas"].items()
        if name.endswith("Request")
        for key, prop in schema["properties"].items()
        for kind in prop.get("anyOf", [prop])
    ]
    numbers = {name: kind for name, kind in parameters + bodies if kind.get("type") in ("integer", "number")}
    assert set(numbers) >= {"seed", "number", "StepRequest.score", "EvaluationRequest.games", "ReviewRequest.worst"}
    for name, kind in numbers.items():
        assert "minimum" in kind, name
        assert {"maximum", "exclusiveMaximum"} & set(kind), name
    assert numbers["EvaluationRequest.games"]["maximum"] == Limits().games


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_no_request_makes_the_server_fail(operations: dict[str, Any], route: str) -> None:
    checks = [not_a_server_error, content_type_conformance, response_schema_conformance]

    @given(case=operations[route].as_strategy())
    @settings(
        max_examples=30,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def send(case: Any) -> None:
        case.call_and_validate(checks=checks, timeout=HANG_SECONDS)

    send()
