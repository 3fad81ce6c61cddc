"""The languages of the page: every text is in every file, and no text stands in the page itself."""

import json
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.browsing import begin, browser, choose, live, page, set_up
from tests.web.live import HANG_SECONDS, Live

__all__ = ["browser", "live", "page"]  # fixtures

STATIC = Path(str(resources.files("tilewright.web") / "static"))
FILES = {path.stem: path for path in (STATIC / "lang").glob("*.json") if path.stem != "index"}
TEXTS: dict[str, dict[str, Any]] = {name: json.loads(path.read_text("utf-8")) for name, path in FILES.items()}
NAMES = {"0", "tilewright", "openapi.json", "«", "‹", "›", "»", "rows=3,columns=3"}  # which are the same everywhere
SHOWN = ("aria-label", "title", "placeholder")
FORMAT = '{"format": "tilewright-game-1", …}'


def forms(text: str | dict[str, str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text.values())


def values_in(text: str | dict[str, str]) -> set[str]:
    return {name for form in forms(text) for name in re.findall(r"\{(\w+)\}", form)}


@pytest.mark.parametrize("language", FILES)
def test_every_language_has_every_text(language: str) -> None:
    assert TEXTS[language].keys() == TEXTS["en"].keys()
    for key, text in TEXTS[language].items():
        assert all(form.strip() for form in forms(text)), key
        assert values_in(text) == values_in(TEXTS["en"][key]), key
        assert isinstance(text, str) or "other" in text, key
        assert len(re.findall(r"\[[^\]]+\]", forms(text)[0])) == len(
            re.findall(r"\[[^\]]+\]", forms(TEXTS["en"][key])[0])
        ), key


def test_every_file_is_in_the_list() -> None:
    names = json.loads((STATIC / "lang" / "index.json").read_text("utf-8"))
    assert names.keys() == FILES.keys()
    assert {"en", "de", "zh", "es"} <= names.keys()


class _Texts(HTMLParser):
    """Collects what a page says itself, and the keys of what it has said for it."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.keys: set[str] = set()
        self._skips = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._skips = tag in ("script", "style")
        for name, value in attributes:
            if name in SHOWN and value is not None and value not in (FORMAT, *NAMES):
                self.texts.append(value)
            if name == "data-t" or name.startswith("data-t-"):
                self.keys.add(value or "")

    def handle_data(self, data: str) -> None:
        if not self._skips and data.strip() and data.strip() not in NAMES:
            self.texts.append(data.strip())


@pytest.mark.parametrize("file", ["index.html", "api.html"])
def test_pages_have_no_text_of_their_own(file: str) -> None:
    parser = _Texts()
    parser.feed((STATIC / file).read_text("utf-8"))
    assert parser.texts == []
    assert parser.keys <= TEXTS["en"].keys()


def literals(source: str) -> list[str]:
    """The strings of a module, without comments; values in templates are left out."""
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    source = re.sub(r"(?m)(^|\s)//.*$", "", source)
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)
    templates = re.findall(r"`((?:[^`\\]|\\.)*)`", source)
    return found + [re.sub(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "", template) for template in templates]


CODE = re.compile(
    r"^(nav a|\(prefers-|\d+ |input, |button, |select, |#|\.|\[|dialog|image/|text/|application/|M[-\d]|-?\d)"
    r"|px |sans-serif"
)


@pytest.mark.parametrize("module", sorted(path.name for path in (STATIC / "js").glob("*.js")))
def test_modules_have_no_text_of_their_own(module: str) -> None:
    source = (STATIC / "js" / module).read_text("utf-8")
    keys = set(re.findall(r'\bt\("([^"]+)"', source))
    assert keys <= TEXTS["en"].keys()
    sentences = [text for text in literals(source) if re.search(r"[A-Za-z]{2,}[,:;]? [a-z]{2,}", text)]
    classes = set(re.findall(r'class: "([^"]*)"', source))
    assert [text for text in sentences if text not in classes and not CODE.search(text)] == []


def test_the_language_is_that_of_the_browser_and_can_be_chosen(browser: Browser, live: Live) -> None:
    context = browser.new_context(base_url=live.url, locale="de-AT")
    german = context.new_page()
    german.set_default_timeout(1000 * HANG_SECONDS)
    german.goto("/")
    expect(german.locator("#undo")).to_have_text("Zurück")
    expect(german.locator("html")).to_have_attribute("lang", "de")
    expect(german.locator(".bar.best .value").first).to_contain_text(re.compile(r"^[\d.]+,\d"))
    german.select_option("#language", "es")
    expect(german.locator("#undo")).to_have_text("Atrás")
    german.reload()
    expect(german.locator("#undo")).to_have_text("Atrás")
    context.close()


@pytest.mark.parametrize("language", ["de", "es", "zh"])
def test_longer_words_fit_on_a_small_phone(browser: Browser, live: Live, language: str) -> None:
    context = browser.new_context(base_url=live.url, locale=language, viewport={"width": 320, "height": 568})
    small = context.new_page()
    small.set_default_timeout(1000 * HANG_SECONDS)
    small.goto("/")
    expect(small.locator(".bar.best").first).to_be_visible()
    bars, theme = (small.locator(part).bounding_box() for part in ("#bars", "#theme"))
    assert bars is not None
    assert theme is not None
    assert bars["y"] + bars["height"] <= 568
    assert theme["x"] + theme["width"] <= 320
    for view in ("play", "review", "learn", "compare", "runs"):
        small.goto(f"/#{view}")
        expect(small.locator(f"#view-{view}")).to_be_visible()
        assert small.evaluate("document.documentElement.scrollWidth") <= 320, view
    context.close()


WIDE = {code: code + 0xFEE0 for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))}


def widened(text: str | dict[str, str]) -> str | dict[str, str]:
    """The same text in wide letters; names of values and keys stay as they are."""
    if isinstance(text, dict):
        return {form: str(widened(words)) for form, words in text.items()}
    parts = re.split(r"(\{\w+\}|\[[^\]]+\])", text)
    return "".join(part if i % 2 else part.translate(WIDE) for i, part in enumerate(parts))


SHOWN_TEXTS = """() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement, textContent } = walker.currentNode;
        if (!parentElement.closest("pre, script, kbd, #language, .brand")) found.push(textContent);
    }
    for (const name of ["aria-label", "title", "placeholder"]) {
        for (const element of document.querySelectorAll(`[${name}]:not(option, .brand)`)) {
            found.push(element.getAttribute(name));
        }
    }
    return found;
}"""
NAMED = {"expectimax", "ntuple", "heuristic", "minimax", "montecarlo", "uct", "greedy", "random", "large", "small"}
NAMED |= {"threes", "halves", "ms", "depth", "model", "rows", "columns", "format", "tilewright", "game", "growing"}
NAMED |= {"win", "tile"}  # in the game of a run


def test_whatever_is_shown_comes_from_the_language(browser: Browser, live: Live) -> None:
    """In a language of wide letters, other letters are only in the names of games, agents and runs."""
    context = browser.new_context(base_url=live.url, locale="en")
    other = context.new_page()
    other.set_default_timeout(1000 * HANG_SECONDS)

    def answer(route: Route) -> None:
        route.fulfill(json={key: widened(text) for key, text in TEXTS["en"].items()})

    other.route("**/lang/en.json", answer)

    def check(where: str) -> None:
        words = {word for text in other.evaluate(SHOWN_TEXTS) for word in re.findall("[A-Za-z]{2,}", text)}
        assert {word for word in words if word.lower() not in NAMED} == set(), where

    other.goto("/")
    expect(other.locator(".bar.best").first).to_be_visible()
    check("play")
    other.click("#new")
    expect(other.locator("#new-dialog")).to_be_visible()
    check("new")
    other.click("#new-cancel")
    set_up(other, "2 4 8 2 / 16 32 64 4 / 512 256 128 0 / 1024 2 0 0")
    choose(other, "expectimax:model=large", "depth=1")
    expect(other.locator("#bars")).to_have_attribute("aria-busy", "false")
    other.keyboard.press("ArrowDown")
    other.click("#to-review")
    choose(other, "greedy", index="#review-agent")
    other.click("#review-form button[type=submit]")
    expect(other.locator("#review-found")).to_be_visible()
    check("review")
    filled = {"learn": "#learn-figures dd", "compare": "#compare-agents option", "runs": "#runs-chart path.line"}
    for view, content in filled.items():
        other.goto(f"/#{view}")
        expect(other.locator(content).first).to_be_attached()
        check(view)
    context.close()


def test_numbers_of_moves_have_their_forms(page: Page) -> None:
    begin(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#game-about")).to_have_text("1 move · seed 7")
