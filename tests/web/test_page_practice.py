"""The page as a coach beyond one's own game: following other games, replays, variations, practice by theme, the API."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import KEYS, begin, board_on, browser, choose, page, paste, set_up, tiles_of
from tests.web.live import Live, listening
from tilewright import load_table, make_agent, make_game, solve
from tilewright.play.recording import play_recorded
from torture.replay_texts import old_form

__all__ = ["browser", "page"]  # fixtures

ABOUT, SAID = "#game-about", "#said"
TABLE_GAME = "2048:rows=2,columns=3"


@pytest.fixture(scope="module")
def live(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server with a table of endgames."""
    table = solve(TABLE_GAME, goal=64, out=tmp_path_factory.mktemp("tables") / "small", threads=1)
    with listening(runs, agents=[f"exact:table={table.path}"]) as found:
        yield found


def test_a_game_elsewhere_is_followed_by_its_new_tiles_alone(page: Page) -> None:
    game = make_game("2048")
    text = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
    set_up(page, text)
    page.click("#follow")
    after, reward = game.slide(game.parse(text), "left")
    page.keyboard.press("ArrowLeft")
    empty = [(row, column) for row in range(4) for column in range(4) if not after.tiles[row][column]]
    expect(page.locator("#board .spot")).to_have_count(len(empty))
    page.locator("#board .spot").nth(3).click()  # two clicks: the cell and the tile
    page.locator("#follow-choices button", has_text="4").click()
    expect(page.locator(ABOUT)).to_have_text("1 move · own board")
    tiles = [list(row) for row in after.tiles]
    row, column = empty[3]
    tiles[row][column] = 4
    assert board_on(page) == tiles
    expect(page.locator("#score")).to_have_text(str(reward))
    expect(page.locator(".bar.best").first).to_be_enabled()  # the agent is asked about it

    after, _ = game.slide(game.parse(tiles), "down")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#board .spot").first).to_be_visible()
    page.keyboard.press("ArrowRight")  # the first cell; then by keys to another one, and its tile
    page.keyboard.press("ArrowRight")
    chosen = page.locator("#board .spot[aria-pressed=true]").get_attribute("aria-label") or ""
    page.keyboard.press("2")
    expect(page.locator(ABOUT)).to_have_text("2 moves · own board")
    place = [int(part) - 1 for part in re.findall(r"\d", chosen)]
    tiles = [list(row) for row in after.tiles]
    tiles[place[0]][place[1]] = 2
    assert board_on(page) == tiles
    page.click("#undo")
    page.click("#follow")
    page.keyboard.press("ArrowDown")  # moves are the page's own again
    expect(page.locator(ABOUT)).to_have_text("2 moves · own board")


def test_in_threes_the_new_tile_is_known_and_the_next_one_is_asked_for(page: Page) -> None:
    begin(page, "threes")
    text = "3 3 1 0 / 0 2 0 0 / 0 0 0 6 / 0 0 0 1 hint=2"
    set_up(page, text)
    page.keyboard.press("f")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#board .spot")).to_have_count(4)
    page.locator("#board .spot").nth(1).click()
    page.locator("#follow-choices button", has_text="next 3").click()
    game = make_game("threes")
    after, _ = game.slide(game.parse_position(text), "left")
    tiles = [list(row) for row in after.tiles]
    tiles[1][3] = 2
    assert board_on(page) == tiles
    expect(page.locator("#hint b")).to_have_text("3")


@pytest.mark.parametrize("page", [{"loses_network": True}], indirect=True)  # the console notes the refusal
def test_a_replay_of_another_site_is_reviewed(page: Page) -> None:
    recording = play_recorded(make_agent("greedy").player(make_game("2048")), 4, 0)
    paste(page, old_form(recording))
    expect(page.locator("#review-said")).to_have_text("one game pasted")
    choose(page, "greedy", index="#review-agent")
    page.click("#review-form button[type=submit]")
    expect(page.locator("#review-figures")).to_contain_text(f"{recording.score:,}")
    page.fill("#review-text", "replay \u00b6")
    page.locator("#review-text").blur()
    expect(page.locator("#review-said")).to_contain_text("character 1 of the replay")


def test_continuing_from_a_review_keeps_the_main_line(page: Page) -> None:
    game = make_game("2048")
    recording = play_recorded(make_agent("random").player(game), 5, 0)
    paste(page, recording.to_line())
    choose(page, "greedy", index="#review-agent")
    page.click("#review-form button[type=submit]")
    expect(page.locator("#review-found")).to_be_visible()
    page.locator("#review-board").click()
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("c")
    expect(page.locator(ABOUT)).to_have_text("5 moves · own board")
    other = next(move for move in game.legal(recording.board(5)) if move != recording.actions[5])
    page.keyboard.press(KEYS[other])
    expect(page.locator(ABOUT)).to_have_text("6 moves · own board")
    varied = board_on(page)
    expect(page.locator("#lines option")).to_have_text(["main line", f"variation 1: move 6, {other}"])
    page.select_option("#lines select", "0")
    expect(page.locator(ABOUT)).to_have_text("5 moves · own board")
    page.click("#redo")
    assert board_on(page) == tiles_of(recording.board(6))  # nothing of the main line is lost
    page.reload()
    expect(page.locator("#lines option")).to_have_count(2)
    page.select_option("#lines select", "1")
    expect(page.locator(ABOUT)).to_have_text("6 moves · own board")
    assert board_on(page) == varied


