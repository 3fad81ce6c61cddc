"""Every refusal as one line of JSON: `{"reason": …}`."""

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from tilewright._core.text import excerpt
from tilewright.errors import TilewrightError
from tilewright.web.executors import BusyError
from tilewright.web.jobs import UnknownJobError
from tilewright.web.runs import RunShelf, UnknownRunError

__all__ = ["add_problems", "describe_errors"]

_STATUS = {BusyError: 429, UnknownJobError: 404, UnknownRunError: 404}


def add_problems(app: FastAPI, shelf: RunShelf) -> None:
    @app.exception_handler(TilewrightError)
    async def refuse(request: Request, error: TilewrightError) -> JSONResponse:
        return _problem(_STATUS.get(type(error), 400), shelf.hide(str(error)))

    @app.exception_handler(RequestValidationError)
    async def explain(request: Request, error: RequestValidationError) -> JSONResponse:
        return _problem(422, describe_errors(error.errors()))

    @app.exception_handler(HTTPException)
    async def repeat(request: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, str(error.detail))


def describe_errors(errors: Iterable[Any]) -> str:
    """What is wrong with a request, the first thing first: `board: Field required`."""
    told = []
    for error in errors:
        place = ".".join(str(part) for part in error["loc"] if part not in ("query", "body", "path"))
        found = error.get("input")
        shown = "" if isinstance(found, dict | bytes) or found is None else f", not {excerpt(found)}"
        told.append(f"{place or 'the request'}: {error['msg']}{shown}")
    return "; ".join(told[:3])


def _problem(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"reason": reason}, status)
