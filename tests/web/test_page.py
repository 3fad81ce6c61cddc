"""The page in a real browser, compared with the Python API on the same boards."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.training.sessions import tiny, train
from tests.web.browsing import (
    FASTEST,
    KEYS,
    begin,
    board_on,
    browser,
    choose,
    expect_drawn,
    live,
    number,
    page,
    paste,
    round_trip,
    set_slider,
    set_up,
    tiles_of,
    values_on,
    wait,
)
from tests.web.live import Live
from tests.web.plugins import Halves
from tilewright import Episode, evaluate, make_agent, make_game
from tilewright.play.recording import play_recorded
from tilewright.play.review import review
from tilewright.play.statistics import mean_of
from tilewright.training.run_folder import RunFolder

__all__ = ["browser", "live", "page"]  # fixtures


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_ten_moves_by_keys_are_those_of_the_episode(page: Page, game: str) -> None:
    begin(page, game)
    episode = Episode(make_game(game), seed=7)
    assert board_on(page) == tiles_of(episode.board)
    for turn in range(10):
        move = episode.legal[turn % len(episode.legal)]
        episode.move(move)
        page.keyboard.press(KEYS[move])
        moves = "1 move" if turn == 0 else f"{turn + 1} moves"
        expect(page.locator("#game-about")).to_have_text(f"{moves} · seed 7")
        assert board_on(page) == tiles_of(episode.board)
        expect(page.locator("#score")).to_have_text(f"{episode.score:,}")
        if game == "threes":
            expect(page.locator("#hint b")).to_have_text(episode.board.notes["hint"][0])
    expect_drawn(page, tiles_of(episode.board))


def test_a_game_of_a_user_is_played_on_the_page(page: Page) -> None:
    begin(page, "Halves", seed=5)
    episode = Episode(Halves(), seed=5)
    for turn in range(12):
        move = episode.legal[turn % len(episode.legal)]
        episode.move(move)
        page.keyboard.press(KEYS[move])
        expect(page.locator("#game-about")).to_contain_text(re.compile(rf"^{turn + 1} moves? "))
        assert board_on(page) == tiles_of(episode.board)
        expect_drawn(page, tiles_of(episode.board))
    expect(page.locator("#game-name")).to_have_text("Halves")
    choose(page, "greedy")
    set_slider(page, "#speed", FASTEST)
    page.click("#auto")
    expect(page.locator("#board .veil")).to_contain_text("Game over")


def test_a_variant_is_played_by_its_own_rules(page: Page) -> None:
    begin(page, rows="3", columns="2")
    assert board_on(page) == tiles_of(make_game("2048:rows=3,columns=2").start(7))


def test_mouse_drags_and_fingers_move(page: Page) -> None:
    begin(page)
    episode = Episode(make_game("2048"), seed=7)
    box = page.locator("#board").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 5, steps=3)
    page.mouse.up()
    expect(page.locator("#game-about")).to_have_text("1 move · seed 7")
    assert board_on(page) == tiles_of(episode.move("right").board)
    finger = page.context.new_cdp_session(page)
    for kind, points in (("Start", [(x, y)]), ("Move", [(x, y + 30)]), ("Move", [(x, y + 60)]), ("End", [])):
        touches = [{"x": a, "y": b} for a, b in points]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touches})
    expect(page.locator("#game-about")).to_have_text("2 moves · seed 7")
    assert board_on(page) == tiles_of(episode.move("down").board)


def test_an_illegal_move_does_nothing(page: Page) -> None:
    set_up(page, "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    before = board_on(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#said")).to_have_text("left moves nothing")
    assert board_on(page) == before
    expect(page.locator("#game-about")).to_have_text("0 moves · own board")


def test_undo_and_redo_and_the_same_move_again(page: Page) -> None:
    begin(page)
    episode = Episode(make_game("2048"), seed=7)
    states = [tiles_of(episode.board)]
    for move in ("left", "down", "right"):
        episode.move(move)
        states.append(tiles_of(episode.board))
        page.keyboard.press(KEYS[move])
    expect(page.locator("#game-about")).to_have_text("3 moves · seed 7")
    page.keyboard.press("u")
    page.click("#undo")
    assert board_on(page) == states[1]
    page.click("#redo")
    assert board_on(page) == states[2]
    page.keyboard.press("u")
    page.keyboard.press(KEYS["down"])
    expect(page.locator("#redo")).to_be_disabled()
    assert board_on(page) == states[2]


def test_the_bars_are_the_values_of_the_python_api(page: Page, runs: Path) -> None:
    text = "2 2 4 0 / 0 0 8 0 / 0 0 16 0 / 2 0 0 32"
    set_up(page, text)
    for agent, thinks, spec in (
        ("heuristic", "depth=2", "heuristic:depth=2"),
        ("greedy", "", "greedy"),
        ("expectimax:model=large", "depth=1", "expectimax:depth=1,model=large"),
    ):
        choose(page, agent, thinks)
        expect(page.locator("#ask-note")).to_contain_text(f"{spec} thought for")
        path = runs / "large" / "model.safetensors"  # the page itself never learns it
        values = make_agent(spec.replace("model=large", f"model={path}")).values(make_game("2048").parse(text))
        assert values_on(page) == pytest.approx(values, abs=0.051)
        best = [row.get_attribute("data-move") for row in page.locator("#bars .bar.best").all()]
        assert best == [move for move, value in values.items() if value == max(values.values())]


def test_a_bar_and_enter_play_their_moves(page: Page) -> None:
    begin(page)
    episode = Episode(make_game("2048"), seed=7)
    choose(page, "heuristic", "depth=1")
    page.click("#bars .bar[data-move=down]")
    expect(page.locator("#game-about")).to_have_text("1 move · seed 7")
    episode.move("down")
    assert board_on(page) == tiles_of(episode.board)
    page.locator("#board").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#game-about")).to_have_text("2 moves · seed 7")
    episode.move(make_agent("heuristic:depth=1").move(episode.board, episode.stream))
    assert board_on(page) == tiles_of(episode.board)


def test_a_board_is_set_up_cell_by_cell(page: Page) -> None:
    page.click("#edit")
    page.click("#edit-clear")
    for index, value in ((0, "1024"), (5, "64"), (15, "3")):
        page.locator("#edit-cells input").nth(index).fill(value)
    page.click("#edit-dialog button[type=submit]")
    expect(page.locator("#edit-said")).to_contain_text("row 4, column 4: 3 is not a tile of 2048")
    page.locator("#edit-cells input").nth(15).fill("2")
    page.click("#edit-dialog button[type=submit]")
    expect(page.locator("#edit-dialog")).to_be_hidden()
    assert board_on(page) == [[1024, 0, 0, 0], [0, 64, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]]


def test_a_board_is_pasted_as_it_was_copied(page: Page) -> None:
    paste(page, "[[2, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0], [0, 0, 65536, 32768]]")
    expect(page.locator("#game-about")).to_have_text("0 moves · own board")
    assert board_on(page) == [[2, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0], [0, 0, 65536, 32768]]
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#game-about")).to_have_text("1 move · own board")
    assert [row[0] for row in board_on(page)][:2] == [2, 8]
    assert board_on(page)[3][:2] == [65536, 32768]


def test_autoplay_plays_the_game_of_evaluate_to_its_end(page: Page) -> None:
    begin(page, seed=3)
    choose(page, "greedy")
    set_slider(page, "#speed", FASTEST)
    page.locator("#board").focus()
    page.keyboard.press("Space")
    game = make_game("2048")
    recorded = play_recorded(make_agent("greedy").player(game), 3, 0)
    expect(page.locator("#board .veil")).to_contain_text("Game over")
    expect(page.locator("#score")).to_have_text(f"{recorded.score:,}")
    assert board_on(page) == tiles_of(recorded.board(-1))
    expect(page.locator("#auto")).to_have_text("Autoplay")


def test_autoplay_pauses_and_a_closed_tab_frees_its_work(page: Page, live: Live) -> None:
    begin(page)
    choose(page, "heuristic", "ms=50")
    set_slider(page, "#speed", "4")
    page.click("#auto")
    expect(page.locator("#auto")).to_have_text("Pause")
    expect(page.locator("#game-about")).to_contain_text(re.compile(r"^([3-9]|\d\d+) moves"))
    page.click("#auto")
    expect(page.locator("#auto")).to_have_text("Autoplay")
    paused = board_on(page)
    wait(page, lambda: live.server.open_sockets == 0)
    round_trip(page)
    assert board_on(page) == paused
    page.click("#auto")
    expect(page.locator("#auto")).to_have_text("Pause")
    wait(page, lambda: live.server.open_sockets == 1)
    page.goto("about:blank")
    wait(page, lambda: (live.server.open_sockets, live.server.executors.slow.pending) == (0, 0))


def test_a_reload_keeps_the_game_and_what_can_be_taken_back(page: Page) -> None:
    begin(page, "threes")
    episode = Episode(make_game("threes"), seed=7)
    boards = [tiles_of(episode.board)]
    for turn in range(4):
        move = episode.legal[turn % len(episode.legal)]
        episode.move(move)
        boards.append(tiles_of(episode.board))
        page.keyboard.press(KEYS[move])
        expect(page.locator("#game-about")).to_contain_text(re.compile(rf"^{turn + 1} moves? "))
    page.reload()
    expect(page.locator("#game-name")).to_have_text("Threes")
    expect(page.locator("#game-about")).to_have_text("4 moves · seed 7")
    expect(page.locator("#score")).to_have_text(f"{episode.score:,}")
    assert board_on(page) == boards[-1]
    page.click("#undo")
    assert board_on(page) == boards[-2]


def test_review_finds_the_worst_moves_and_jumps_to_them(page: Page) -> None:
    begin(page, seed=5)
    choose(page, "random")
    set_slider(page, "#speed", FASTEST)
    page.click("#auto")
    expect(page.locator("#board .veil")).to_be_visible()
    page.click("#to-review")
    choose(page, "greedy", index="#review-agent")
    page.click("#review-form button[type=submit]")
    game = make_game("2048")
    found = review(play_recorded(make_agent("random").player(game), 5, 0), make_agent("greedy"))
    expect(page.locator("#review-figures")).to_contain_text(f"{found.recording.score:,}")
    expect(page.locator("#review-figures")).to_contain_text(f"{found.total_loss:,.1f}")
    worst = found.worst(12)
    assert page.locator("#review-worst li").count() == len(worst)
    page.locator("#review-worst button").nth(2).click()
    expect(page.locator("#review-where")).to_contain_text(f"Move {worst[2].number}: {worst[2].played} was played")
    assert board_on(page, "#review-board") == tiles_of(worst[2].board)
    expect(page.locator("#review-bars .bar.played")).to_have_attribute("data-move", worst[2].played)
    box = page.locator("#review-losses").bounding_box()
    assert box is not None
    page.locator("#review-losses svg").click(position={"x": 52, "y": 40})
    expect(page.locator("#review-where")).to_contain_text("Move 1:")
    assert board_on(page, "#review-board") == tiles_of(found.moves[0].board)
    page.click("#review-on")
    assert board_on(page, "#review-board") == tiles_of(found.moves[1].board)


def test_review_opens_a_file_of_evaluate(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    evaluate(make_agent("greedy"), make_game("threes"), games=3, seed=2, record=path)
    page.goto("/#review")
    page.set_input_files("#review-file", path)
    expect(page.locator("#review-said")).to_have_text("3 games from games.jsonl")
    page.select_option("#review-number", "1")
    choose(page, "greedy", index="#review-agent")
    page.click("#review-form button[type=submit]")
    expect(page.locator("#review-figures")).to_contain_text("100.0 %")
    expect(page.locator("#review-worst")).to_have_text("No move lost anything.")


def test_compare_fills_its_table_with_the_results_of_evaluate(page: Page) -> None:
    page.goto("/#compare")
    expect(page.locator("#compare-agents .picker")).to_have_count(2)
    for i, agent in enumerate(("greedy", "random")):
        page.locator("#compare-agents .picker").nth(i).locator("select").first.select_option(agent)
    page.fill("#compare-games", "20")
    page.fill("#compare-seed", "4")
    page.click("#compare-start")
    page.goto("/#play")  # a comparison goes on while another view is shown
    page.goto("/#compare")
    expect(page.locator("#compare-said")).to_have_text("all games are played")
    results = [evaluate(make_agent(agent), make_game("2048"), games=20, seed=4) for agent in ("greedy", "random")]
    for i, expected in enumerate(results):
        row = page.locator("#compare-table tbody tr").nth(i)
        expect(row).to_contain_text(f"{expected.agent}20")
        expect(row).to_contain_text(f"{expected.score.value:,.0f}± {expected.score.margin:,.0f}")
    assert page.locator("#compare-boards .board").count() == 2
    difference = mean_of(results[1].scores - results[0].scores)
    assert difference.margin is not None
    shown = row.locator("td").nth(2).inner_text().splitlines()
    assert number(shown[0].split("±")[0]) == pytest.approx(difference.value, abs=0.51)
    assert number(shown[0].split("±")[1]) == pytest.approx(difference.margin, abs=1)
    assert shown[1] == (
        "cannot be told yet" if abs(difference.value) <= difference.margin else "worse, with 95 % confidence"
    )
    with page.expect_download() as saved:
        page.click("#compare-csv")
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "game,greedy,random"
    assert [int(line.split(",")[1]) for line in lines[1:]] == results[0].scores.tolist()


def test_the_curve_of_a_running_session_grows(page: Page, runs: Path) -> None:
    train(tiny(games=100), runs / "growing")
    page.goto("/#runs")
    page.check("#runs-list input[value=growing]")
    line = page.locator("#runs-chart path[data-name=growing]")
    points = len(RunFolder(runs / "growing").curve_points())
    expect(line).to_have_attribute("data-points", str(points))
    train(tiny(games=200), runs / "growing", resume=True)
    more = len(RunFolder(runs / "growing").curve_points())
    assert more > points
    expect(line).to_have_attribute("data-points", str(more))
    expect(page.locator("#runs-config")).to_contain_text("# growing")
    assert "alpha" in (page.locator("#runs-config").text_content() or "")
    page.check("#runs-list input[value=large]")
    expect(page.locator("#runs-chart path[data-name=large]")).to_have_count(1)
    assert page.locator("#runs-legend li").count() == page.locator("#runs-chart path.line").count() >= 2
    page.select_option("#tiles-run", "growing")
    page.fill("#tiles-games", "30")
    page.click("#tiles-start")
    expect(page.locator("#tiles-said")).to_contain_text("growing: 30 of 30 games")
    counts = [int(text.split()[0]) for text in page.locator("#tiles-chart span").all_inner_texts()]
    assert sum(counts) == 30


@pytest.mark.parametrize("page", [{"viewport": {"width": 390, "height": 844}, "has_touch": True}], indirect=True)
def test_nothing_sticks_out_at_phone_width(page: Page) -> None:
    begin(page, "threes", seed=987654)
    choose(page, "random")
    set_slider(page, "#speed", FASTEST)
    page.click("#auto")
    expect(page.locator("#board .veil")).to_be_visible()
    filled = {"play": "#board .veil", "review": "#review-agent option", "compare": "#compare-agents option"}
    for view, content in (filled | {"runs": "#runs-chart path.line"}).items():
        page.goto(f"/#{view}")
        expect(page.locator(f"#view-{view}")).to_be_visible()
        expect(page.locator(content).last).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto("/#play")
    box = page.locator("#board").bounding_box()
    assert box is not None
    assert box["width"] > 330
    assert box["y"] + box["height"] < 844


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_dark_by_the_system_and_light_by_choice(page: Page) -> None:
    def brightness() -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", colour)[:3])

    assert brightness() < 150
    page.click("#theme")
    assert brightness() > 600
    page.reload()
    assert brightness() > 600


def test_everything_can_be_done_with_the_keyboard_alone(page: Page) -> None:
    page.locator("#board").focus()
    page.keyboard.press("n")
    expect(page.locator("#new-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#new-dialog")).to_be_hidden()
    reached = set()
    page.locator(".brand").focus()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.dataset.move || ''"))
    assert {"theme", "new", "edit", "board", "auto", "step", "speed"} <= reached
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter(e => !e.labels?.length &&"
        " !e.textContent.trim() && !e.getAttribute('aria-label')).map(e => e.outerHTML)"
    )
    assert unnamed == []
