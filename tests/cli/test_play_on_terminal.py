"""`tilewright play` on a real terminal: keys, screens of any size, and the terminal as it was when it ends."""

import os
import re
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.pseudoterminal import Pseudoterminal, on_terminal
from tests.full_disk import full_disk
from tilewright import Episode, evaluate, make_agent, make_game
from tilewright.play.recording import read_games, recording_of

ARROWS = {"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1bOD"}


def tiles_on(terminal: Pseudoterminal) -> list[int]:
    """The numbers on the board, row by row, without empty cells: the first 42 columns of a screen."""
    return [int(word) for line in terminal.screen[2:-2] for word in re.findall(r"\d+", line[:42])]


def tiles_of(episode: Episode) -> list[int]:
    return [tile for row in episode.board.tiles for tile in row if tile]


def shows(terminal: Pseudoterminal, episode: Episode) -> None:
    game = f", game {episode.number}" if episode.number else ""
    terminal.until(
        rf"seed {episode.seed}{game}\s*\n(?s:.*)score +{episode.score:,}\s*\n.*moves +{len(episode.history):,}\s*\n"
    )
    assert tiles_on(terminal) == tiles_of(episode)
    assert len(terminal.screen) <= 24
    assert max(map(len, terminal.screen)) <= 80


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_arrow_keys_undo_hint_and_help(game: str) -> None:
    episode = Episode(make_game(game), 7)
    with on_terminal("play", "--agent", "greedy", "--game", game, "--seed", "7") as terminal:
        shows(terminal, episode)
        for _ in range(12):
            action = episode.legal[len(episode.history) % len(episode.legal)]
            terminal.press(ARROWS[action])
            shows(terminal, episode.move(action))
        terminal.press("u", "u", "U")
        shows(terminal, episode.undo().undo().undo())
        if game == "threes":
            assert re.search(rf"hint +{re.escape(episode.board.notes['hint'])} ", terminal.until("hint"))
            assert re.search(rf"bag +{episode.board.notes['bag']}", terminal.until("bag"))
        terminal.press("i")
        seen = terminal.until("best")
        values = make_agent("greedy").values(episode.board)
        for action, value in values.items():
            mark = "◀ best" if value == max(values.values()) else ""
            assert re.search(rf"{action} +{value:,.1f} *{mark}\s*(\n|$)", seen)
        terminal.press("?")
        assert "undo a move" in terminal.until("hide this help")
        terminal.press("?", "x")
        assert "score" in terminal.until("'x' is not a command")
        terminal.press("q")
        code, said = terminal.ended()
    assert code == 0
    assert said.startswith(f"{game}, seed 7, game 0: {episode.score:,} points in 9 moves, largest tile ")


