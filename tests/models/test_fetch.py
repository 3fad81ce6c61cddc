"""Fetching models from a folder and from a server on this machine: what is right arrives, and nothing else does."""

import contextlib
import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from tilewright import make_game
from tilewright.errors import FileError, UsageError
from tilewright.models import fetch
from tilewright.models.fetch import fetch_models
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture

ZEROS = "0" * 64


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a release: two models and their checksums."""
    files = {}
    folder = tmp_path_factory.mktemp("release")
    for name, seed in (("one.safetensors", 1), ("two three.safetensors", 2)):
        weights = np.random.default_rng(seed).normal(0, 9, 2 * 16**2).astype(np.float32)
        architecture = NTupleArchitecture(("01", "04"))
        Model(make_game("2048:rows=2,columns=2"), architecture, "afterstate", weights).save(folder / name)
        files[name] = (folder / name).read_bytes()
    return files | {"SHA256SUMS": sums_of(files)}


def sums_of(files: dict[str, bytes]) -> bytes:
    """What `sha256sum *` prints."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    return "".join(lines).encode()


class Server(ThreadingHTTPServer):
    """Serves some bytes by path; a text in their place is where it redirects to."""

    def __init__(self, files: dict[str, bytes | str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files

    def address(self, path: str = "") -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        found = self.server.files.get(self.path.replace("%20", " ").removeprefix("/"))
        self.send_response(404 if found is None else 302 if isinstance(found, str) else 200)
        if isinstance(found, str):
            self.send_header("Location", found)
        body = found if isinstance(found, bytes) else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(content: dict[str, bytes]) -> Iterator[Server]:
    with Server({f"release/{name}": data for name, data in content.items()}) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def folder(content: dict[str, bytes], tmp_path: Path) -> Path:
    (tmp_path / "release").mkdir()
    for name, data in content.items():
        (tmp_path / "release" / name).write_bytes(data)
    return tmp_path / "release"


def files_in(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()} if path.exists() else {}


def test_all_models_of_a_folder_or_an_address_arrive(
    content: dict[str, bytes], folder: Path, server: Server, tmp_path: Path
) -> None:
    models = {name: data for name, data in content.items() if name != "SHA256SUMS"}
    sources: list[str | Path] = [folder, str(folder), server.address("release/")]
    for number, source in enumerate(sources):
        counted: list[int] = []
        files = fetch_models(source, tmp_path / f"{number}", progress=counted.append)
        assert [file.name for file in files] == list(models)
        assert files_in(tmp_path / f"{number}") == models
        assert sum(counted) == sum(len(data) for data in models.values())
        load_model(files[0])


@pytest.mark.parametrize("name", ["one.safetensors", "two three.safetensors"])
def test_one_model_arrives_with_its_own_or_the_listed_checksum(
    content: dict[str, bytes], folder: Path, server: Server, tmp_path: Path, name: str
) -> None:
    checksum = hashlib.sha256(content[name]).hexdigest().upper()
    address = server.address(f"release/{name.replace(' ', '%20')}")
    for number, source in enumerate((str(folder / name), address)):
        for sha256 in (None, checksum):
            fetch_models(source, tmp_path / f"{number}", sha256=sha256)
            assert files_in(tmp_path / f"{number}") == {name: content[name]}


def test_what_has_another_checksum_leaves_everything_as_it_was(
    content: dict[str, bytes], folder: Path, server: Server, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    fetch_models(folder / "one.safetensors", out)
    damaged = content["one.safetensors"][:-1] + b"?"
    (folder / "one.safetensors").write_bytes(damaged)
    server.files["release/one.safetensors"] = content["one.safetensors"][:-40]
    for source in (str(folder), server.address("release/one.safetensors")):
        with pytest.raises(FileError, match=r"one.safetensors: its checksum is [0-9a-f]{64}, not [0-9a-f]{64}"):
            fetch_models(source, out)
        assert files_in(out) == {"one.safetensors": content["one.safetensors"]}


def test_a_file_that_is_no_model_does_not_arrive_and_is_not_replaced(folder: Path, tmp_path: Path) -> None:
    (folder / "page.safetensors").write_bytes(b"<html>")
    with pytest.raises(FileError, match="is not a model of tilewright"):
        fetch_models(folder / "page.safetensors", tmp_path / "out", sha256=hashlib.sha256(b"<html>").hexdigest())
    assert files_in(tmp_path / "out") == {}
    (tmp_path / "out" / "one.safetensors").write_bytes(b"a diary")
    with pytest.raises(FileError, match="is not a model, and is left as it is"):
        fetch_models(folder, tmp_path / "out")
    assert files_in(tmp_path / "out") == {"one.safetensors": b"a diary"}


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        (b"", "lists no models"),
        (f"{ZEROS}  other.safetensors\n".encode(), "does not list one.safetensors: its checksum must be given"),
        (f"{ZEROS}  ../one.safetensors\n".encode(), "does not list one.safetensors"),
        (b"\xff\x00" * 99, "does not list one.safetensors"),
        (b"0" * (1 << 20) + b"0", "longer than 1,048,576 bytes"),
        (b"".join(b"%064d  %d.safetensors\n" % (i, i) for i in range(101)), "does not list one.safetensors"),
    ],
)
def test_a_model_without_a_checksum_is_refused(sums: bytes, message: str, folder: Path, tmp_path: Path) -> None:
    (folder / "SHA256SUMS").write_bytes(sums)
    name = "" if message == "lists no models" else "one.safetensors"
    with pytest.raises(FileError, match=message):
        fetch_models(folder / name, tmp_path / "out")
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(FileError, match="SHA256SUMS: cannot be read: No such file"):
        fetch_models(folder / name, tmp_path / "out")
    assert files_in(tmp_path / "out") == {}


@pytest.mark.parametrize("name", ["../one.safetensors", ".one.safetensors", "a/b.safetensors", "a\\b.safetensors"])
def test_a_list_cannot_name_a_file_elsewhere(name: str, folder: Path, tmp_path: Path) -> None:
    (folder / "SHA256SUMS").write_text(f"{ZEROS}  {name}\n")
    with pytest.raises(UsageError, match="is not the name of a model"):
        fetch_models(folder, tmp_path / "out")


def test_a_list_of_too_many_models_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "SHA256SUMS").write_text("".join(f"{ZEROS}  {i}.safetensors\n" for i in range(101)))
    with pytest.raises(FileError, match="lists 101 models; at most 100"):
        fetch_models(folder, tmp_path / "out")


