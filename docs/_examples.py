"""The Python blocks of a page: run, with their outputs, and as a notebook.

All blocks of a page are one program. A block whose first line is a comment with a file name, as `# my_agents.py`, is
written to that file, so that later blocks can import it. A block after `<!-- not run: REASON -->` is only shown.
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

__all__ = ["Cell", "Output", "as_notebook", "read_cells", "run_cells", "with_outputs"]

_BLOCK = re.compile(r"^(<!-- not run: [^\n]* -->\n)?```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w-]+\.py)\n")


class Cell(NamedTuple):
    """A part of a page: Markdown, or one Python block."""

    text: str
    is_code: bool = False
    is_run: bool = False


class Output(NamedTuple):
    """What a block printed, the value of its last expression, and its plots as PNG."""

    text: str = ""
    images: tuple[bytes, ...] = ()


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
    with _working_in(folder):
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
def _working_in(folder: Path) -> Iterator[None]:
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