def test_letters_move_like_arrows() -> None:
    episode = Episode(make_game("2048"), 3)
    keys = {"up": "wk", "left": "ah", "down": "sj", "right": "dl"}
    with on_terminal("play", "--agent", "greedy", "--seed", "3") as terminal:
        shows(terminal, episode)
        for i in range(16):
            action = episode.legal[i % len(episode.legal)]
            terminal.press(keys[action][i // 2 % 2])
            shows(terminal, episode.move(action))
        illegal = next((action for action in keys if action not in episode.legal), None)
        if illegal is not None:
            terminal.press(keys[illegal][0])
            terminal.until(f"{illegal} is illegal: it moves nothing; legal: {', '.join(episode.legal)}")


def test_a_new_game_is_asked_for_twice_while_one_is_under_way() -> None:
    with on_terminal("play", "--agent", "greedy", "--seed", "3") as terminal:
        terminal.until("score")
        terminal.press("n")  # nothing has been played yet
        shows(terminal, episode := Episode(make_game("2048"), 3, 1))
        action = episode.legal[0]
        terminal.press(ARROWS[action])
        shows(terminal, episode.move(action))
        terminal.press("n")
        terminal.until("press n again")
        terminal.press("n")
        shows(terminal, Episode(make_game("2048"), 3, 2))


def test_the_agent_plays_the_game_that_evaluate_plays_and_the_speed_can_be_changed(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    game = "2048:rows=3,columns=3"
    expected = evaluate(make_agent("greedy"), make_game(game), games=1, seed=6, record=tmp_path / "expected")
    with on_terminal(
        "play",
        "--agent",
        "greedy",
        "--game",
        game,
        "--seed",
        "6",
        "--speed",
        "0.01",
        "--watch",
        "--record",
        str(record),
    ) as terminal:
        terminal.until(r"plays, 0\.01 moves/s")
        terminal.press("-", "+")
        terminal.until(r"speed: 0\.5 moves per second")
        terminal.press("+" * 12)
        terminal.until(rf"game over: {expected.scores[0]:,} points in {expected.moves[0]:,} moves")
        terminal.press(" ")
        terminal.until("the game is over; n starts a new one")
        terminal.press("q")
        assert terminal.ended()[0] == 0
    assert record.read_text() == (tmp_path / "expected").read_text()


def left_in_order(terminal: Pseudoterminal) -> None:
    assert terminal.mode == terminal.mode_before
    assert terminal.raw.count("\x1b[?1049h") == terminal.raw.count("\x1b[?1049l") == 1
    assert terminal.raw.count("\x1b[?25l") == terminal.raw.count("\x1b[?25h") == 1
    assert terminal.raw.rfind("\x1b[?25l") < terminal.raw.rfind("\x1b[?25h")
    assert "Traceback" not in terminal.raw


@pytest.mark.parametrize("way", ["ctrl-c", "ctrl-c twice", "SIGTERM", "SIGHUP"])
def test_however_it_is_stopped_the_terminal_and_the_record_are_in_order(way: str, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    episode = Episode(make_game("threes"), 5)
    with on_terminal(
        "play", "--agent", "greedy", "--game", "threes", "--seed", "5", "--record", str(record)
    ) as terminal:
        shows(terminal, episode)
        assert terminal.mode != terminal.mode_before
        for _ in range(3):
            action = episode.legal[0]
            terminal.press(ARROWS[action])
            shows(terminal, episode.move(action))
        if way.startswith("ctrl-c"):
            terminal.press("\x03" * (2 if way.endswith("twice") else 1))
        else:
            terminal.process.send_signal(getattr(signal, way))
        code, said = terminal.ended()
        left_in_order(terminal)
    assert code == 1
    assert said.endswith("tilewright: stopped\n")
    assert list(read_games(record)) == [recording_of(episode, "human")]


def test_a_full_disk_does_not_end_the_game_and_the_terminal_is_left_in_order(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    with ExitStack() as stack:
        with full_disk(400):  # the process inherits the limit
            play = on_terminal("play", "--agent", "greedy", "--seed", "5", "--record", str(record))
            terminal = stack.enter_context(play)
        terminal.until("score")
        terminal.press(" ")  # the agent plays on
        terminal.until("not recorded, tried again")
        terminal.press("q")
        code, said = terminal.ended()
        left_in_order(terminal)
    assert code == 1
    assert said.endswith(f"tilewright: {record}: cannot be written: File too large\n")
    assert "not all moves are recorded" in said
    [kept] = read_games(record)  # as far as there was room
    assert kept.actions


def test_a_terminal_that_goes_away_ends_the_game() -> None:
    with on_terminal("play", "--agent", "greedy", "--seed", "5") as terminal:
        terminal.until("score")
        os.close(terminal._theirs)
        os.close(terminal.ours)
        assert terminal.process.wait(600) in (0, 1)


COLOURED = r"\x1b\[[0-9;]*[34]8;"


def test_tiles_are_coloured_where_the_terminal_can() -> None:
    with on_terminal("play", "--agent", "greedy", "--seed", "5") as terminal:
        seen = terminal.until("score")
        assert re.search(COLOURED, terminal.raw)
        assert "│" not in seen
    with on_terminal("play", "--agent", "greedy", "--seed", "5", COLORTERM="truecolor") as terminal:
        terminal.until("score")
        assert "48;2;187;173;160" in terminal.raw


@pytest.mark.parametrize(
    ("arguments", "changes"), [([], {"NO_COLOR": "1"}), (["--no-color"], {}), ([], {"TERM": "xterm"})]
)
def test_without_colours_tiles_have_borders(arguments: list[str], changes: dict[str, str]) -> None:
    episode = Episode(make_game("2048"), 5)
    with on_terminal("play", "--agent", "greedy", "--seed", "5", *arguments, size=(80, 24), **changes) as terminal:
        shows(terminal, episode)
        assert not re.search(COLOURED, terminal.raw)
        assert "├────────┼" in "\n".join(terminal.screen)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    with on_terminal(
        "play", "--agent", "greedy", "--seed", "5", "--no-color", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    ) as terminal:
        terminal.until("score")
        terminal.press("i")
        seen = terminal.until("< best")
        assert "+--------+" in seen
        assert "?" not in seen.replace("? help", "")
        assert seen.isascii()


def test_screens_of_other_sizes() -> None:
    episode = Episode(make_game("2048"), 5)
    with on_terminal("play", "--agent", "greedy", "--seed", "5", size=(40, 15)) as terminal:
        terminal.until(r"score 0  moves 0")
        assert "\n".join(terminal.screen).count("│") == 4 * 5
        assert len(terminal.screen) <= 15
        assert max(map(len, terminal.screen)) <= 40
        terminal.press("?")
        terminal.until("undo a move")
        terminal.press("?")
        terminal.resize(20, 8)
        terminal.until("too small: 20x8")
        assert max(map(len, terminal.screen)) <= 20
        terminal.resize(80, 24)
        shows(terminal, episode)
        terminal.resize(200, 60)
        terminal.press(ARROWS[episode.legal[0]])
        shows(terminal, episode.move(episode.legal[0]))


def test_a_dumb_terminal_is_used_line_by_line() -> None:
    with on_terminal("play", "--agent", "greedy", "--seed", "5", TERM="dumb") as terminal:
        terminal.press("left\n", "q\n")
        code, _ = terminal.ended()
        assert code == 0
        assert "\x1b" not in terminal.raw
