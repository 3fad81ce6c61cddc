"""Fetching models that are too large for the package, from a web address or a folder; only when somebody asks for it.

A model is accepted with its SHA-256 checksum only: a given one, or the one that the file `SHA256SUMS` beside it lists
in the form that the command `sha256sum` writes. Everything is bounded: the size of a model, the length of the list and
of all headers, the time without a byte, and the number of redirections.
"""

import hashlib
import http.client
import io
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from tilewright._core.files import replace_file
from tilewright._core.inputs import MAX_TEXT, open_input, shown
from tilewright._core.memory import format_bytes
from tilewright._core.outputs import MODEL, check_output
from tilewright._core.text import excerpt
from tilewright.errors import FileError, UsageError

__all__ = ["MAX_BYTES", "SUMS_FILE", "fetch_models"]

SUMS_FILE = "SHA256SUMS"
MAX_BYTES = 16_000_000_000  # of a model; the largest network in 32 bits takes 2.7 GB for each stage
MAX_MODELS = 100  # of a folder
SILENCE_SECONDS = 30.0  # without a byte from a server
SUFFIX = ".safetensors"
_MAX_REASON = 200  # characters, which a server may have chosen
_CHUNK = 1 << 20
_HEAD_BYTES = (1 << 20) + 8  # enough to tell a model from anything else
_SUM = re.compile(r"[0-9a-fA-F]{64}")
_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](\S.*)")
Progress = Callable[[int], None]


def fetch_models(
    source: str | Path, out: str | Path = "models", *, sha256: str | None = None, progress: Progress | None = None
) -> list[Path]:
    """Copy a model, or all models of a folder, and check them before they get their names.

    Args:
        source: The address (http or https) or the path of a model, or of a folder; the address of a folder ends with a
            slash. All models that the folder's `SHA256SUMS` lists are fetched.
        out: The folder to write to. A model of the same name is replaced.
        sha256: The checksum of the one model; None reads it from `SHA256SUMS` in the folder of the model.
        progress: Called with the number of bytes since the last call.

    Returns:
        The files that were written.

    Raises:
        UsageError: The source or the checksum is none.
        FileError: Something cannot be read or written, there is no checksum, it does not match, or it is not a model.
    """
    if sha256 is not None and not _SUM.fullmatch(sha256):
        raise UsageError(f"sha256 {excerpt(sha256)}: must be 64 hexadecimal digits")
    folder, name = _split(str(source))
    if not name and sha256 is not None:
        raise UsageError("one checksum cannot be that of a folder: name the model")
    sums = {name: sha256.lower()} if sha256 is not None else _read_sums(folder, name)
    targets = {model: check_output(Path(out) / model, MODEL) for model in sums}
    for model, target in targets.items():
        _fetch(_join(folder, model), target, sums[model], progress or (lambda _: None))
    return list(targets.values())


def _is_address(source: str) -> bool:
    if "://" not in source:
        return False
    try:
        scheme = urllib.parse.urlsplit(source).scheme
    except ValueError:  # brackets of an address that is none
        raise UsageError(f"{shown(source)}: no address of a model") from None
    if scheme not in ("http", "https"):
        raise UsageError(f"{shown(source)}: models are fetched by http, https, or from a folder")
    return True


def _split(source: str) -> tuple[str, str]:
    """Return the folder of a source, and the name of the model in it; no name for a folder."""
    if _is_address(source):
        folder, _, quoted = source.rpartition("/")
        name = urllib.parse.unquote(quoted)
    else:
        path = Path(source)
        is_folder = os.path.isdir(path)  # noqa: PTH112  (is_dir raises an error for names that no file can have)
        folder, name = (source, "") if is_folder else (str(path.parent), path.name)
    if name:
        _check_name(name, source)
    return folder, name


def _check_name(name: str, source: str) -> None:
    """Raise UsageError unless a name is one of a model, in the folder that it is written to."""
    is_plain = name.isprintable() and not set(name) & set('/\\:*?"<>|') and not name.startswith(".")
    if not is_plain or not name.endswith(SUFFIX) or len(name) > 150:
        raise UsageError(f"{shown(source)}: {excerpt(name)} is not the name of a model; it must end with {SUFFIX}")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{urllib.parse.quote(name)}" if _is_address(folder) else str(Path(folder) / name)


