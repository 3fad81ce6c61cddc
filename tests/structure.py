"""Numbers about the source tree: how far a board travels, how deep imports go, what is typed and documented.

`python -m tests.structure` prints them; `tests/test_structure.py` holds the line.
"""

import ast
import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType
from typing import ClassVar

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "tilewright"
BOARD = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"


def board_modules(agent: str = "ntuple", game: str = "2048") -> tuple[set[str], set[str]]:
    """The modules that a board passes in `tilewright move`: those of Python functions, those of compiled ones.

    A Python function counts if it takes or returns the board: its text, a `Board` or a `State`. What is compiled into
    a kernel that takes it counts if it is not in the cache, so an empty one is needed (`TILEWRIGHT_CACHE`).
    """
    from numba.core import event

    from tilewright.cli.main import main
    from tilewright.games.board import Board
    from tilewright.games.rules import State

    in_python, compiled = set[str](), set[str]()

    def has_board(value: object) -> bool:
        if isinstance(value, tuple | list) and not isinstance(value, State):
            return any(has_board(part) for part in value)
        return isinstance(value, Board | State) or (isinstance(value, str) and BOARD in value)

    def trace(frame: FrameType, what: str, result: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith("tilewright.") or what not in ("call", "return"):
            return
        values = [result] if what == "return" else list(frame.f_locals.values())
        if any(has_board(value) for value in values):
            in_python.add(module)

    class Listener(event.Listener):  # type: ignore[misc]  # numba is not typed
        """Notes what is compiled for a kernel that takes a state."""

        kernels: ClassVar[list[bool]] = []  # those that are being compiled, the outermost first: takes it a state?

        def on_start(self, event: event.Event) -> None:
            kinds = [getattr(kind, "instance_class", None) for kind in event.data["args"]]
            self.kernels.append(State in kinds)
            module = event.data["dispatcher"].py_func.__module__
            if self.kernels[0] and module.startswith("tilewright."):
                compiled.add(module)

        def on_end(self, event: event.Event) -> None:
            self.kernels.pop()

    event.register("numba:compile", Listener())
    sys.setprofile(trace)
    try:
        with redirect_stdout(io.StringIO()):
            assert main(["move", BOARD, "--agent", agent, "--game", game]) == 0
    finally:
        sys.setprofile(None)
    return in_python, compiled


def sources() -> Iterator[tuple[Path, ast.Module]]:
    """All modules of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def loose_modules() -> list[str]:
    """The modules in the root, without `__init__` and `__main__`."""
    return sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__"))


def lines_with_any() -> int:
    """The number of lines that mention `Any`."""
    return sum(bool(re.search(r"\bAny\b", line)) for path, _ in sources() for line in path.read_text().splitlines())


def undocumented() -> list[str]:
    """The public functions and methods without a docstring."""
    found = []
    for path, tree in sources():
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
        for body in (tree.body, *(node.body for node in classes)):
            for node in body:
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name[0] == "_":
                    continue
                is_overload = any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list)
                if ast.get_docstring(node) is None and not is_overload:
                    found.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}")
    return found


def import_layers() -> list[str]:
    """The longest chain of packages (folders, and modules of the root) of which each imports the next."""
    imports: dict[str, set[str]] = {}
    for path, tree in sources():
        package = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if package in ("__init__", "__main__"):
            continue
        used = imports.setdefault(package, set())
        for node in ast.walk(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            used |= {name.split(".")[1] for name in names if name.startswith("tilewright.")} - {package}
    longest: dict[str, list[str]] = {}

    def chain(package: str, above: tuple[str, ...]) -> list[str]:
        if package not in longest:
            below = [
                chain(name, (*above, package)) for name in imports.get(package, ()) if name not in (*above, package)
            ]
            longest[package] = [package, *max(below, key=len, default=[])]
        return longest[package]

    return max((chain(package, ()) for package in imports), key=len)


def main() -> None:
    """Print all numbers."""
    in_python, compiled = board_modules()
    print(f"modules a board passes in `tilewright move`: {len(in_python | compiled)}")
    print(f"  in Python: {' '.join(sorted(name.removeprefix('tilewright.') for name in in_python))}")
    print(f"  compiled:  {' '.join(sorted(name.removeprefix('tilewright.') for name in compiled))}")
    layers = import_layers()
    print(f"import layers: {len(layers)} ({' > '.join(layers)})")
    print(f"loose modules in the root: {len(loose_modules())} ({' '.join(loose_modules())})")
    print(f"lines that mention Any: {lines_with_any()}")
    print(f"public functions without a docstring: {len(undocumented())} {undocumented()[:5]}")


if __name__ == "__main__":
    main()