def answer_position(page: Page, puzzle: dict[str, dict[str, float]], *, right: bool) -> None:
    values = puzzle["values"]
    move = max(values, key=values.__getitem__) if right else min(values, key=values.__getitem__)
    page.click(f"#learn-bars [data-move={move}]")
    expect(page.locator("#learn-said")).to_contain_text("Right: " if right else "is not it")


def test_practice_by_theme_counts_by_theme(page: Page, live: Live) -> None:
    page.goto("/#learn")
    expect(page.locator("#learn-said")).to_contain_text("Your notebook is empty")
    with page.expect_response("**/api/v1/practice?*") as found:
        page.select_option("#learn-theme", "corner")
    expect(page.locator("#learn-said")).to_have_text("What is the best move?")
    puzzle = found.value.json()
    assert board_on(page, "#learn-board") == tiles_of(make_game("2048").parse(puzzle["text"]))
    answer_position(page, puzzle, right=True)
    with page.expect_response("**/api/v1/practice?*") as found:
        page.select_option("#learn-level", "easy")
    expect(page.locator("#learn-said")).to_have_text("What is the best move?")
    assert "level=easy" in found.value.url
    answer_position(page, found.value.json(), right=False)
    expect(page.locator("#learn-figures div").nth(1)).to_have_text("Match rate50.0 %")

    with page.expect_response("**/api/v1/practice?*") as found:
        page.select_option("#learn-theme", "endgame")
    expect(page.locator("#learn-said")).to_have_text("What is the best move?")
    expect(page.locator("#learn-figures div").nth(0)).to_have_text("Answered0")
    puzzle = found.value.json()
    table = load_table(Path(page.locator("#learn-table").input_value().partition("=")[2]))
    assert puzzle["values"] == table.values(puzzle["text"])
    answer_position(page, puzzle, right=True)
    expect(page.locator("#learn-bars .bar.best .value").first).to_contain_text("%")
    page.reload()
    expect(page.locator("#learn-theme")).to_have_value("endgame")
    expect(page.locator("#learn-figures div").nth(0)).to_have_text("Answered1")


def test_the_api_can_be_browsed_and_tried(page: Page, live: Live) -> None:
    page.click("footer a[href='api.html']")
    expect(page.locator("#operations details")).to_have_count(21)
    page.click("#advise_move summary")
    card = page.locator("#advise_move")
    expect(card.locator("tbody tr").first).to_contain_text("board (required)")
    card.locator("input[name=agent]").fill("greedy")
    card.locator("button").click()
    expect(card.locator("pre")).to_contain_text('"move":')
    shown = card.locator("pre").inner_text()
    answer = json.loads(shown.partition("\n")[2])
    assert shown.startswith("200")
    assert answer["values"] == make_agent("greedy").values(make_game("2048").parse("1120000000000001"))
    page.click("#start_evaluation summary")
    expect(page.locator("#start_evaluation tr", has=page.get_by_text("games", exact=True))).to_contain_text(
        "1 … 10000 = 100"
    )


def test_curves_are_smoothed_and_have_logarithmic_axes(page: Page) -> None:
    page.goto("/#runs")
    page.check("#runs-list input[value=large]")
    line = page.locator("#runs-chart path[data-name=large]")
    expect(line).to_have_count(1)
    plain = line.get_attribute("d")
    page.select_option("#runs-axis", "log-x")
    assert line.get_attribute("d") != plain
    page.select_option("#runs-axis", "linear")
    assert line.get_attribute("d") == plain
    page.locator("#runs-smooth").fill("3")
    assert line.get_attribute("d") != plain
    expect(page.locator("#runs-smooth-text")).to_have_text("8 points")


def test_sounds_are_off_until_they_are_turned_on(page: Page) -> None:
    page.evaluate(
        "() => { window.heard = 0; const start = OscillatorNode.prototype.start;"
        "OscillatorNode.prototype.start = function () { window.heard += 1; return start.call(this); }; }"
    )
    begin(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 7")
    assert page.evaluate("heard") == 0
    page.check("#sound")
    page.locator("#board").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(ABOUT)).to_have_text("2 moves · seed 7")
    assert page.evaluate("heard") == 2
    page.reload()
    expect(page.locator("#sound")).to_be_checked()


def test_the_page_can_be_installed(page: Page, live: Live) -> None:
    manifest = page.evaluate("fetch('manifest.json').then((answer) => answer.json())")
    sizes = {(icon["sizes"], icon["type"], icon["purpose"]) for icon in manifest["icons"]}
    assert {
        ("192x192", "image/png", "any"),
        ("512x512", "image/png", "any"),
        ("512x512", "image/png", "maskable"),
    } <= sizes
    for icon in manifest["icons"]:
        drawn = (
            "src => { const image = Object.assign(new Image(), {src}); return image.decode().then(() => image.width) }"
        )
        loaded = page.evaluate(drawn, icon["src"])
        assert icon["sizes"] in ("any", f"{loaded}x{loaded}")
