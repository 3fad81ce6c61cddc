"""List every number of README and documentation with the command, report or paper that it comes from.

    python docs/list_numbers.py                 # all pages
    python docs/list_numbers.py README.md       # some
    python docs/list_numbers.py --missing       # only numbers without a source; the exit code is then 1

The source of a number is looked for in its own cell, in the heading of its column, in its line, then in its section
from there upwards and downwards, then in the introductions of the sections that this section is part of. A paper or
another program is the source of numbers in the same line or column only; a command or a report also of those nearby.
This says where to look; it does not run anything. Numbers inside code and the level of a "95 % interval" are not
results, and reports under docs/results name their own commands.
"""

import argparse
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Number", "all_pages", "list_numbers"]

ROOT = Path(__file__).resolve().parent.parent
_NUMBER = re.compile(
    r"(?<![\w./-])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?: ± [\d,.]+)?"  # 266,975 ± 7,868
    r"|(?<![\w./-])\d+(?:\.\d+)? %(?! (?:confidence )?interval)"  # 97.8 %
    r"|(?<![\w./-])\d+(?:\.\d+)?(?: ± [\d.]+| [kMG]\b)"  # 29.02 ± 0.43, 2.77 M
)
_CODE = re.compile(r"`[^`]*`")
_COMMANDS = "train|evaluate|bench|solve|reproduce|sweep|models|move|review|demo|audit"
_AUTHORS = "Szubert|Jaśkowski|Yeh|Guei|Chen|Matsuzaki|Goenawan|Bouhoula|Kondo|Amar|Lees-Miller|TDL2048\\+"
_PROGRAMS = "macroxue|halfrost|2048EndgameTablebase|pgx|jumanji|gymnasium-2048|the paper|paper[:,]"
_OURS = (
    re.compile(rf"tilewright (?:{_COMMANDS})\b[^`\n]*"),
    re.compile(r"(?:python (?:-m )?(?:benchmarks|examples|torture)|wrk -)[^`\n]*|make (?:demo|test|torture|docs)\b"),
    re.compile(r"\]\(([^)]*(?:results/|report\.md)[^)]*)\)"),
)
_OTHERS = (re.compile(rf"\b(?:{_AUTHORS}|{_PROGRAMS})[^|`.;)]{{0,40}}"),)


class Number(NamedTuple):
    """A number of a page, and where it comes from; `source` is empty if nothing says so."""

    page: str
    line: int
    text: str
    source: str


def list_numbers(page: Path) -> list[Number]:
    """Return the numbers of a page in their order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    sections = _sections(lines)
    name = page.resolve().relative_to(ROOT).as_posix()
    found, headings = [], [""]
    for number, line in _prose(lines):
        parts = line.split("|") if line.startswith("|") else [line]
        if len(parts) != len(headings) or not line.startswith("|"):
            headings = parts
        for part, heading in zip(parts, headings, strict=True):
            texts = _NUMBER.findall(_CODE.sub("", part))
            here = (_source(text, _OURS + _OTHERS) for text in (part, heading, line))
            nearby = (_source(lines[other], _OURS) for other in _nearby(number, sections, lines))
            source = next(filter(None, itertools.chain(here, nearby)), "") if texts else ""
            found += [Number(name, number + 1, text.rstrip(",."), source) for text in texts]
    return found


def _sections(lines: list[str]) -> list[int]:
    """Return the lines on which sections start, and the end of the page."""
    in_block, starts = False, [0]
    for number, line in enumerate(lines):
        in_block ^= line.startswith("```")
        if line.startswith("#") and not in_block and number:
            starts.append(number)
    return [*starts, len(lines)]


def _prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of code blocks, with their numbers."""
    in_block = False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            in_block = not in_block
        elif not in_block:
            yield number, line


def _nearby(number: int, sections: list[int], lines: list[str]) -> Iterator[int]:
    """Yield the other lines in which a source may stand, the best first."""
    inner = max(start for start in sections if start <= number)
    end = min(end for end in sections if end > number)
    yield from range(number - 1, inner - 1, -1)
    yield from range(number + 1, end)
    for start, following in reversed(list(itertools.pairwise(sections))):
        if start < inner and _level(lines[start]) < _level(lines[inner]):
            yield from range(start, following)
            inner = start


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _source(line: str, patterns: tuple[re.Pattern[str], ...]) -> str:
    for pattern in patterns:
        if found := pattern.search(line):
            return " ".join((found[1] if found.re.groups else found[0]).split())
    return ""


def all_pages() -> list[Path]:
    """Return the pages whose numbers need a source."""
    pages = [
        page for page in sorted((ROOT / "docs").rglob("*.md")) if "results" not in page.relative_to(ROOT).parts[:2]
    ]
    return [ROOT / "README.md", *pages]


def main() -> int:
    """Print the list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--missing", action="store_true", help="only numbers without a source")
    options = parser.parse_args()
    numbers = [number for page in options.pages or all_pages() for number in list_numbers(page)]
    shown = [number for number in numbers if not number.source] if options.missing else numbers
    for number in shown:
        print(f"{number.page}:{number.line}\t{number.text}\t{number.source or '–'}")
    return 1 if options.missing and shown else 0


if __name__ == "__main__":
    sys.exit(main())
