"""The examples of a page: Python blocks with their outputs, also as a notebook, and shell commands.

All Python blocks of a page are one program. A block whose first line is a comment with a file name, as
`# my_agents.py`, is written to that file, so that later blocks can import it. A block after `<!-- not run: REASON -->`
is only shown.

Every line of a `sh` block is a command. In a `console` block, commands follow `$`, and the other lines are what they
print; `…` stands for any text. A command in the text is one that starts with the name of a program, or with a command
of tilewright that has an argument.
"""

import ast
import base64
import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tilewright.cli.main import COMMANDS

__all__ = [
    "Cell",
    "Command",
    "Output",
    "as_notebook",
    "read_blocks",
    "read_cells",
    "read_commands",
    "run_cells",
    "with_outputs",
    "working_in",
]

_BLOCK = re.compile(r"^(<!-- not run: [^\n]* -->\n)?```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w-]+\.py)\n")
_ANY_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"`([^`]+)`")
_PROGRAMS = ("curl", "git", "make", "pip", "python", "ray", "tilewright")


class Cell(NamedTuple):
    """A part of a page: Markdown, or one Python block."""

    text: str
    is_code: bool = False
    is_run: bool = False


class Output(NamedTuple):
    """What a block printed, the value of its last expression, and its plots as PNG."""

    text: str = ""
    images: tuple[bytes, ...] = ()


class Command(NamedTuple):
    """A shell command of a page, and what the page says it prints; `in_text` if it is not a line of a block."""

    text: str
    output: str = ""
    in_text: bool = False


def read_blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of every block of a page."""
    return _ANY_BLOCK.findall(page)


def read_commands(page: str) -> list[Command]:
    """Return the shell commands of a page: those of its blocks, then those in its text."""
    found = []
    for language, block in read_blocks(page):
        if language == "sh":
            found += [Command(_without_comment(line)) for line in block.splitlines()]
        elif language == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                found.append(Command(_without_comment(line), output))
    for quoted in _QUOTED.findall(_ANY_BLOCK.sub("", page)):
        text = " ".join(quoted.split())
        program, _, arguments = text.partition(" ")
        if program in COMMANDS and arguments:
            program, text = "tilewright", f"tilewright {text}"
        if program in _PROGRAMS and arguments:
            found.append(Command(text, in_text=True))
    return found


def _without_comment(line: str) -> str:
    return re.split(r"\s+# ", line)[0].strip()


def read_cells(page: str) -> list[Cell]:
    """Split a page at its Python blocks."""
    cells, end = [], 0
    for found in _BLOCK.finditer(page):
        cells += [Cell(page[end : found.start()]), Cell(found[2], is_code=True, is_run=found[1] is None)]
        end = found.end()
    return [*cells, Cell(page[end:])]


def run_cells(cells: list[Cell], folder: Path) -> list[Output]:
    """Run the blocks in a folder, which is then the current one, and return one output per cell.

    Raises:
        Exception: Whatever a block raises, with a note that has its text.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs = []
    with working_in(folder):
        for cell in cells:
            try:
                outputs.append(_run(cell.text, names, folder) if cell.is_run else Output())
            except Exception as error:
                error.add_note(f"in the block\n{cell.text}")
                raise
    return outputs


def _run(source: str, names: dict[str, Any], folder: Path) -> Output:
    file = _FILE.match(source)
    if file is not None:
        (folder / file[1]).write_text(source, encoding="utf-8")
        return Output()
    program = ast.parse(source)
    last = program.body.pop() if program.body and isinstance(program.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "<page>", "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)  # noqa: S307
            if value is not None and not _is_plot(value):
                print(value if isinstance(value, str) else repr(value))
    return Output(printed.getvalue(), tuple(_take_plots()))


def _is_plot(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "matplotlib"


def _take_plots() -> Iterator[bytes]:
    """Close all figures of pyplot, if it is in use, and return them as PNG."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        image = io.BytesIO()
        pyplot.figure(number).savefig(image, format="png", dpi=100)
        yield image.getvalue()
    pyplot.close("all")


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Make a folder the current one, where modules are found, too; modules of it are forgotten at the end."""
    before, modules = Path.cwd(), set(sys.modules)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path.remove(str(folder))
        for name in set(sys.modules) - modules:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == folder:
                del sys.modules[name]


def with_outputs(cells: list[Cell], outputs: list[Output]) -> str:
    """Return the page with the output of every block after it."""
    parts = []
    for cell, output in zip(cells, outputs, strict=True):
        parts.append(f"```python\n{cell.text}```\n" if cell.is_code else cell.text)
        if output.text:
            parts.append(f"\n:::{{code-block}} text\n:class: output\n\n{output.text.rstrip()}\n:::\n")
        for image in output.images:
            data = base64.b64encode(image).decode()
            parts.append(f'\n<img alt="the plot of the block above" src="data:image/png;base64,{data}">\n')
    return "".join(parts)


def as_notebook(cells: list[Cell], outputs: list[Output]) -> dict[str, Any]:
    """Return the page as a Jupyter notebook of version 4, with outputs."""
    shown = [(cell, output) for cell, output in zip(cells, outputs, strict=True) if cell.text.strip()]
    return {
        "cells": [_notebook_cell(number, cell, output) for number, (cell, output) in enumerate(shown)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _notebook_cell(number: int, cell: Cell, output: Output) -> dict[str, Any]:
    about = {"id": f"cell-{number}", "metadata": {}}
    if not cell.is_code:
        return {"cell_type": "markdown", **about, "source": cell.text.strip()}
    file = _FILE.match(cell.text)
    source = f"%%writefile {file[1]}\n{cell.text}" if file else cell.text
    found: list[dict[str, Any]] = [
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": base64.b64encode(image).decode()}}
        for image in output.images
    ]
    if output.text:
        found.insert(0, {"output_type": "stream", "name": "stdout", "text": output.text})
    return {"cell_type": "code", **about, "execution_count": None, "source": source.rstrip(), "outputs": found}
