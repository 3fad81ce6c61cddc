"""The page as a coach: hints, reviews with classes, and everything in view on screens of all sizes."""

import json
import math
from importlib import resources
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import (
    FASTEST,
    KEYS,
    begin,
    board_on,
    browser,
    choose,
    expect_values,
    live,
    number,
    page,
    paste,
    set_slider,
    set_up,
    tiles_of,
)
from tilewright import Board, Episode, make_agent, make_game
from tilewright.play.recording import Recording, parse_line, play_recorded
from tilewright.play.review import review
from tilewright.rng import stream_for

__all__ = ["browser", "live", "page"]  # fixtures

ABOUT = "#game-about"
TEXT = "2 4 8 2 / 16 32 64 4 / 512 256 128 0 / 1024 2 0 0"


def open_in_review(page: Page, *recordings: Recording) -> None:
    page.goto("/#review")
    page.fill("#review-text", "\n".join(recording.to_line() for recording in recordings))
    page.locator("#review-text").blur()
    expect(page.locator("#review-said")).to_contain_text("pasted")


def judge_with(page: Page, agent: str, thinks: str = "") -> None:
    choose(page, agent, thinks, index="#review-agent")
    page.click("#review-form button[type=submit]")
    expect(page.locator("#review-found")).to_be_visible()


def figures_on(page: Page) -> dict[str, str]:
    boxes = page.locator("#review-figures div").all()
    return {box.locator("dt").inner_text(): box.locator("dd").inner_text() for box in boxes}


def test_the_best_move_is_an_arrow_and_a_hint_comes_on_demand(page: Page) -> None:
    set_up(page, TEXT)
    choose(page, "expectimax:model=large", "depth=1")
    expect_values(page, TEXT)
    assert page.locator("#board .arrow").count() == 0
    best = page.locator("#bars .bar.best").get_attribute("data-move") or ""
    page.keyboard.press("b")
    expect(page.locator("#board .arrow")).to_have_attribute("data-move", best)
    page.select_option("#show-values", "arrow")
    expect(page.locator("#board .arrow")).to_have_attribute("data-move", best)

    page.select_option("#show-values", "hint")
    expect(page.locator("#ask-note")).to_contain_text("Values are hidden")
    assert page.locator("#board .arrow").count() == 0
    assert page.locator("#bars .bar.best").count() == 0
    assert page.locator("#bars .bar:enabled").count() == 2  # legal moves can be played
    game = make_game("2048")
    board = game.parse(TEXT)
    worst = next(move for move in game.legal(board) if move != best)
    page.click("#hint-now")
    expect(page.locator("#bars .bar.best")).to_have_attribute("data-move", best)
    page.keyboard.press(KEYS[worst])
    expect(page.locator("#feedback")).to_contain_text(f"{worst} costs ")
    expect(page.locator("#feedback")).to_contain_text(f"; {best} was best")
    expect(page.locator("#ask-note")).to_contain_text("Values are hidden")
    page.reload()
    expect(page.locator("#show-values")).to_have_value("hint")


def test_a_review_has_accuracy_classes_and_luck(page: Page, runs: Path) -> None:
    recording = play_recorded(make_agent("random").player(make_game("2048")), 5, 0)
    open_in_review(page, recording)
    judge_with(page, "expectimax:model=large", "depth=1")
    found = review(recording, make_agent(f"expectimax:depth=1,model={runs / 'large' / 'model.safetensors'}"))

    def cost(i: int) -> float:
        move = found.moves[i]
        expected = recording.scores[i] + move.values[move.best]
        return 0.0 if not move.loss else min(1.0, move.loss / expected) if expected > 0 else 1.0

    costs = [cost(i) for i in range(len(found.moves))]
    shown = figures_on(page)
    accuracy = 100 * sum(math.exp(-each / 0.02) for each in costs) / len(costs)
    assert number(shown["Accuracy"]) == pytest.approx(accuracy, abs=0.06)
    limits = {"best": (0, 1e-300), "good": (1e-300, 0.005), "inaccurac": (0.005, 0.02), "mistake": (0.02, 0.08)}
    for name, (low, high) in (limits | {"blunder": (0.08, 2.0)}).items():
        counted = page.locator("#review-classes li", has_text=name).locator("b").inner_text()
        assert int(counted) == sum(low <= each < high for each in costs), name
    parts = [number(shown[name]) for name in ("Expected at the start", "Cost of choices", "Luck")]
    assert sum(parts) == pytest.approx(recording.score, abs=2)
    assert parts[1] == pytest.approx(-found.total_loss, abs=1)
    worst = max(range(len(costs)), key=lambda i: costs[i])
    expect(page.locator("#review-worst li").first).to_contain_text(f"Move {worst + 1}: {found.moves[worst].played}")


