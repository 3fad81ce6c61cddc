"""What other sites, large requests and odd names get; and that names of runs lead nowhere else."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.web.conftest import API, BOARD, wait_for
from tests.web.live import PATIENT
from tilewright.errors import UsageError
from tilewright.web.app import make_app
from tilewright.web.limits import Limits
from tilewright.web.security import check_origin

STEP = {"board": BOARD, "move": "left"}


@pytest.fixture(scope="module")
def local(runs: Path) -> Iterator[TestClient]:
    """A server that listens on this machine only."""
    app = make_app(runs, hosts=("localhost", "127.0.0.1", "::1"), limits=PATIENT)
    with TestClient(app, base_url="http://127.0.0.1:2048") as found:
        yield found


FOREIGN = ["http://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:2048", "//127.0.0.1:2048", "null", "x["]


@pytest.mark.parametrize("origin", [*FOREIGN, ""])
def test_a_page_of_another_site_cannot_post_or_delete(local: TestClient, origin: str) -> None:
    for method, path in (("POST", "/step"), ("POST", "/evaluations"), ("DELETE", "/jobs/x")):
        answer = local.request(method, API + path, json=STEP, headers={"Origin": origin})
        assert (answer.status_code, answer.json()) == (403, {"reason": "requests from other sites are refused"})


def test_our_own_page_and_programs_can(local: TestClient) -> None:
    for headers in ({"Origin": "http://127.0.0.1:2048"}, {}):
        assert local.post(f"{API}/step", json=STEP, headers=headers).status_code == 200


COMPUTING = [
    ("GET", f"/move?board={BOARD}&agent=greedy"),
    ("GET", f"/board?board={BOARD}"),
    ("GET", "/start"),
    ("GET", "/agents"),
    ("GET", "/runs"),
    ("POST", "/step"),
    ("POST", "/evaluations"),
    ("POST", "/reviews"),
    ("DELETE", "/jobs/x"),
]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "nonsense"])
@pytest.mark.parametrize(("method", "path"), COMPUTING)
def test_a_browser_cannot_be_made_to_compute_by_another_page(
    local: TestClient, method: str, path: str, site: str
) -> None:
    body = STEP if method == "POST" else None
    answer = local.request(method, API + path, json=body, headers={"Sec-Fetch-Site": site})
    assert (answer.status_code, answer.json()) == (403, {"reason": "requests from other sites are refused"})


@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}])
def test_our_own_page_visitors_and_programs_can(local: TestClient, headers: dict[str, str]) -> None:
    assert local.get(f"{API}/move", params={"board": BOARD, "agent": "greedy"}, headers=headers).status_code == 200
    assert local.post(f"{API}/step", json=STEP, headers=headers).status_code == 200


def test_links_of_other_sites_lead_to_the_page_and_to_the_description(local: TestClient) -> None:
    for path in ("/", f"{API}/openapi.json"):
        assert local.get(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("name", ["Host", "Origin", "Sec-Fetch-Site", "Content-Length", "Content-Type"])
@pytest.mark.parametrize("second", ["the same", "another"])
def test_a_header_that_decides_something_is_given_once(local: TestClient, name: str, second: str) -> None:
    first = {
        "Host": "127.0.0.1:2048",
        "Origin": "http://127.0.0.1:2048",
        "Sec-Fetch-Site": "same-origin",
        "Content-Length": "2",
        "Content-Type": "application/json",
    }[name]
    headers = [(name, first), (name, first if second == "the same" else "0")]
    answer = local.request("POST", f"{API}/step", content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()) == (400, {"reason": f"the header {name.lower()} is given 2 times"})


@pytest.mark.parametrize("path", ["/autoplay", "/watch"])
@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:2048"])
def test_a_page_of_another_site_opens_no_socket(local: TestClient, path: str, origin: str) -> None:
    with (
        pytest.raises(WebSocketDisconnect),
        local.websocket_connect(API + path, headers={"Origin": origin, "Host": "127.0.0.1:2048"}),
    ):
        pass


@pytest.mark.parametrize(
    ("host", "status"), [("evil.example", 403), ("x@localhost", 403), ("localhost:2048", 200), ("[::1]:2048", 200)]
)
def test_a_name_that_was_made_to_point_here_is_refused(local: TestClient, host: str, status: int) -> None:
    assert local.get(f"{API}/games", headers={"Host": host}).status_code == status


def test_a_request_that_is_too_large_is_refused(client: TestClient) -> None:
    answer = client.post(f"{API}/step", content=b"x" * (Limits().body + 1))
    assert (answer.status_code, answer.json()) == (413, {"reason": "the request is larger than 65,536 bytes"})

    def pieces() -> Iterator[bytes]:
        yield from (b"x" * 1024 for _ in range(65))

    assert client.post(f"{API}/step", content=pieces()).status_code == 413
    assert client.post(f"{API}/reviews", content=b"x" * (Limits().recording + 1)).status_code == 413
    assert client.post(f"{API}/reviews", json={"recording": "x" * Limits().body}).status_code == 400


def test_every_answer_says_what_a_browser_may_do_with_it(client: TestClient) -> None:
    for path in ("/", f"{API}/games", f"{API}/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        for part in ("form-action 'self'", "frame-ancestors 'none'", "object-src 'none'", "base-uri 'none'"):
            assert part in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]


@pytest.mark.parametrize("agent", ["ntuple", "expectimax", "montecarlo"])
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../large", "large/model.safetensors", "./large", "..", ".", "\\large", "C:\\x", "~/x"]
)
def test_a_path_as_a_model_is_refused(client: TestClient, agent: str, path: str) -> None:
    answer = client.get(f"{API}/move", params={"board": BOARD, "agent": f"{agent}:model={path}"})
    assert answer.status_code == 400
    assert answer.json()["reason"].endswith("a model is chosen by the name of its run; paths are refused")


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc", "notes.txt", "%2fetc", ".hidden", "a%00b"])
def test_the_runs_folder_cannot_be_left(client: TestClient, name: str) -> None:
    answer = client.get(f"{API}/runs/{name}")
    assert answer.status_code in (404, 307)
    assert "curve" not in answer.text


def test_a_link_that_leads_out_of_the_folder_is_no_run(runs: Path, tmp_path: Path) -> None:
    inside, outside = tmp_path / "runs", tmp_path / "secret"
    inside.mkdir()
    shutil.copytree(runs / "large", outside)
    shutil.copytree(runs / "large", inside / "honest")
    (inside / "linked").symlink_to(outside)
    (inside / "honest" / "model.safetensors").unlink()
    (inside / "honest" / "model.safetensors").symlink_to(outside / "model.safetensors")
    with TestClient(make_app(inside, limits=PATIENT)) as client:
        assert [run["name"] for run in client.get(f"{API}/runs").json()] == ["honest"]
        assert client.get(f"{API}/runs/linked").status_code == 404
        for name in ("linked", "honest"):
            asked = {"board": BOARD, "agent": f"ntuple:model={name}"}
            assert client.get(f"{API}/move", params=asked).status_code in (400, 404)


def test_a_damaged_model_is_named_without_its_place_on_this_machine(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "large", tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"no model")
    with TestClient(make_app(tmp_path, limits=PATIENT)) as client:
        answer = client.get(f"{API}/move", params={"board": BOARD, "agent": "ntuple:model=broken"})
        begun = client.post(f"{API}/evaluations", json={"agent": "ntuple:model=broken", "games": 1}).json()
        job = wait_for(client, begun["id"])
    assert answer.status_code == 400
    for reason in (answer.json()["reason"], job["reason"]):
        assert reason.startswith("broken/model.safetensors: ")


def test_only_so_many_jobs_are_taken_on(runs: Path) -> None:
    with TestClient(make_app(runs, Limits(jobs=2))) as client:
        asked = {"agent": "heuristic:ms=100", "games": 100}
        jobs = [client.post(f"{API}/evaluations", json=asked) for _ in range(3)]
        assert [answer.status_code for answer in jobs] == [202, 202, 429]
        assert jobs[2].json()["reason"] == "2 jobs wait or run already, which is the limit; stop one or wait"
        for answer in jobs[:2]:
            client.delete(f"{API}/jobs/{answer.json()['id']}")


TRUSTED = "https://play2048.co"


@pytest.fixture(scope="module")
def trusting(runs: Path) -> Iterator[TestClient]:
    """A server that trusts one other site."""
    with TestClient(
        make_app(runs, hosts=("127.0.0.1",), origins=[TRUSTED], limits=PATIENT), base_url="http://127.0.0.1:2048"
    ) as found:
        yield found


def test_a_trusted_site_reads_and_does_nothing_else(trusting: TestClient) -> None:
    foreign = {"Origin": TRUSTED, "Sec-Fetch-Site": "cross-site"}
    query = {"board": BOARD, "agent": "greedy"}
    answer = trusting.get(f"{API}/move", params=query, headers=foreign)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, TRUSTED)
    assert "Origin" in answer.headers["vary"]
    wrong = trusting.get(f"{API}/move", params={"board": "x"}, headers=foreign)
    assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (400, TRUSTED)
    asked = trusting.options(f"{API}/move", headers=foreign | {"Access-Control-Request-Method": "GET"})
    assert (asked.status_code, asked.headers["access-control-allow-methods"]) == (204, "GET")
    for method, path in (("POST", "/step"), ("POST", "/evaluations"), ("DELETE", "/jobs/x")):
        refused = trusting.request(method, API + path, json=STEP, headers=foreign)
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers
    with pytest.raises(WebSocketDisconnect), trusting.websocket_connect(f"{API}/watch", headers=foreign) as socket:
        socket.receive_text()


@pytest.mark.parametrize(
    "origin",
    ["http://play2048.co", "https://play2048.co:444", "https://play2048.co.evil.example", "https://sub.play2048.co"],
)
def test_only_the_exact_origin_is_trusted(trusting: TestClient, local: TestClient, origin: str) -> None:
    query = {"board": BOARD, "agent": "greedy"}
    for client, asked in ((trusting, origin), (local, TRUSTED), (local, origin)):
        answer = client.get(f"{API}/move", params=query, headers={"Origin": asked, "Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "origin",
    [
        *("*", "null", "", "play2048.co", "https://a.b/c", "https://*.b", "https://u@a.b"),
        *("https://a b", "https://\u00e9.example", "https://a:", "https://a..b", "https://a,b", "https://[v1.x]"),
        f"https://{'a' * 254}",
    ],
)
def test_what_is_no_origin_cannot_be_trusted(origin: str) -> None:
    with pytest.raises(UsageError, match="is not an origin"):
        check_origin(origin)


def test_origins_are_written_as_browsers_write_them() -> None:
    assert check_origin("HTTPS://Play2048.co:443") == TRUSTED
    assert check_origin("http://127.0.0.1:8000") == "http://127.0.0.1:8000"
    assert check_origin("http://[::1]:80") == "http://[::1]"
