"""Errors as answers: every refusal is one JSON object, `{"reason": …}`."""

from collections.abc import Iterable, Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route

from tilewright._core.text import excerpt
from tilewright.errors import TilewrightError
from tilewright.web.agents import AgentFailedError, log_failure
from tilewright.web.executors import BusyError
from tilewright.web.jobs import UnknownJobError
from tilewright.web.runs import RunLibrary, UnknownRunError

__all__ = ["add_error_handlers", "describe_errors"]

_STATUS = {BusyError: 429, UnknownJobError: 404, UnknownRunError: 404, AgentFailedError: 500}


def add_error_handlers(app: FastAPI, routes: Sequence[BaseRoute], runs: RunLibrary) -> None:
    """Let an application answer errors in JSON, without paths of this machine.

    Args:
        app: The application.
        routes: The routes of the API; whatever they do not match is asked of the page.
        runs: The training runs, whose folder is not named in answers.
    """

    @app.exception_handler(TilewrightError)
    async def on_error(request: Request, error: TilewrightError) -> JSONResponse:
        log_failure(error)
        return _answer(_STATUS.get(type(error), 400), runs.hide_paths(str(error)))

    @app.exception_handler(RequestValidationError)
    async def on_invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(422, describe_errors(error.errors()))

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> JSONResponse:
        allowed = _allowed(routes, request)
        if allowed or error.status_code == 405:
            return _answer(405, "Method Not Allowed", {"Allow": ", ".join(allowed or ("GET", "HEAD"))})
        return _answer(error.status_code, str(error.detail))


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


def _allowed(routes: Sequence[BaseRoute], request: Request) -> list[str]:
    """Return the methods of a path that has others than the one of a request; HEAD is answered wherever GET is."""
    matches = [(route.matches(request.scope)[0], route) for route in routes if isinstance(route, Route)]
    if any(match is Match.FULL for match, _ in matches):
        return []
    methods = {method for match, route in matches if match is Match.PARTIAL for method in route.methods or ()}
    return sorted({*methods, "HEAD"} if "GET" in methods else methods)


def _answer(status: int, reason: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"reason": reason}, status, headers)
