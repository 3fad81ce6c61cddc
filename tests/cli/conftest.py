"""Commands run in this process, and what they said."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tilewright.cli.main import main


class Said(NamedTuple):
    code: int
    out: str
    err: str  # without the notice that kernels are being compiled, which depends on what ran before


Command = Callable[..., Said]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str) -> Said:
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return Said(code, out, "".join(s for s in err.splitlines(True) if not s.startswith("compiling kernels")))

    return run
