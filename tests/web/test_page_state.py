"""The page keeps its state right: late answers, keys typed ahead, games that are left, servers that stop."""

import contextlib
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from tests.web.browsing import (
    FASTEST,
    KEYS,
    begin,
    board_on,
    browser,
    choose,
    live,
    page,
    paste,
    round_trip,
    set_slider,
    set_up,
    tiles_of,
)
from tests.web.live import Live, listening
from tests.web.plugins import Halves
from tilewright import Episode, make_agent, make_game
from tilewright.play.recording import play_recorded
from tilewright.web.positions import Position, play_move, start_position

__all__ = ["browser", "live", "page"]  # fixtures

ABOUT, SAID = "#game-about", "#said"


class Held:
    """Requests that are held back until they are released."""

    def __init__(self, page: Page, path: str) -> None:
        self.routes: list[Route] = []
        self._page, self._is_open = page, False
        page.route(f"**/api/v1/{path}*", self._hold)

    def _hold(self, route: Route) -> None:
        if self._is_open:
            route.continue_()
        else:
            self.routes.append(route)

    def wait(self) -> None:
        """Wait until a request is held back."""
        while not self.routes:
            self._page.wait_for_timeout(5)

    def release(self) -> None:
        """Let all requests go on, and wait until their answers are there."""
        self._is_open = True
        for route in self.routes:
            with contextlib.suppress(Error):  # the page has given the request up
                route.continue_()
        round_trip(self._page)
        round_trip(self._page)


def autoplay_to_the_end(page: Page, agent: str) -> None:
    choose(page, agent)
    set_slider(page, "#speed", FASTEST)
    page.click("#auto")
    expect(page.locator("#board .veil")).to_contain_text("Game over")


def test_a_late_answer_is_not_accepted_into_another_game(page: Page) -> None:
    begin(page)
    choose(page, "heuristic", "depth=1")
    held = Held(page, "step")
    page.click("#step")
    held.wait()
    begin(page, seed=8)
    start = tiles_of(make_game("2048").start(8))
    held.release()
    assert board_on(page) == start
    expect(page.locator(ABOUT)).to_have_text("0 moves · seed 8")
    page.reload()
    expect(page.locator(ABOUT)).to_have_text("0 moves · seed 8")
    assert board_on(page) == start


def test_keys_are_never_played_later(page: Page) -> None:
    """A key during an agent's step is the visitor's move; one that moves nothing does not keep those behind it."""
    begin(page)
    choose(page, "heuristic", "depth=1")
    held = Held(page, "step")
    page.locator("#board").focus()
    page.keyboard.press("Enter")
    held.wait()
    page.keyboard.press(KEYS["left"])
    held.release()
    page.keyboard.press(KEYS["down"])
    episode = Episode(make_game("2048"), seed=7).move("left").move("down")
    expect(page.locator(ABOUT)).to_have_text("2 moves · seed 7")
    assert board_on(page) == tiles_of(episode.board)

    seed, moves = _moves_with_an_illegal_one()
    begin(page, "threes", seed)
    held = Held(page, "step")
    for move in moves:
        page.keyboard.press(KEYS[move])
    held.wait()
    held.release()
    expect(page.locator(ABOUT)).to_have_text(f"2 moves · seed {seed}")
    episode = Episode(make_game("threes"), seed=seed).move(moves[0]).move(moves[2])
    assert board_on(page) == tiles_of(episode.board)


def _moves_with_an_illegal_one() -> tuple[int, list[str]]:
    """A seed of Threes and three moves: the second one is illegal after the first, the third one legal."""
    game = make_game("threes")
    for seed in range(200):
        for first in game.legal(game.start(seed)):
            legal = Episode(game, seed=seed).move(first).legal
            if 0 < len(legal) < 4:
                return seed, [first, next(move for move in KEYS if move not in legal), legal[0]]
    raise AssertionError("there is no such game")


def test_forty_keys_at_once_all_arrive(page: Page) -> None:
    moves = ["left", "down", "right", "down"] * 10
    for game in ("2048", "threes"):
        begin(page, game)
        episode = Episode(make_game(game), seed=7)
        played = 0
        for move in moves:
            if move in episode.legal:
                episode.move(move)
                played += 1
        page.evaluate(
            """keys => {
                for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
            }""",
            [KEYS[move] for move in moves],
        )
        expect(page.locator(ABOUT)).to_have_text(f"{played} moves · seed 7")
        assert board_on(page) == tiles_of(episode.board)
        expect(page.locator("#score")).to_have_text(f"{episode.score:,}")


