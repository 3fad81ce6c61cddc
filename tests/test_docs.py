"""The code of the documentation runs, its tables match the code, and its links lead somewhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.process import environment
from tilewright import AGENTS
from tilewright._core.config import Config, describe_config
from tilewright.deep.config import DeepConfig
from tilewright.training.config import TrainingConfig

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "results" not in page.parts)


def blocks_of(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_blocks_of_extending_run_in_a_fresh_process(tmp_path: Path) -> None:
    program = []
    for block in blocks_of("how-to/extending.md", "python"):
        named = re.match(r"# (\w+\.py)\n", block)
        if named is None:
            program.append(block)
        else:
            (tmp_path / named[1]).write_text(block, encoding="utf-8")
    (tmp_path / "program.py").write_text("\n".join(program), encoding="utf-8")
    assert len(program) >= 4
    found = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert found.returncode == 0, found.stderr


def test_the_entry_points_of_extending_name_its_classes() -> None:
    (block,) = blocks_of("how-to/extending.md", "toml")
    points = tomllib.loads(block)["project"]["entry-points"]
    assert points == {
        "tilewright.agents": {"corner": "my_agents:Corner"},
        "tilewright.games": {"fibonacci": "my_games:Fibonacci"},
    }


def test_the_ranges_of_the_search_options_are_those_of_the_code() -> None:
    text = (DOCS / "explanation/search.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([\d.,]+) \| ([\d.,]+) \|", text, re.MULTILINE)
    listed = {
        (agent, option): f"{low} to {high}"
        for option, agents, low, high in rows
        for agent in re.findall(r"`(\w+)`", agents)
    }
    expected = {
        (agent, name): f"{option.range.least:,} to {option.range.largest:,}"
        for agent in AGENTS.available()
        for name, option in AGENTS.options(agent).items()
        if option.range is not None
    }
    assert listed == expected


@pytest.mark.parametrize(
    ("page", "kind"), [("explanation/learning.md", TrainingConfig), ("explanation/deep.md", DeepConfig)]
)
def test_the_table_of_keys_is_that_of_the_code(page: str, kind: type[Config]) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    rows = [
        f"| `{row.key}` | {row.type} | `{row.default}` | {row.allowed} | {row.meaning} |"
        for row in describe_config(kind)
    ]
    table = "\n".join(["| key | type | default | allowed | meaning |", "| --- | --- | --- | --- | --- |", *rows, ""])
    assert table in text, f"docs/{page} needs this table:\n{table}"


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [*PAGES, DOCS.parent / "README.md"], ids=lambda page: page.relative_to(DOCS.parent).as_posix()
)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith(("http:", "https:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors_of(target), link