def test_a_review_is_walked_with_the_keys_and_continued(page: Page) -> None:
    game = make_game("2048")
    recording = play_recorded(make_agent("random").player(game), 5, 0)
    open_in_review(page, recording)
    judge_with(page, "greedy")
    found = review(recording, make_agent("greedy"))
    lossy = [move.number for move in found.moves if move.loss]
    where = page.locator("#review-where")
    page.locator("#review-board").click()
    last = len(recording.actions)
    for key, move in (("Home", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("ArrowLeft", last - 1)):
        page.keyboard.press(key)
        expect(where).to_contain_text(f"Move {move}:")
    page.keyboard.press("Home")
    page.keyboard.press("n")
    page.keyboard.press("n")
    second = [move for move in lossy if move > 1][1]
    expect(where).to_contain_text(f"Move {second}:")
    page.keyboard.press("p")
    expect(where).to_contain_text(f"Move {[move for move in lossy if move < second][-1]}:")
    expect(page.locator("#review-moves [aria-current]")).to_be_visible()
    assert page.locator("#review-moves button").count() < 40  # only what is in view
    set_slider(page, "#review-speed", FASTEST)
    page.click("#review-first")
    page.click("#review-replay")
    expect(where).to_contain_text(f"Move {last}:")
    expect(page.locator("#review-replay")).to_have_text("Replay")
    page.click("#review-first")
    for _ in range(9):
        page.click("#review-on")
    page.click("#review-continue")
    expect(page.locator(ABOUT)).to_have_text("9 moves · own board")
    assert board_on(page) == tiles_of(recording.board(9))
    page.click("#redo")
    assert board_on(page) == tiles_of(recording.board(10))
    page.click("#undo")
    other = next(move for move in game.legal(recording.board(9)) if move != recording.actions[9])
    page.keyboard.press(KEYS[other])
    expect(page.locator(ABOUT)).to_have_text("10 moves · own board")
    expect(page.locator("#game-players")).to_contain_text("random 9 · you 1")


def test_several_games_are_pasted_and_threes_shows_its_next_tile(page: Page) -> None:
    game = make_game("threes")
    recordings = [play_recorded(make_agent("greedy").player(game), seed, 0) for seed in (1, 2)]
    open_in_review(page, *recordings)
    page.locator("#review-text").blur()
    expect(page.locator("#review-said")).to_have_text("2 games pasted")
    page.fill("#review-text", "")
    page.select_option("#review-number", "1")
    judge_with(page, "greedy")
    assert figures_on(page)["Score"] == f"{recordings[1].score:,}"
    page.keyboard.press("Home")
    expect(page.locator("#review-hint b")).to_have_text(Board(game, recordings[1].states[0]).notes["hint"][0])
    assert page.locator("#review-bars button").count() == 0  # nothing can be played here
    assert page.locator("#review-bars [data-move]").count() == 4


def test_a_jump_to_a_worst_move_shows_the_whole_board(page: Page) -> None:
    open_in_review(page, play_recorded(make_agent("random").player(make_game("2048")), 5, 0))
    judge_with(page, "greedy")
    page.set_viewport_size({"width": 1280, "height": 600})
    page.locator("#review-worst button").last.click()
    page.wait_for_function(
        """() => {
            const top = document.querySelector("#review-board").getBoundingClientRect().top;
            return top >= document.querySelector("header").getBoundingClientRect().bottom;
        }"""
    )


def test_a_link_holds_game_position_and_agent(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    begin(page, "threes", seed=7)
    choose(page, "heuristic", "depth=1")
    page.keyboard.press(KEYS[make_game("threes").legal(make_game("threes").start(7))[0]])
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 7")
    shown = board_on(page)
    page.click("#share")
    expect(page.locator("#said")).to_have_text("the link is in the clipboard")
    link = page.evaluate("navigator.clipboard.readText()")
    other = page.context.new_page()
    other.goto(link)
    expect(other.locator("#game-name")).to_have_text("Threes")
    assert board_on(other) == shown
    expect(other.locator("#ask-agent select").first).to_have_value("heuristic")
    expect(other.locator("#ask-agent select").nth(1)).to_have_value("depth=1")
    other.close()
    begin(page, seed=7)
    paste(page, "https://2048verse.com/p/1120000000000001")
    expect(page.locator(ABOUT)).to_have_text("0 moves · own board")
    assert board_on(page)[0] == [2, 2, 4, 0]


def test_the_tip_of_a_chart_stays_when_it_is_drawn_again(page: Page) -> None:
    page.goto("/#runs")
    page.check("#runs-list input[value=large]")
    expect(page.locator("#runs-chart path[data-name=large]")).to_have_count(1)
    page.locator("#runs-chart svg").hover(position={"x": 200, "y": 100})
    expect(page.locator("#runs-chart .tip").first).to_be_visible()
    page.evaluate("window.drawn = document.querySelector('#runs-chart svg')")
    page.wait_for_function("() => document.querySelector('#runs-chart svg') !== window.drawn")
    expect(page.locator("#runs-chart .tip").first).to_be_visible()


def test_tall_boards_fit_and_numbers_have_no_negative_zero(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    begin(page, rows="4", columns="2")
    box = page.locator("#board").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720
    page.route(
        "**/api/v1/move?*",
        lambda route: route.fulfill(json=ADVICE | {"values": {"up": -0.0, "right": -0.04, "down": -1.0}}),
    )
    choose(page, "greedy")
    expect(page.locator("#bars .bar.best .value").first).to_contain_text("0.0best")
    assert "-0" not in page.locator("#bars").inner_text()


ADVICE = {"game": "2048", "agent": "x", "unit": "none", "text": "", "legal": [], "move": "up", "seconds": 0.001}
SMALL = {"viewport": {"width": 320, "height": 568}, "has_touch": True}


@pytest.mark.parametrize("page", [SMALL], indirect=True)
def test_a_small_phone_needs_no_scrolling_for_the_values_and_none_sideways(page: Page) -> None:
    def width() -> int:
        theme = page.locator("#theme").bounding_box()  # the last thing in the header
        assert theme is not None
        return int(max(page.evaluate("document.documentElement.scrollWidth"), theme["x"] + theme["width"]))

    set_up(page, TEXT)
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "false")
    page.evaluate("scrollTo(0, 0)")
    box = page.locator("#bars").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 568
    assert width() <= 320
    begin(page, seed=987654, rows="4", columns="2", win_tile="1024")
    assert width() <= 320
    page.click("#edit")
    assert width() <= 320
    page.click("#edit-cancel")
    open_in_review(page, play_recorded(make_agent("random").player(make_game("2048")), 5, 0))
    judge_with(page, "greedy")
    assert width() <= 320
    for view, content in {
        "compare": "#compare-agents option",
        "learn": "#learn-games li",
        "runs": "#runs-chart path.line",
    }.items():
        page.goto(f"/#{view}")
        expect(page.locator(content).last).to_be_attached()
        assert width() <= 320
    page.set_viewport_size({"width": 390, "height": 844})
    assert width() <= 390
    page.goto("/#play")
    page.set_viewport_size({"width": 844, "height": 390})  # on its side
    begin(page, rows="4", columns="4")
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "false")
    page.evaluate("scrollTo(0, 0)")
    for part in ("#board", "#bars"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 390, part


@pytest.mark.parametrize("page", [{"forced_colors": "active"}], indirect=True)
def test_the_colours_of_the_system_leave_a_grid_and_bars(page: Page) -> None:
    set_up(page, TEXT)
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "false")
    for part in ("#board .cell", "#board .tile", "#bars .track"):
        style = "e => getComputedStyle(e).borderTopWidth"
        assert page.locator(part).first.evaluate(style) != "0px", part
    fill = page.locator("#bars .bar.best .fill")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert fill.evaluate("e => getComputedStyle(e).backgroundColor") != ground


def test_an_old_kept_game_is_taken_up(page: Page) -> None:
    """Browsers kept games without saying who made which move."""
    episode = Episode(make_game("2048"), seed=7).move("left")
    first = tiles_of(make_game("2048").start(7))
    codes = [f"{0 if not tile else tile.bit_length() - 1:x}" for row in first for tile in row]
    after = [f"{0 if not tile else tile.bit_length() - 1:x}" for row in tiles_of(episode.board) for tile in row]
    stream = "".join(f"{int(word):016x}" for word in episode.stream)
    entries = [[None, "".join(codes), 0, stream, "urdl"], ["left", "".join(after), 0, stream, "urd"]]
    kept = {"spec": "2048", "seed": 7, "entries": entries, "at": 1, "players": ["greedy"]}
    page.goto("about:blank")
    page.context.add_init_script(f"localStorage.setItem('tilewright.game', {json.dumps(json.dumps(kept))})")
    page.goto("/")
    expect(page.locator(ABOUT)).to_have_text("1 move · seed 7")
    expect(page.locator("#best")).to_have_text("0")
    assert board_on(page) == tiles_of(episode.board)


def test_chances_are_those_of_games_that_are_played_out(page: Page) -> None:
    begin(page, rows="2", columns="2")
    game, text = make_game("2048:rows=2,columns=2"), "4 8 / 0 2"
    set_up(page, text)
    choose(page, "greedy")
    page.click("#ask-chances")
    expect(page.locator("#chances-note")).to_contain_text("100 games played out by greedy")
    player = make_agent("greedy").player(game)
    ends = []
    for turn in range(100):
        stream, board = stream_for(0, turn), game.parse(text)
        while moves := player.play(board, 0, stream, 100):
            board = Board(game, moves[-1].state)
        ends.append(game.largest(board))
    for tile in (16, 32):
        row = page.locator("#chances div", has_text=f"{tile}").first
        expect(row).to_contain_text(f"{sum(end >= tile for end in ends):.1f} %")
    page.keyboard.press(KEYS[game.legal(game.parse(text))[0]])
    expect(page.locator("#chances div")).to_have_count(0)


def test_a_board_is_exported_as_text_and_as_a_picture(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    set_up(page, TEXT)
    page.click("#copy")
    expect(page.locator("#said")).to_have_text("the board is in the clipboard")
    assert page.evaluate("navigator.clipboard.readText()") == TEXT
    with page.expect_download() as saved:
        page.click("#picture")
    assert saved.value.suggested_filename == "2048-0.png"
    assert saved.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("page", [{"loses_network": True, "service_workers": "allow"}], indirect=True)
def test_the_page_opens_and_plays_without_its_server(page: Page) -> None:
    begin(page, seed=7)
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    page.reload()  # now the worker sees every file
    expect(page.locator(".bar.best").first).to_be_visible()
    page.wait_for_function("() => JSON.parse(localStorage['tilewright.stock.2048'] ?? '[]').length === 5")
    page.context.set_offline(True)
    page.reload()
    expect(page.locator(ABOUT)).to_have_text("0 moves · seed 7")
    episode = Episode(make_game("2048"), seed=7)
    for move in ("left", "down", "right"):
        episode.move(move)
        page.keyboard.press(KEYS[move])
    expect(page.locator(ABOUT)).to_have_text("3 moves · seed 7")
    assert board_on(page) == tiles_of(episode.board)
    page.click("#new")
    page.click("#new-ok")
    expect(page.locator(ABOUT)).to_contain_text("0 moves · seed ")
    seed = int((page.locator(ABOUT).text_content() or "").split()[-1])
    assert board_on(page) == tiles_of(make_game("2048").start(seed))


def test_mistakes_become_positions_to_solve_and_games_are_kept(page: Page) -> None:
    begin(page, seed=5)
    choose(page, "random")
    set_slider(page, "#speed", FASTEST)
    page.click("#auto")
    expect(page.locator("#board .veil")).to_contain_text("Game over")
    recording = play_recorded(make_agent("random").player(make_game("2048")), 5, 0)
    page.goto("/#learn")
    expect(page.locator("#learn-said")).to_contain_text("Your notebook is empty")
    expect(page.locator("#learn-games li")).to_contain_text(f"{recording.score:,} points")
    with page.expect_download() as saved:
        page.click("#learn-export")
    assert parse_line(saved.value.path().read_bytes()).score == recording.score
    page.click("#learn-games button")
    judge_with(page, "expectimax:model=large", "depth=1")
    page.click("#review-keep")
    expect(page.locator("#review-said")).to_contain_text("positions are new in your notebook")
    page.goto("/#learn")
    expect(page.locator("#learn-said")).to_contain_text("What is the best move?")
    expect(page.locator("#learn-games li")).to_contain_text("accuracy")
    notebook = page.evaluate("JSON.parse(localStorage['tilewright.notebook'])")
    first = max(notebook, key=lambda puzzle: puzzle["cost"])
    assert board_on(page, "#learn-board") == tiles_of(make_game("2048").parse(first["code"]))
    best = max(first["values"], key=first["values"].__getitem__)
    page.keyboard.press(KEYS[first["played"]])  # the same mistake again
    expect(page.locator("#learn-said")).to_contain_text(f"{first['played']} is not it: {best} is best")
    page.keyboard.press("Enter")
    expect(page.locator("#learn-said")).to_contain_text("What is the best move?")
    page.click(f"#learn-bars [data-move={best}]")
    expect(page.locator("#learn-said")).to_have_text(f"Right: {best}.")
    expect(page.locator("#learn-figures div").nth(1)).to_have_text("Match rate50.0 %")
    expect(page.locator("#learn-figures div").nth(2)).to_have_text("Streak1")


AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text()
STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
STILL = {"bypass_csp": True, "reduced_motion": "reduce"}


@pytest.mark.parametrize("page", [STILL, STILL | {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"])
def test_axe_finds_nothing_in_any_view(page: Page) -> None:
    page.evaluate(AXE)

    def check(view: str) -> None:
        found = page.evaluate("rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", STANDARD)
        problems = [(rule["id"], node["target"]) for rule in found["violations"] for node in rule["nodes"]]
        assert problems == [], view

    set_up(page, TEXT)
    page.select_option("#show-values", "arrow")
    expect(page.locator("#board .arrow")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#feedback")).not_to_be_empty()
    expect(page.locator("#bars")).to_have_attribute("aria-busy", "false")
    check("play")
    page.click("#edit")
    check("edit")
    page.click("#edit-cancel")
    begin(page, "threes", seed=5)
    choose(page, "random")
    set_slider(page, "#speed", FASTEST)
    page.click("#auto")
    expect(page.locator("#board .veil")).to_be_visible()
    check("game over")
    open_in_review(page, play_recorded(make_agent("random").player(make_game("2048")), 5, 0))
    judge_with(page, "expectimax:model=large", "depth=1")
    expect(page.locator("#review-bars")).to_have_attribute("aria-busy", "false")
    check("review")
    page.click("#review-keep")
    page.goto("/#learn")
    page.click("#learn-bars button:enabled")
    check("learn")
    page.goto("/#runs")
    expect(page.locator("#runs-chart path.line").first).to_be_attached()
    check("runs")
    page.goto("/#compare")
    for i in range(2):
        page.locator("#compare-agents .picker").nth(i).locator("select").first.select_option("greedy")
    page.fill("#compare-games", "2")
    page.click("#compare-start")
    expect(page.locator("#compare-said")).to_have_text("all games are played")
    check("compare")
    page.goto("/api.html")
    page.click("#advise_move summary")
    page.evaluate(AXE)
    check("api")