def test_moves_do_not_wait_for_the_server_and_are_confirmed_after(page: Page) -> None:
    begin(page)
    held = Held(page, "step")
    episode = Episode(make_game("2048"), seed=7)
    for move in ("left", "down", "right"):
        episode.move(move)
        page.keyboard.press(KEYS[move])
    expect(page.locator(ABOUT)).to_have_text("3 moves · seed 7")  # with all answers held back
    assert board_on(page) == tiles_of(episode.board)
    with page.expect_response("**/api/v1/steps") as answer:
        held.release()
    assert answer.value.json()["moves"][0][0] == "left"


@pytest.mark.parametrize("page", [{"loses_network": True}], indirect=True)
def test_a_game_goes_on_without_the_server_and_is_checked_when_it_is_back(page: Page) -> None:
    begin(page)
    page.context.set_offline(True)
    episode = Episode(make_game("2048"), seed=7)
    for move in ("left", "down", "right", "down"):
        episode.move(move)
        page.keyboard.press(KEYS[move])
    expect(page.locator("#offline")).to_be_visible()
    assert board_on(page) == tiles_of(episode.board)
    with page.expect_response("**/api/v1/steps") as answer:
        page.context.set_offline(False)
    assert answer.value.json()["moves"][-1][0] == "down"
    expect(page.locator("#offline")).to_be_hidden()


def test_what_the_server_says_holds(page: Page) -> None:
    """Should the page ever make another move than the server, the server's holds."""
    begin(page)

    def answer(route: Route) -> None:
        entry = ["left", "f000000000000001", 4, "0" * 31 + "1", "urd"]
        route.fulfill(json={"moves": [entry for _ in json.loads(route.request.post_data or "")["moves"]]})

    page.route("**/api/v1/steps", answer)
    page.keyboard.press(KEYS["left"])
    expect(page.locator("#board")).to_have_attribute("aria-label", re.compile("Row 1: 32768"))
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 7")


@pytest.mark.parametrize("page", [{"loses_network": True}], indirect=True)
def test_a_server_that_stops_is_said(page: Page, browser: Browser, runs: Path) -> None:
    context = browser.new_context()
    with listening(runs) as other:
        playing, comparing = context.new_page(), context.new_page()
        playing.goto(f"{other.url}/")
        expect(playing.locator(".bar.best").first).to_be_visible()
        choose(playing, "random")
        set_slider(playing, "#speed", "0")
        playing.click("#auto")
        expect(playing.locator(ABOUT)).to_contain_text(re.compile("^[1-9]"))
        comparing.goto(f"{other.url}/#compare")
        expect(comparing.locator("#compare-agents .picker")).to_have_count(2)
        for i, agent in enumerate(("greedy", "random")):
            comparing.locator("#compare-agents .picker").nth(i).locator("select").first.select_option(agent)
        set_slider(comparing, "#compare-speed", "0")
        comparing.click("#compare-start")
        expect(comparing.locator("#compare-boards .soft").last).to_contain_text("game 1")
    expect(playing.locator("#auto")).to_have_text("Autoplay")
    expect(playing.locator(SAID)).to_contain_text("autoplay stopped: ")
    expect(comparing.locator("#compare-said")).to_contain_text("greedy stopped after 0 games: ")
    context.close()


def test_the_win_is_that_of_the_game_and_stays(page: Page) -> None:
    begin(page, seed=3, win_tile="16")
    game = make_game("2048:win_tile=16")
    position = start_position(game, 3, 0)
    assert page.locator("#won").is_hidden()
    while not position.to_json()["won"]:
        move = make_agent("greedy").move(position.board, position.stream.copy())
        position, _ = play_move(position, move)
        page.keyboard.press(KEYS[move])
    expect(page.locator("#board .veil")).to_contain_text("You win")
    expect(page.locator("#board .veil")).to_contain_text("16 in ")
    page.keyboard.press(KEYS[game.legal(position.board)[0]])
    expect(page.locator("#board .veil")).to_have_count(0)
    expect(page.locator("#won")).to_have_text("won: 16")
    expect(page.locator("#game-variant")).to_have_text("win_tile=16")