def _read_sums(folder: str, name: str) -> dict[str, str]:
    """Return the checksums of the models in a folder, or that of one."""
    source = _join(folder, SUMS_FILE)
    with _open(source) as file:
        content = _read(file, source, MAX_TEXT + 1)
    if len(content) > MAX_TEXT:
        raise FileError(f"{shown(source)}: longer than {MAX_TEXT:,} bytes")
    lines = [_LINE.fullmatch(line.strip()) for line in content.decode("utf-8", "replace").splitlines() if line.strip()]
    listed = {found[2]: found[1].lower() for found in lines if found is not None and found[2].endswith(SUFFIX)}
    if name and name not in listed:
        raise FileError(f"{shown(source)}: does not list {name}: its checksum must be given")
    if not listed:
        raise FileError(f"{shown(source)}: lists no models (lines of a checksum, two spaces, a name{SUFFIX})")
    if len(listed) > MAX_MODELS:
        raise FileError(f"{shown(source)}: lists {len(listed):,} models; at most {MAX_MODELS} are fetched at once")
    for model in listed:
        _check_name(model, source)
    return {name: listed[name]} if name else listed


def _fetch(source: str, target: Path, wanted: str, progress: Progress) -> None:
    """Write a model to its place once all of it is there and right."""
    digest, size, head = hashlib.sha256(), 0, b""
    with _open(source) as file, replace_file(target, MODEL) as out:
        while chunk := _read(file, source, _CHUNK):
            size += len(chunk)
            if size > MAX_BYTES:
                raise FileError(f"{shown(source)}: longer than {format_bytes(MAX_BYTES)}; no model is")
            head += chunk[: _HEAD_BYTES - len(head)]
            digest.update(chunk)
            out.write(chunk)
            progress(len(chunk))
        if digest.hexdigest() != wanted:
            raise FileError(
                f"{shown(source)}: its checksum is {digest.hexdigest()}, not {wanted}: damaged or not the one meant"
            )
        if not MODEL.is_kind(head):
            raise FileError(f"{shown(source)}: is not a model of tilewright")


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirections, but none that leads from https to something else."""

    max_redirections = 5

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Refuse a redirection to a less safe place."""
        scheme = urllib.parse.urlsplit(newurl).scheme
        if scheme != "https" and scheme != urllib.parse.urlsplit(req.full_url).scheme:
            fp.close()
            raise urllib.error.URLError(f"redirected to {excerpt(newurl)}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _BoundedLines:
    """Reads lines until they are too many: `http.client` skips interim answers (100 Continue) without an end."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._left = file, MAX_TEXT

    def readline(self, limit: int = -1) -> bytes:
        line = self._file.readline(limit)
        self._left -= len(line)
        if self._left < 0:
            raise http.client.HTTPException(f"headers of more than {MAX_TEXT:,} bytes")
        return line

    def close(self) -> None:
        self._file.close()


class _Response(http.client.HTTPResponse):
    """An answer whose headers end, and the body of a redirection, too."""

    def begin(self) -> None:
        """Read the headers."""
        body = self.fp
        self.fp = lines = cast("io.BufferedReader", _BoundedLines(body))
        try:
            super().begin()
        finally:
            if self.fp is lines:
                self.fp = body
        if 300 <= self.status < 400:
            self.length, self.chunked = 0, False  # urllib would read the body of a redirection to its end


class _HTTPConnection(http.client.HTTPConnection):
    response_class = _Response


class _HTTPSConnection(http.client.HTTPSConnection):
    response_class = _Response


class _HTTPHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open an address of http."""
        return self.do_open(_HTTPConnection, req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open an address of https; certificates are checked as usual."""
        return self.do_open(_HTTPSConnection, req)


def _open(source: str) -> IO[bytes]:
    if not _is_address(source):
        return open_input(Path(source))
    opener = urllib.request.OpenerDirector()  # not `build_opener`, which also opens files and ftp
    for handler in (
        urllib.request.ProxyHandler,
        _HTTPHandler,
        _HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.UnknownHandler,
        _SafeRedirects,
    ):
        opener.add_handler(handler())
    try:
        file: IO[bytes] = opener.open(source, timeout=SILENCE_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        raise _read_error(source, error) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise _read_error(source, error) from None
    return file


def _read(file: IO[bytes], source: str, size: int) -> bytes:
    try:
        return file.read(size)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise _read_error(source, error) from None


def _read_error(source: str, error: Exception) -> FileError:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error) or type(error).__name__
    code = f"{error.code} " if isinstance(error, urllib.error.HTTPError) else ""
    return FileError(f"{shown(source)}: cannot be read: {code}{str(reason)[:_MAX_REASON]}")