def test_a_model_without_an_end_is_not_read_to_its_end(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MAX_BYTES", 1000)
    with pytest.raises(FileError, match=r"one.safetensors: longer than 1,000 bytes; no model is"):
        fetch_models(server.address("release/one.safetensors"), tmp_path / "out")
    assert files_in(tmp_path / "out") == {}


def test_redirections_are_followed_to_other_addresses_only(
    content: dict[str, bytes], folder: Path, server: Server, tmp_path: Path
) -> None:
    checksum = hashlib.sha256(content["one.safetensors"]).hexdigest()
    server.files["moved.safetensors"] = "/release/one.safetensors"
    fetch_models(server.address("moved.safetensors"), tmp_path / "out", sha256=checksum)
    assert files_in(tmp_path / "out") == {"moved.safetensors": content["one.safetensors"]}
    server.files["file.safetensors"] = f"file://{folder}/one.safetensors"
    server.files["ring.safetensors"] = "/ring.safetensors"
    for name in ("file", "ring", "missing"):
        with pytest.raises(FileError, match=rf"{name}.safetensors: cannot be read: "):
            fetch_models(server.address(f"{name}.safetensors"), tmp_path / "none", sha256=checksum)
    assert files_in(tmp_path / "none") == {}


@pytest.mark.parametrize(
    ("source", "sha256", "message"),
    [
        ("ftp://127.0.0.1/one.safetensors", ZEROS, "models are fetched by http, https, or from a folder"),
        ("file:///etc/passwd", ZEROS, "models are fetched by http, https, or from a folder"),
        ("http://[::1/one.safetensors", ZEROS, "no address of a model"),
        ("one.safetensors", "12", "sha256 '12': must be 64 hexadecimal digits"),
        (".", ZEROS, "one checksum cannot be that of a folder"),
        ("model.bin", ZEROS, "'model.bin' is not the name of a model; it must end with .safetensors"),
        ("9" * 5000, ZEROS, "is not the name of a model; it must end with .safetensors"),
        ("a\0b", ZEROS, "is not the name of a model; it must end with .safetensors"),
    ],
)
def test_what_is_no_source_is_refused(source: str, sha256: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        fetch_models(source, tmp_path / "out", sha256=sha256)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("length", ["", "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: chunked\r\n"])
def test_the_body_of_a_redirection_is_not_read(length: str, tmp_path: Path) -> None:
    """It may have no end: a client that read it would never answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"

        def redirect_without_end() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(1000)
                head = f"HTTP/1.1 302 Found\r\nLocation: {address}/two.safetensors\r\n{length}\r\n"
                connection.sendall(head.encode())
                while True:
                    connection.sendall(b"FFFFFF\r\n")
            connection, _ = listening.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 404 gone\r\n\r\n")

        thread = threading.Thread(target=redirect_without_end, daemon=True)
        thread.start()
        with pytest.raises(FileError, match=r"one.safetensors: cannot be read: 404 gone"):
            fetch_models(f"{address}/one.safetensors", tmp_path / "out", sha256=ZEROS)
        thread.join()


def test_a_refused_redirection_closes_its_connection(tmp_path: Path) -> None:
    """At once, although the error is kept and with it all that the failed call held."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        kept, ended = threading.Event(), []

        def redirect_elsewhere() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/one.safetensors\r\n\r\n")
                kept.wait()
                connection.settimeout(10.0)
                with contextlib.suppress(TimeoutError):
                    ended.append(connection.recv(1000) == b"")

        thread = threading.Thread(target=redirect_elsewhere, daemon=True)
        thread.start()
        with pytest.raises(FileError, match=r"redirected to 'ftp:") as refusal:
            fetch_models(f"{address}/one.safetensors", tmp_path / "out", sha256=ZEROS)
        kept.set()
        thread.join()
    assert ended == [True]
    assert refusal.value is not None


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"SHA256SUMS: cannot be read: .*refused"):
        fetch_models("http://127.0.0.1:9/one.safetensors", tmp_path / "out")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\n", "headers of more than 1,048,576 bytes"),
        (b"HTTP/1.1 404 " + b"no " * 9_000 + b"\r\n\r\n", f"404 {'no ' * 9}"),
    ],
    ids=["interim answers without an end", "a long reason"],
)
def test_a_hostile_answer_ends_and_is_a_short_line(answer: bytes, reason: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def send_without_end() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(1000)
                while True:
                    connection.sendall(answer)

        thread = threading.Thread(target=send_without_end, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/one.safetensors"
        with pytest.raises(FileError, match=f"one.safetensors: cannot be read: {reason}") as refused:
            fetch_models(address, tmp_path / "out", sha256=ZEROS)
        assert len(str(refused.value)) < 300
        thread.join()
