"""Folders and servers that models are fetched from: what arrives has its checksum, and nothing else arrives."""

import contextlib
import hashlib
import random
import shutil
import socket
import threading
from pathlib import Path
from urllib.parse import quote, unquote

from tilewright.models.fetch import SUMS_FILE, fetch_models
from torture.campaign import Campaign, Case, WrongError
from torture.kinds.models import sample_models
from torture.mutation import any_text, flip_bytes, mutate_text, sometimes
from torture.tensor_files import mutated_file, zeros_bomb

__all__ = ["Fetches"]

_NAMES = ("one.safetensors", "two three.safetensors")
_STRANGE_NAMES = (
    "../up.safetensors",
    "/abs.safetensors",
    ".hidden.safetensors",
    "a\\b.safetensors",
    "x.txt",
    "é.safetensors",
)
_SUM_WORDS = ("  ", " *", "\n", "\0", "0" * 64, "f" * 63, ".safetensors", "../", "/", "\\", "SHA256SUMS")
_HEADERS = (
    *("Content-Length: 0", "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: x"),
    *("Transfer-Encoding: chunked", "Content-Encoding: gzip", "Connection: keep-alive", "X: " + "a" * 70_000),
    *("Location: file:///etc/passwd", "Location: ftp://x/", "Location: /one.safetensors", "Location: //[", "Location:"),
)
_STATUSES = (
    *("HTTP/1.1 200 OK", "HTTP/1.0 200", "HTTP/1.1 100 Continue", "HTTP/1.1 204 None", "HTTP/1.1 302 Found"),
    *("HTTP/1.1 308 x", "HTTP/1.1 404 " + "n" * 5000, "HTTP/1.1 500 \x1b[31m", "HTTP/9.9 200 OK", "ICY 200 OK", ""),
)
_LINES = 100  # of interim answers, one after the other
_SHORT_HEAD = 10_000  # bytes


class Fetches(Campaign):
    """Releases of models, in a folder and on a server of this machine; files, lists and answers are changed."""

    name = "fetches"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        zeros_bomb()  # is packed once, which takes seconds
        self.models = []
        for model in sample_models()[:2]:
            model.save(folder / "model.safetensors", compact=True)
            self.models.append((folder / "model.safetensors").read_bytes())
        self.source, self.out = folder / "release", folder / "out"
        self.answers: dict[str, bytes] = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    # The server

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # it is closed
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        """Send the answer of a path, whatever it is, and close."""
        connection.settimeout(self.seconds)
        with connection, contextlib.suppress(OSError, IndexError):
            request = connection.recv(1 << 16)
            path = unquote(request.split(b" ")[1].decode("utf-8", "replace")).lstrip("/")
            connection.sendall(self.answers.get(path, b"HTTP/1.1 404 Not Found\r\n\r\n"))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):
                pass  # the client closes first, so that it reads everything

    def finish(self) -> None:
        """End the server."""
        self.listener.close()

    # Inputs

    def make(self, chance: random.Random) -> Case:
        """Make a release: its files, the answers of a server, and what is asked for."""
        files = {name: self._model(chance, number) for number, name in enumerate(_NAMES)}
        if sometimes(chance, 0.2):
            files[chance.choice(_STRANGE_NAMES)] = files.pop(_NAMES[1])
        sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
        if sometimes(chance, 0.4):
            sums = mutate_text(chance, sums, _SUM_WORDS)
        released = files | {SUMS_FILE: sums.encode("utf-8", "replace")}
        if sometimes(chance, 0.2):
            name = chance.choice(list(released))
            released[name] = flip_bytes(chance, released[name])
        name = chance.choice(("", "", *_NAMES, any_text(chance)))
        given = hashlib.sha256(files.get(name, b"")).hexdigest()
        given = given if sometimes(chance, 0.7) else mutate_text(chance, given)
        return {
            "files": released,
            "answers": {name: self._http(chance, content) for name, content in released.items()},
            "http": sometimes(chance, 0.6),
            "name": name,
            "sha256": given if sometimes(chance, 0.3) else None,
        }

    def _model(self, chance: random.Random, number: int) -> bytes:
        content = self.models[number]
        return mutated_file(chance, content, compressed=True) if sometimes(chance, 0.2) else content

    @staticmethod
    def _http(chance: random.Random, content: bytes) -> bytes:
        """Return an answer with some content; one in three is changed."""
        status, headers = "HTTP/1.1 200 OK", [f"Content-Length: {len(content)}"]
        if sometimes(chance, 0.7):
            return "\r\n".join([status, *headers, "", ""]).encode() + content
        if sometimes(chance, 0.5):
            status = chance.choice(_STATUSES)
        if sometimes(chance, 0.5):
            headers[:0] = [chance.choice(_HEADERS)] * chance.choice((1, 1, 2, 20))
        if sometimes(chance, 0.3):
            headers = headers[:-1]
        head = "\r\n".join([status, *headers, "", ""]).encode("latin-1", "replace")
        head *= chance.choice((1, 1, 1, _LINES)) if len(head) < _SHORT_HEAD else 1
        answer = head + content
        return flip_bytes(chance, answer) if sometimes(chance, 0.2) else answer

    def run(self, case: Case) -> None:
        """Fetch from the folder or from the server; whatever is there then is right."""
        for folder in (self.source, self.out):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        self.answers = case["answers"]
        self._release(case["files"])
        self.out.joinpath("foreign.txt").write_bytes(b"foreign")
        before = self._listing()
        if case["http"]:
            source = f"http://127.0.0.1:{self.listener.getsockname()[1]}/{quote(case['name'], errors='replace')}"
        else:
            source = str(self.source / case["name"]) if case["name"] else str(self.source)
        try:
            fetch_models(source, self.out, sha256=case["sha256"])
        finally:
            listed = case["answers"][SUMS_FILE] if case["http"] else case["files"][SUMS_FILE]
            self._check(before, f"{case['sha256']} {listed.decode('utf-8', 'replace')}".lower())

    def _release(self, files: dict[str, bytes]) -> None:
        for name, content in files.items():
            if "/" not in name:
                (self.source / name).write_bytes(content)

    def _listing(self) -> set[Path]:
        return {path for path in self.folder.rglob("*") if self.out not in path.parents}

    def _check(self, before: set[Path], sums: str) -> None:
        """Raise WrongError if something was written elsewhere, is half written, or has none of the checksums."""
        if strange := self._listing() - before:
            raise WrongError(f"outside: {sorted(map(str, strange))}")
        for file in self.out.iterdir():
            content = file.read_bytes()
            if file.name == "foreign.txt":
                if content != b"foreign":
                    raise WrongError("lost: a file of somebody else was overwritten")
            elif file.suffix != ".safetensors":
                raise WrongError(f"half written: {file.name}")
            elif hashlib.sha256(content).hexdigest() not in sums:
                raise WrongError(f"checksum: {file.name} has another one")
