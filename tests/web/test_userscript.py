"""The userscript of the examples on a page of another site: it shows our values there, and plays it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import browser
from tests.web.live import HANG_SECONDS, Live, listening
from tests.web.other_page import serving
from tilewright import make_agent, make_game

__all__ = ["browser"]  # a fixture

SCRIPT = (Path(__file__).parents[2] / "examples" / "2048.user.js").read_text()
AGENT = "ntuple"
NEARLY = "1024,512,256,128,8,16,32,64,4,2,0,0,2,0,0,0"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving() as origin:
        yield origin


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory, site: str) -> Iterator[Live]:
    with listening(tmp_path_factory.mktemp("runs"), origins=[site]) as found:
        yield found


def visit(browser: Browser, site: str, server: str, query: str) -> Page:
    """Open the page as a visitor with the script."""
    page = browser.new_page()
    page.set_default_timeout(1000 * HANG_SECONDS)
    options = {"tilewright.server": server, "tilewright.agent": AGENT}
    page.add_init_script(f"Object.assign(localStorage, {json.dumps(options)})")
    page.goto(f"{site}/?{query}")
    page.evaluate(SCRIPT)
    return page


def test_the_script_shows_values_and_plays_a_page_to_2048(browser: Browser, site: str, trusting: Live) -> None:
    page = visit(browser, site, trusting.url, f"seed=1&board={NEARLY}")
    rows = [[int(tile) for tile in NEARLY.split(",")][4 * row : 4 * row + 4] for row in range(4)]
    values = make_agent(AGENT).values(make_game("2048").parse(rows))
    best = max(values, key=values.__getitem__)
    expect(page.locator("#tilewright")).to_have_attribute("data-best", best)
    for move, value in values.items():
        expect(page.locator(f"#tilewright [data-move={move}]")).to_contain_text(f"{value:,.1f}".removesuffix(".0"))
    page.click("#tilewright button")
    page.wait_for_function("() => Number(document.querySelector('.best').textContent) >= 2048")
    page.click("#tilewright button")
    expect(page.locator("#tilewright button")).to_have_text("Play")
    page.close()


@pytest.mark.slow
def test_the_script_plays_a_whole_game_to_2048(browser: Browser, site: str, trusting: Live) -> None:
    page = visit(browser, site, trusting.url, "seed=1")
    page.click("#tilewright button")
    page.wait_for_function("() => Number(document.querySelector('.best').textContent) >= 2048")
    page.close()


def test_a_page_that_is_not_trusted_gets_nothing(browser: Browser, site: str, tmp_path: Path) -> None:
    with listening(tmp_path) as wary:
        page = visit(browser, site, wary.url, "seed=1")
        expect(page.locator("#tilewright small")).to_contain_text("Failed to fetch")
        expect(page.locator("#tilewright")).to_have_attribute("data-best", "")
        page.close()
