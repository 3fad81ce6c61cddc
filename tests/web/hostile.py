"""Whatever a stranger may put into a runs folder, and send to a server."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

__all__ = ["CONFIG", "HEADER", "ROW", "make_hostile_runs", "malformed_request"]

CONFIG = 'game = "2048"\ngames = 100\n'
HEADER = "games,seconds,moves,window,score_mean,score_max,win_rate,alpha,stage\n"
ROW = "100,1.5,1000,100,250.5,500,0.0,0.1,1\n"

_DAMAGED_CONFIGS = {
    "not-toml": b"game = [[[",
    "bytes": bytes(range(256)) * 8,
    "digits": b"seed = " + b"9" * 5000,
    "deep": b"game = " + b"[" * 50_000,
    "wrong-type": b"game = 7",
    "unknown-game": b'game = "nobody"',
    "module": b'game = "antigravity:Class"',
    "huge": b"# " + b"x" * 2_000_000 + b"\n" + CONFIG.encode(),
    "unknown-key": b"colour = 'red'",
    "infinite": b"alpha = inf\nminutes = nan",
    "deep-network": b'algorithm = "nobody"',
}
_DAMAGED_CURVES = {
    "nan": HEADER + "nan,nan,nan,nan,nan,nan,nan,nan,nan\n" + ROW.replace("250.5", "nan"),
    "infinite": HEADER + ROW.replace("250.5", "inf") + ROW.replace("1000", "9" * 400),
    "digits": HEADER + ROW.replace("1000", "9" * 5000),
    "no-header": ROW * 3,
    "quotes": HEADER + '"' + ROW * 100,
    "one-line": HEADER + "1" * 500_000,
    "zeros": "\0" * 5000 + "\n\0\n",
    "other-columns": "a,b,c\n1,2,3\n",
}


def make_hostile_runs(folder: Path, *, curve_megabytes: int = 22) -> list[str]:
    """Fill a folder with runs that are damaged in every way; returns the names of those that are runs at all."""
    outside = folder.parent / f"{folder.name}-outside"
    outside.mkdir(parents=True, exist_ok=True)
    (outside / "config.toml").write_text(CONFIG)
    (outside / "secret.csv").write_text(HEADER + ROW)
    listed = []

    def new_run(name: str, config: bytes = CONFIG.encode()) -> Path:
        path = folder / name
        path.mkdir(parents=True)
        (path / "config.toml").write_bytes(config)
        listed.append(name)
        return path

    for name, config in _DAMAGED_CONFIGS.items():
        new_run(f"config-{name}", config)
    for name, curve in _DAMAGED_CURVES.items():
        path = new_run(f"curve-{name}")
        for file in ("metrics.csv", "evaluations.csv", "stages.csv"):
            (path / file).write_text(curve)
    long = new_run("curve-long")
    end = ROW.removeprefix("100")
    rows = curve_megabytes * 1_000_000 // len(ROW)
    (long / "metrics.csv").write_text(HEADER + "".join(f"{100 * i}{end}" for i in range(1, rows + 1)))
    for name, content in (("empty", b""), ("text", b"no model"), ("header", b"\xff" * 8 + b"{}" * 100)):
        (new_run(f"model-{name}") / "model.safetensors").write_bytes(content)
    linked = new_run("links")
    for file in ("metrics.csv", "evaluations.csv", "stages.csv", "model.safetensors"):
        (linked / file).symlink_to(outside / "secret.csv")
    for name in ("a,b=c", "name with spaces", "%2e%2e", "ünïcödé", "'; --", "x" * 255, "<b>"):
        (new_run(name) / "model.safetensors").write_bytes(b"no model")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "outside").symlink_to(outside)
    (folder / "linked-config").mkdir()
    (folder / "linked-config" / "config.toml").symlink_to(outside / "config.toml")
    pipe = folder / "pipe"
    pipe.mkdir()
    os.mkfifo(pipe / "config.toml")
    pipes = new_run("pipes")
    for file in ("metrics.csv", "evaluations.csv", "stages.csv", "model.safetensors"):
        os.mkfifo(pipes / file)
    (folder / "folders" / "config.toml").mkdir(parents=True)
    broken_name = os.fsencode(folder) + b"/\xff\xfe"
    os.mkdir(broken_name)  # noqa: PTH102  (a name that is not text)
    Path(os.fsdecode(broken_name) + "/config.toml").write_text(CONFIG)
    return listed


_BOARD = "2 2 4 0 / 0 0 8 0 / 0 0 16 0 / 2 0 0 32"
_PATHS = ("games", "agents", "start", "board", "step", "move", "evaluations", "reviews", "jobs", "jobs/x", "runs")
_METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "get", "")
_TEXTS = (
    "",
    " ",
    "0",
    "-1",
    "1e309",
    "nan",
    "9" * 400,
    "9" * 5000,
    "\0",
    "é",
    "\U0001f600",
    "../..",
    "/etc/passwd",
    "2048:rows=",
    "2048:rows=3,rows=3",
    "threes:max_tile=-1",
    "heuristic:ms=0.0000001",
    "heuristic:depth=99",
    "uct:rollouts=1e9",
    "ntuple:model=model-header",
    "ntuple:model=config-deep",
    "expectimax:model=pipes",
    "os:system",
    "a:b:c,d=e",
    "[[1]]",
    "[" * 3000,
    _BOARD,
    "f" * 16,
    "x" * 3000,
)


def malformed_request(rng: random.Random, port: int) -> bytes:
    """Return the bytes of a request that is wrong in at least one way, for a server on this machine."""
    kind: Callable[[random.Random, int], bytes] = rng.choice([_wrong_query, _wrong_body, _wrong_headers, _wrong_bytes])
    return kind(rng, port)


def _request(method: str, path: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


def _usual(port: int, *more: tuple[str, str]) -> list[tuple[str, str]]:
    return [("Host", f"127.0.0.1:{port}"), ("Connection", "close"), *more]


def _wrong_query(rng: random.Random, port: int) -> bytes:
    names = ("board", "agent", "game", "seed", "number", "x")
    query = "&".join(f"{rng.choice(names)}={quote(rng.choice(_TEXTS))}" for _ in range(rng.randrange(4)))
    path = f"/api/v1/{rng.choice(_PATHS)}"
    if rng.random() < 0.2:
        path = f"/api/v1/runs/{quote(rng.choice(_TEXTS), safe='')}"
    return _request(rng.choice(_METHODS[:-2]), f"{path}?{query}", _usual(port, ("Content-Length", "0")))


def _wrong_body(rng: random.Random, port: int) -> bytes:
    names = ("board", "agent", "game", "games", "seed", "move", "score", "stream", "recording", "worst")
    values: tuple[object, ...] = (*_TEXTS, 0, -1, 2**63, 1e308, None, True, [], {}, [[[]]], "\ud800")
    asked = {rng.choice(names): rng.choice(values) for _ in range(rng.randrange(5))}
    if "games" in asked:
        asked["games"] = 10**9  # an evaluation that is well-formed would be work, and no malformed request
    body = json.dumps(asked).encode()
    if rng.random() < 0.5:
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(body))
            body = body[:at] + rng.randbytes(1) + body[at + 1 :]
    elif rng.random() < 0.3:
        body = rng.choice((b"", b"null", b"[]", b"\xff\xfe", b"[" * 10_000, b'{"a":' * 5_000, b"9" * 5_000, b"NaN"))
    path = f"/api/v1/{rng.choice(('step', 'step', 'reviews', 'evaluations?x=1', 'runs', 'nothing'))}"
    kind = rng.choice(("application/json", "application/json", "text/plain", "multipart/form-data", ""))
    return _request("POST", path, _usual(port, ("Content-Type", kind), ("Content-Length", str(len(body)))), body)


def _wrong_headers(rng: random.Random, port: int) -> bytes:
    headers = rng.choice(
        (
            [("Host", "evil.example")],
            [("Host", f"127.0.0.1:{port}"), ("Host", "evil.example")],
            [("Host", "")],
            [("Host", "[")],
            [],
            _usual(port, ("Origin", "http://evil.example")),
            _usual(port, ("Origin", f"https://127.0.0.1:{port}")),
            _usual(port, ("Origin", "null"), ("Origin", "null")),
            _usual(port, ("Sec-Fetch-Site", rng.choice(("cross-site", "same-site", "x")))),
            _usual(port, ("Content-Length", rng.choice(("-1", "1e3", "x", "9" * 30, "+5")))),
            _usual(port, ("Content-Length", "3"), ("Content-Length", "4")),
            _usual(port, ("Transfer-Encoding", "chunked"), ("Content-Length", "3")),
            _usual(port, ("Upgrade", "websocket"), ("Sec-WebSocket-Key", "x")),
            _usual(port, *((f"X-{i}", "y" * 50) for i in range(200))),
            _usual(port, ("X", "y" * 100_000)),
            _usual(port, ("Expect", "100-continue"), ("Cookie", "\x01\x02")),
        )
    )
    path = rng.choice(("/", "/api/v1/move?board=1", "/api/v1/games", "*", "http://", "//", "/%", "/%ff%fe", "/\xff"))
    return _request(rng.choice(_METHODS), path, [*headers, ("Connection", "close")], b"abc")


def _wrong_bytes(rng: random.Random, port: int) -> bytes:
    whole = bytearray(rng.choice((_wrong_query, _wrong_body, _wrong_headers))(rng, port))
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(whole))
        if rng.random() < 0.5:
            whole[at] = rng.randrange(256)
        else:
            del whole[at : at + rng.randrange(1, 20)]
    return bytes(whole) if rng.random() < 0.8 else rng.randbytes(rng.randrange(1, 400))
