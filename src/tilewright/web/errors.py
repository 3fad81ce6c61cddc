"""Errors as answers: every refusal is one JSON object, `{"reason": …}`."""

from collections.abc import Iterable, Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from tilewright._core.text import excerpt
from tilewright.errors import TilewrightError
from tilewright.web.agents import AgentFailedError, log_failure
from tilewright.web.executors import BusyError
from tilewright.web.jobs import UnknownJobError
from tilewright.web.runs import RunLibrary, UnknownRunError

__all__ = ["add_error_handlers", "describe_errors"]

_STATUS = {BusyError: 429, UnknownJobError: 404, UnknownRunError: 404, AgentFailedError: 500}


def add_error_handlers(app: FastAPI, runs: RunLibrary) -> None:
    """Let an application answer errors in JSON, without paths of this machine."""

    @app.exception_handler(TilewrightError)
    async def on_error(request: Request, error: TilewrightError) -> JSONResponse:
        log_failure(error)
        return _answer(_STATUS.get(type(error), 400), runs.hide_paths(str(error)))

    @app.exception_handler(RequestValidationError)
    async def on_invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(422, describe_errors(error.errors()))

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> JSONResponse:
        headers = {**(error.headers or {})}
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_allowed(app, request))
        return _answer(error.status_code, str(error.detail), headers)


def describe_errors(errors: Iterable[Mapping[str, object]]) -> str:
    """Describe what is wrong with a request, on one line: the first three errors of its validation.

    >>> describe_errors([{"loc": ("query", "board"), "msg": "Field required"}])
    'board: Field required'
    """
    lines = []
    for error in errors:
        location = error["loc"]
        parts = location if isinstance(location, tuple | list) else ()
        place = ".".join(str(part) for part in parts if part not in ("query", "body", "path"))
        value = error.get("input")
        shown = "" if isinstance(value, dict | bytes) or value is None else f", not {excerpt(value)}"
        lines.append(f"{place or 'the request'}: {error['msg']}{shown}")
    return "; ".join(lines[:3])


def _allowed(app: FastAPI, request: Request) -> list[str]:
    """Return the methods of a path, of all routes that match it; HEAD is answered wherever GET is."""
    methods: set[str] = set()
    for route in app.router.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return sorted({*methods, "HEAD"} if "GET" in methods else methods or {"GET", "HEAD"})


def _answer(status: int, reason: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"reason": reason}, status, headers)
