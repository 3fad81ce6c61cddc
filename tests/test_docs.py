"""The code of the documentation runs, its tables match the code, and its links lead somewhere."""

import dataclasses
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from _examples import read_cells, run_cells
from _reference import PARTS
from list_numbers import all_pages, list_numbers

import tilewright
from tests.process import HANG_SECONDS, environment
from tilewright import AGENTS, GAMES
from tilewright.cli.main import COMMANDS
from tilewright.deep.config import DeepConfig
from tilewright.training.config import TrainingConfig
from tilewright.training.run_folder import CurvePoint, DeepPoint, EpisodePoint, EvaluationPoint, StagePoint

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "results" not in page.parts)
# The tutorials have tests of their own, and the blocks of extending.md register names for the rest of the process.
WITH_CODE = [
    page
    for page in PAGES
    if "```python" in page.read_text(encoding="utf-8")
    and page.parent.name != "tutorials"
    and page.name != "extending.md"
]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(DOCS.parent).as_posix()


def blocks_of(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text_of(DOCS / page), re.DOTALL)


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
        timeout=HANG_SECONDS,
        check=False,
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mpl.rcParams, "backend", "agg")
    run_cells(read_cells(text_of(page)), tmp_path)


def test_the_entry_points_of_extending_name_its_classes() -> None:
    (block,) = blocks_of("how-to/extending.md", "toml")
    points = tomllib.loads(block)["project"]["entry-points"]
    assert points == {
        "tilewright.agents": {"corner": "my_agents:Corner"},
        "tilewright.games": {"fibonacci": "my_games:Fibonacci"},
    }


@pytest.fixture(scope="module")
def parts() -> dict[str, str]:
    """The generated parts of the reference."""
    return {name: make() for name, make in PARTS.items()}


def test_every_generated_part_has_its_place_on_a_page() -> None:
    places = [name for page in PAGES for name in re.findall(r"^<!-- generated: (.*) -->$", text_of(page), re.MULTILINE)]
    assert sorted(places) == sorted(PARTS)


def test_the_reference_has_every_key_with_its_default(parts: dict[str, str]) -> None:
    for part, kind in (("ntuple-keys", TrainingConfig), ("deep-keys", DeepConfig)):
        for field in dataclasses.fields(kind):
            assert f"| `{field.name.rstrip('_')}` |" in parts[part]
    assert "| `alpha` | number | `1.0` | above 0 and at most 2 |" in parts["ntuple-keys"]
    assert "| `train_freq` | integer | `4` | from 1 to 1,000,000 |" in parts["deep-keys"]


@pytest.mark.parametrize("registry", [AGENTS, GAMES], ids=lambda registry: registry.kind)
def test_the_reference_has_every_agent_and_game_with_all_options(parts: dict[str, str], registry: Any) -> None:
    text = parts[f"{registry.kind}s"]
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(sections) == list(registry.available())
    for name, section in sections.items():
        assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(registry.options(name))


def test_the_default_of_an_option_is_what_the_agent_takes(parts: dict[str, str]) -> None:
    expectimax = parts["agents"].partition("## `expectimax`")[2]
    assert re.search(r"\| `depth` \| integer \| `(\d+)` \| 1 to 12 \|", expectimax)[1] == "2"  # type: ignore[index]


def test_the_reference_has_every_command_with_its_examples_and_options(parts: dict[str, str]) -> None:
    assert re.findall(r"^## `(\w+)`", parts["commands"], re.MULTILINE) == list(COMMANDS)
    evaluate = parts["commands"].partition("## `evaluate`")[2]
    assert "\ntilewright evaluate random --games 100000\n" in evaluate
    assert re.search(r"^\| `--games` \| .* \| `1000` \|", evaluate, re.MULTILINE)


def test_the_reference_has_every_route_and_object(parts: dict[str, str]) -> None:
    assert "## `GET /api/v1/move`" in parts["http-api"]
    linked = set(re.findall(r"\]\(#(\w+)\)", parts["http-api"]))
    assert "advice" in linked
    assert linked <= {name.lower() for name in re.findall(r"^### (\w+)$", parts["http-api"], re.MULTILINE)}


def test_the_reference_has_every_public_name_and_column(parts: dict[str, str]) -> None:
    for name in tilewright.__all__:
        assert f":: tilewright.{name}\n" in parts["python-api"]
    for kind in (CurvePoint, DeepPoint, EvaluationPoint, StagePoint, EpisodePoint):
        for field in dataclasses.fields(kind):
            assert re.search(rf"^\| {field.name} +\|", parts["run-folder"], re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, DOCS.parent / "README.md"], ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", text_of(page)):
        if link.startswith(("http:", "https:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors_of(target), link


def test_numbers_of_the_readme_have_their_sources() -> None:
    numbers = {number.text: number.source for number in list_numbers(DOCS.parent / "README.md")}
    assert numbers["266,975 ± 7,868"] == "tilewright evaluate ntuple --games 1000 --seed 1"
    assert numbers["412,785"].startswith("TDL2048+")


def test_every_number_has_a_source() -> None:
    numbers = [number for page in all_pages() for number in list_numbers(page)]
    assert [number for number in numbers if not number.source] == []
    assert len(numbers) > 1000


def test_a_number_without_a_source_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("list_numbers.ROOT", tmp_path)
    page = tmp_path / "page.md"
    sections = (
        "# Title\n\n12,345 points with a 95 % interval.",
        "## Next\n\n`tilewright bench 2048-random` makes 49.3 M.",
        "```text\n9,999\n```",
        "### Part\n\n1.5 M.",
        "## Another\n\n12 %.",
    )
    page.write_text("\n\n".join(sections))
    found = [(number.line, number.text, number.source) for number in list_numbers(page)]
    bench = "tilewright bench 2048-random"
    assert found == [(3, "12,345", ""), (7, "49.3 M", bench), (15, "1.5 M", bench), (19, "12 %", "")]