def test_agents_games_do_not_count_as_the_visitors_best(page: Page) -> None:
    begin(page, seed=3)
    autoplay_to_the_end(page, "random")
    expect(page.locator("#best")).to_have_text("0")
    page.click("#board .veil button")
    page.fill("#new-seed", "7")
    page.click("#new-ok")
    expect(page.locator(ABOUT)).to_have_text("0 moves · seed 7")
    episode = Episode(make_game("2048"), seed=7)
    while not episode.score:
        episode.move(episode.legal[-1])
        page.keyboard.press(KEYS[episode.history[-1].action])
    expect(page.locator("#best")).to_have_text(f"{episode.score:,}")
    assert f"{episode.score}" in page.title()


def test_every_variant_has_the_agent_that_was_chosen_for_it(page: Page) -> None:
    strongest = page.locator("#ask-agent select").first.input_value()
    begin(page, rows="3", columns="3")
    expect(page.locator("#ask-agent select").first).not_to_have_value(strongest)
    begin(page, rows="4", columns="4")
    expect(page.locator("#ask-agent select").first).to_have_value(strongest)
    choose(page, "greedy")
    begin(page, rows="3", columns="3")
    expect(page.locator("#ask-agent select").first).not_to_have_value("greedy")
    begin(page, rows="4", columns="4")
    expect(page.locator("#ask-agent select").first).to_have_value("greedy")


def test_input_before_the_first_load_is_no_error(browser: Browser, live: Live) -> None:
    context = browser.new_context(base_url=live.url)
    early = context.new_page()
    errors: list[str] = []
    early.on("pageerror", lambda error: errors.append(str(error)))
    held = Held(early, "start")
    early.goto("/")
    held.wait()
    for key in ("ArrowLeft", "u", "r", "Enter", "Space", "b"):
        early.keyboard.press(key)
    for button in ("undo", "edit", "step", "auto", "save", "to-review"):
        early.evaluate("id => document.getElementById(id).click()", button)
    paste(early, "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    held.release()
    expect(early.locator(".bar.best").first).to_be_visible()
    assert errors == []
    context.close()


UNKNOWN_GAME = '{"spec": "gone", "entries": [[null, "00", 0, "", "u"]], "at": 0}'


@pytest.mark.parametrize("page", [{"loses_network": True}], indirect=True)
@pytest.mark.parametrize("kept", [UNKNOWN_GAME, '{"spec": 3}', "["])
def test_what_cannot_be_read_from_storage_does_no_harm(page: Page, kept: str) -> None:
    page.goto("about:blank")
    page.context.add_init_script(
        f"sessionStorage.done || localStorage.setItem('tilewright.game', {json.dumps(kept)}); sessionStorage.done = 1"
    )
    page.goto("/")
    expect(page.locator(ABOUT)).to_contain_text("0 moves · seed ")
    expect(page.locator(".bar.best").first).to_be_visible()
    if "gone" in kept:
        expect(page.locator(SAID)).to_contain_text("the game that was kept cannot continue here")


def test_a_game_that_was_left_can_be_taken_back(page: Page) -> None:
    begin(page)
    page.keyboard.press(KEYS["left"])
    page.keyboard.press(KEYS["down"])
    first = board_on(page)
    begin(page, "threes", seed=9)
    page.keyboard.press(KEYS[make_game("threes").legal(make_game("threes").start(9))[0]])
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 9")
    set_up(page, "3 0 0 0 / 0 6 0 0 / 0 0 0 0 / 0 0 0 1")
    expect(page.locator(ABOUT)).to_have_text("0 moves · own board")
    page.click("#undo")
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 9")
    page.click("#undo")
    page.click("#undo")
    expect(page.locator(ABOUT)).to_have_text("2 moves · seed 7")
    expect(page.locator("#game-name")).to_have_text("2048")
    assert board_on(page) == first
    page.click("#redo")
    expect(page.locator("#game-name")).to_have_text("Threes")


def test_arrow_keys_stay_with_the_board_after_a_list_or_slider_was_touched(page: Page) -> None:
    begin(page)
    box = page.locator("#speed").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    chosen = page.locator("#speed").input_value()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 7")
    assert page.locator("#speed").input_value() == chosen
    page.locator("#ask-agent select").first.click()
    choose(page, "greedy")
    page.keyboard.press("ArrowDown")
    expect(page.locator(ABOUT)).to_have_text("2 moves · seed 7")
    assert page.locator("#ask-agent select").first.input_value() == "greedy"
    page.locator("#speed").focus()  # whoever comes by keys stays
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#speed").input_value() == str(int(chosen) - 1)


def test_values_of_the_last_position_cannot_be_clicked(page: Page) -> None:
    begin(page)
    expect(page.locator("#bars .bar.best").first).to_be_enabled()
    held = Held(page, "move")
    page.keyboard.press(KEYS["left"])
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 7")
    expect(page.locator("#bars .bar:enabled")).to_have_count(0)
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "true")
    held.release()
    expect(page.locator("#bars .bar.best").first).to_be_enabled()
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "false")


