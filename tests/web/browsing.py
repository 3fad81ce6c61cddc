"""A browser on the page: fixtures and helpers for the tests of the page."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.web.live import HANG_SECONDS, Live, listening, wait_until
from tilewright import GAMES, Board, make_game
from tilewright.web.playback import Playback
from tilewright.web.positions import start_position
from tilewright.web.registration import register_game

__all__ = [
    "FASTEST",
    "KEYS",
    "begin",
    "board_on",
    "browser",
    "choose",
    "expect_drawn",
    "expect_values",
    "live",
    "number",
    "page",
    "paste",
    "round_trip",
    "set_slider",
    "set_up",
    "tiles_of",
    "values_on",
    "wait",
]

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]
FASTEST = "9"  # place of the speed slider
WORKER_BLOCKED = "Service Worker registration blocked by Playwright"
KEYS = {"up": "ArrowUp", "right": "d", "down": "j", "left": "ArrowLeft"}


PLAYED = {
    "2048": ("greedy", "random", "heuristic:depth=1", "expectimax:depth=1,model=large"),
    "threes": ("greedy", "random", "heuristic:depth=1"),
    "2048:rows=3,columns=3": ("ntuple:model=small",),
    "Halves": ("greedy",),
}
expect.set_options(timeout=1000 * HANG_SECONDS)


@pytest.fixture(scope="module")
def live(runs: Path) -> Iterator[Live]:
    """A server whose kernels are compiled, with a game of a user."""
    games = dict(GAMES._own)
    register_game("tests.web.plugins:Halves")
    with listening(runs) as found:
        for spec, agents in PLAYED.items():
            game = make_game(spec)
            for name in agents:
                agent = found.server.agents.make(name, game)
                Playback(agent, game).play(start_position(game, 0, 0), 1)
                agent.analyse(game.start(0))
        yield found
    GAMES._own = games


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser, live: Live, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A new visitor on the page; whatever the console complains about fails the test.

    The parameters of the fixture are options of the browser's context. With `loses_network`, requests may fail. The
    service worker is blocked unless a test allows it: once it controls the page, tests cannot hold requests back.
    """
    defaults = {"viewport": {"width": 1280, "height": 900}, "service_workers": "block"}
    options: dict[str, Any] = defaults | getattr(request, "param", {})
    loses_network = options.pop("loses_network", False)
    context = browser.new_context(base_url=live.url, **options)
    context.route("**/nowhere", lambda route: route.abort())  # a page that has begun may miss a first route for a while
    found = context.new_page()
    found.set_default_timeout(1000 * HANG_SECONDS)
    complaints: list[str] = []
    found.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    found.on("pageerror", lambda error: complaints.append(str(error)))
    refused: list[str] = []
    found.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    found.goto("/")
    expect(found.locator(".bar.best").first).to_be_visible()
    yield found
    if loses_network:
        complaints = [
            words for words in complaints if "Failed to load resource" not in words and "WebSocket" not in words
        ]
    complaints = [words for words in complaints if words != WORKER_BLOCKED]
    assert not complaints, (complaints, refused)
    context.close()


def board_on(page: Page, index: str = "#board") -> list[list[int]]:
    """The tiles as a screen reader hears them."""
    label = page.locator(index).get_attribute("aria-label") or ""
    rows = re.findall(r"Row \d+: ([^.]+)", label)
    return [[0 if word == "empty" else int(word) for word in row.split()] for row in rows]


def expect_drawn(page: Page, tiles: list[list[int]]) -> None:
    """Wait until the tiles on the screen are these: tiles that merge arrive a little later than the move."""
    wanted = sorted(tile for row in tiles for tile in row if tile)
    page.wait_for_function(
        """wanted => {
            const shown = [...document.querySelectorAll("#board .tile")].map((tile) => Number(tile.textContent));
            return JSON.stringify(shown.sort((a, b) => a - b)) === JSON.stringify(wanted);
        }""",
        arg=wanted,
    )


def tiles_of(board: Board) -> list[list[int]]:
    return [list(row) for row in board.tiles]


def begin(page: Page, game: str = "2048", seed: int = 7, **options: str) -> None:
    page.click("#new")
    page.check(f"#new-dialog input[value='{game}']")
    page.fill("#new-seed", str(seed))
    if options and not page.locator("#new-dialog details").evaluate("details => details.open"):
        page.click("#new-dialog summary")
    for name, value in options.items():
        page.fill(f"#new-options [name='{name}']", value)
    page.click("#new-ok")
    expect(page.locator("#new-dialog")).to_be_hidden()
    expect(page.locator("#game-about")).to_have_text(f"0 moves · seed {seed}")


def choose(page: Page, agent: str, thinks: str = "", index: str = "#ask-agent") -> None:
    page.locator(f"{index} select").nth(0).select_option(agent)
    if thinks:
        page.locator(f"{index} select").nth(1).select_option(thinks)


def set_up(page: Page, text: str) -> None:
    page.click("#edit")
    page.fill("#edit-text", text)
    page.click("#edit-dialog button[type=submit]")
    expect(page.locator("#edit-dialog")).to_be_hidden()


def set_slider(page: Page, index: str, value: str) -> None:
    page.locator(index).fill(value)


def wait(page: Page, holds: Callable[[], bool]) -> None:
    """Wait for a condition of the server while the page goes on."""
    wait_until(holds, pause=lambda seconds: page.wait_for_timeout(1000 * seconds))


def expect_values(page: Page, text: str) -> None:
    """Wait until the values of the agent and the position that were chosen last are shown."""
    expect(page.locator("#bars")).to_have_attribute("data-board", text)
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "false")


def values_on(page: Page) -> dict[str, float]:
    """The values of the legal moves, with the one digit that is shown."""
    found = {}
    for row in page.locator("#bars .bar:not(:disabled)").all():
        shown = row.locator(".value").inner_text().split("\n")[0]
        found[row.get_attribute("data-move") or ""] = float(shown.replace(",", ""))
    return found


def number(text: str) -> float:
    """A number as the page writes it: 1,234.5 or −12 %."""
    return float(re.sub(r"[^0-9.−]", "", text).replace("−", "-"))


def paste(page: Page, text: str) -> None:
    """Paste a text into the page itself, in no field."""
    page.evaluate(
        """text => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", text);
            document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }""",
        text,
    )


def round_trip(page: Page) -> None:
    """Wait for an answer of the server, which comes after whatever was sent before."""
    page.evaluate("fetch('api/v1/games').then((answer) => answer.json())")
