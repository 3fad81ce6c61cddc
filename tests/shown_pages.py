"""The pages of README and docs, and a folder with the files that their commands read."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
from _examples import Command, read_cells, read_commands  # noqa: E402

__all__ = ["PAGES", "ROOT", "Command", "is_shown", "name_of", "read_commands", "text_of", "write_files"]

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "results" not in page.relative_to(ROOT).parts),
]
_LINKED = ("benchmarks", "docs", "examples", "src", "tests", "torture", "README.md", "CONTRIBUTING.md")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def is_shown(printed: str, shown: str) -> bool:
    """Whether a command prints what the page shows.

    In it, `…` is any text, and a line that begins with a space continues the one before. Nothing shown always fits.
    """
    patterns = (re.escape(text.strip()).replace("…", ".*?") for text in (shown, shown.replace("\n ", "")))
    return not shown.strip() or any(re.fullmatch(pattern, printed.strip(), re.DOTALL) for pattern in patterns)


def write_files(folder: Path) -> None:
    """Write the files that the commands of the pages read: those that Python blocks define, and submissions."""
    for page in PAGES:
        for cell in read_cells(text_of(page)):
            if cell.is_code and (named := re.match(r"# (\w+\.py)\n", cell.text)):
                (folder / named[1]).write_text(cell.text, encoding="utf-8")
    (folder / "submissions").mkdir()
    (folder / "submissions" / "corner.py").write_text((folder / "my_agents.py").read_text(encoding="utf-8"))
    program = "".join(cell.text for cell in read_cells(text_of(ROOT / "docs/tutorials/td-learning.md")) if cell.is_code)
    mistaken = program.partition("random.seed(1)")[0].replace(" / len(TUPLES)", "")
    (folder / "submission.py").write_text(mistaken, encoding="utf-8")
    for name in _LINKED:
        (folder / name).symlink_to(ROOT / name)