def test_a_move_before_the_agents_of_its_game_asks_none_of_another(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/move?game=Halves" in request.url else None)
    held = Held(page, "agents")
    begin(page, "Halves", seed=5)
    held.wait()
    episode = Episode(Halves(), seed=5)
    page.keyboard.press(KEYS[episode.legal[0]])
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 5")
    held.release()
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "false")
    assert asked
    assert not [url for url in asked if "agent=expectimax" in url]  # which 2048 has a model for, and this game has not


def test_dialogs_do_not_let_anything_through(page: Page) -> None:
    begin(page, "threes")
    before = board_on(page)
    page.click("#edit")
    assert (page.locator("#edit-text").get_attribute("placeholder") or "") == make_game("threes").text(
        make_game("threes").start(0)
    )
    paste(page, "3 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    round_trip(page)
    assert board_on(page) == before
    page.click("#edit-cancel")
    page.click("a[href='#compare']")
    page.click("a[href='#play']")
    page.click("#new")
    expect(page.locator("#new-dialog")).to_be_visible()
    page.go_back()
    expect(page.locator("#view-compare")).to_be_visible()
    expect(page.locator("#new-dialog")).to_be_hidden()
    page.click("a[href='#play']")
    begin(page, seed=7, four="0.33")
    expect(page.locator("#game-variant")).to_have_text("four=0.33")


def test_the_skip_link_leads_to_the_content_of_the_view(page: Page) -> None:
    page.goto("/#review")
    expect(page.locator("#view-review")).to_be_visible()
    assert page.title() == "Review – tilewright"
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#view-review")).to_be_visible()
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.url.endswith("#review")


def test_a_mixed_game_says_who_moved(page: Page, tmp_path: Path) -> None:
    begin(page)
    choose(page, "heuristic", "ms=50")
    expect(page.locator("#ask-note")).to_contain_text("heuristic:ms=50 thought for")
    choose(page, "heuristic", "depth=1")
    page.locator("#board").focus()
    page.keyboard.press(KEYS["left"])
    page.keyboard.press(KEYS["down"])
    page.keyboard.press("Enter")
    expect(page.locator(ABOUT)).to_have_text("3 moves · seed 7")
    expect(page.locator("#game-players")).to_contain_text("you 2 · heuristic:depth=1 1")
    with page.expect_download() as saved:
        page.click("#save")
    saved.value.save_as(tmp_path / "game.jsonl")
    line = json.loads((tmp_path / "game.jsonl").read_text())
    assert line["players"] == [["human", 2], ["heuristic:depth=1", 1]]
    assert line["agent"] == "human + heuristic:depth=1"


def test_review_shows_the_game_that_it_was_given(page: Page) -> None:
    game = make_game("2048")
    begin(page, seed=5)
    autoplay_to_the_end(page, "random")
    page.click("#to-review")
    choose(page, "greedy", index="#review-agent")
    page.click("#review-form button[type=submit]")
    first = play_recorded(make_agent("random").player(game), 5, 0)
    expect(page.locator("#review-figures")).to_contain_text(f"{first.score:,}")
    page.click("a[href='#play']")
    begin(page, seed=7)
    page.keyboard.press(KEYS["left"])
    page.keyboard.press(KEYS["down"])
    page.click("#to-review")
    expect(page.locator("#review-said")).to_have_text("one game from Play")
    expect(page.locator("#review-found")).to_be_hidden()
    page.click("#review-form button[type=submit]")
    expect(page.locator("#review-where")).to_be_visible()
    expect(page.locator("#review-figures div").nth(2)).to_have_text("Moves2")
    position: Position = start_position(game, 7, 0)
    assert board_on(page, "#review-board") == tiles_of(position.board)
