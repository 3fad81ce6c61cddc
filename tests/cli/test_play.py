"""`tilewright play` without a terminal: words in, plain boards out; and what is refused in a line."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Said
from tests.process import HANG_SECONDS, environment, start_tilewright
from tilewright import Episode, evaluate, make_agent, make_game
from tilewright.play.recording import read_games, recording_of


@pytest.fixture
def say(command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`say(words, *arguments)`: play with these words as the input."""

    def run(words: str, *arguments: str) -> Said:
        monkeypatch.setattr("sys.stdin", io.StringIO(words))
        return command("play", "--agent", "greedy", *arguments)

    return run


@pytest.mark.parametrize("game", ["2048", "threes", "2048:rows=3,columns=2"])
def test_moves_are_read_as_words_and_letters_and_every_board_is_printed(say: Command, game: str) -> None:
    episode = Episode(make_game(game), 7)
    boards, words = [str(episode.board)], []
    names = {
        "up": ("up", "w", "k"),
        "right": ("RIGHT", "d", "l"),
        "down": ("down", "S", "j"),
        "left": ("left", "a", "h"),
    }
    for i in range(8):
        action = episode.legal[i % len(episode.legal)]
        words.append(names[action][i % 3])
        boards.append(str(episode.move(action).board))
    said = say("\n".join(" ".join(words[i : i + 3]) for i in range(0, 8, 3)), "--game", game, "--seed", "7")
    assert (said.code, said.err) == (0, "")
    largest = max(max(row) for row in episode.board.tiles)
    last = f"{game}, seed 7, game 0: {episode.score:,} points in 8 moves, largest tile {largest}, not over\n"
    assert said.out == "\n".join([*boards, last])


def test_hint_undo_help_and_a_new_game(say: Command) -> None:
    game = make_game("2048")
    board = game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    said = say("undo hint left undo ? new quit left", "--board", "1120000000000001", "--seed", "1")
    once = str(Episode(game, 1, 0, board).move("left").board)
    assert said.out.count(f"{board}\n") == 3  # at first, after undo, as a new game
    assert said.out.count(f"{once}\n") == 1
    assert "there is no move to undo\n" in said.out
    assert re.search(r"^up +0\.0\nright +4\.0  best\ndown +0\.0\nleft +4\.0  best$", said.out, re.MULTILINE), said.out
    assert "undo a move" in said.out
    assert said.out.endswith("2048, seed 1, game 1: 0 points in 0 moves, largest tile 4, not over\n")


def test_input_that_means_nothing_gets_one_line_and_the_game_goes_on(say: Command) -> None:
    bad = ["jump", "7", "\x1b[A", "x" * 5000, "naïve", "--seed"]
    board = str(make_game("2048").parse("1120000000000001"))
    said = say(" ".join(bad) + "\nleft", "--board", "1120000000000001", "--seed", "1")
    lines = said.out.removeprefix(board + "\n").splitlines()
    for i, word in enumerate(bad):
        assert lines[i].startswith(repr(word)[:20])
        assert lines[i].endswith("is not a command; ? lists the commands")
        assert len(lines[i]) < 80
    assert said.code == 0
    assert "4 points in 1 move," in said.out


def test_bytes_that_are_no_text_are_no_error() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tilewright", "play", "--agent", "greedy", "--seed", "1"],
        env=environment(),
        input=b"\xff\xfe left \x00\n" * 3,
        capture_output=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert found.returncode == 0, found.stderr
    assert b"is not a command" in found.stdout
    assert b"Traceback" not in found.stderr


def test_an_illegal_move_names_the_legal_ones(say: Command) -> None:
    said = say("up", "--board", "2 4 8 16 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "--seed", "1")
    assert "\nup is illegal: it moves nothing; legal: down\n" in said.out


def test_the_end_and_the_winning_tile_are_told(say: Command) -> None:
    said = say("left up", "--game", "2048:rows=2,columns=2", "--board", "2 4 / 4 2")
    assert "the game is over; n starts a new one, u undoes the last move" in said.out
    said = say("left", "--board", "1024 1024 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert "2048: you have won and can continue" in said.out


def test_auto_lets_the_agent_finish_the_game_and_names_both_players(say: Command, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    episode = Episode(make_game("threes"), 2)
    first = episode.legal[0]
    said = say(f"{first} auto", "--game", "threes", "--seed", "2", "--record", str(record))
    episode.move(first)
    while not episode.is_over:
        episode.move(make_agent("greedy").move(episode.board, episode.stream))
    assert list(read_games(record)) == [recording_of(episode, "human + greedy")]
    assert f"game over: {episode.score:,} points in {len(episode.history)} moves" in said.out
    assert said.out.endswith(f"recorded in {record}\n")


def test_every_game_of_a_session_is_recorded_and_the_next_session_adds_to_them(say: Command, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    for seed in ("1", "2"):
        say("left right up down new left right up down", "--seed", seed, "--record", str(record))
    games = list(read_games(record))
    assert [(game.seed, game.number) for game in games] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert all(game.agent == "human" and game.actions for game in games)


@pytest.mark.parametrize("game", ["2048:rows=3,columns=3", "threes"])
def test_watching_prints_a_line_a_move_of_the_game_that_evaluate_plays(say: Command, game: str, tmp_path: Path) -> None:
    evaluate(make_agent("greedy"), make_game(game), games=1, seed=4, record=tmp_path / "expected")
    record = tmp_path / "watched"
    said = say("", "--watch", "--agent", "greedy", "--game", game, "--seed", "4", "--record", str(record))
    assert record.read_text() == (tmp_path / "expected").read_text()
    recording = next(read_games(record))
    lines = said.out.splitlines()
    for i, action in enumerate(recording.actions):
        number, move, score, *board = lines[i].split()
        assert (int(number), move, int(score)) == (i + 1, action, recording.scores[i + 1])
        assert make_game(game).parse(" ".join(board)) == recording.board(i + 1)
    assert str(recording.board(-1)) in said.out
    assert f"{recording.score:,} points in {len(recording.actions)} moves" in said.out


def test_without_a_seed_games_differ(say: Command) -> None:
    assert say("").out != say("").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "chess"], "there is no game 'chess'"),
        (["--agent", "gredy"], "there is no agent 'gredy' (did you mean 'greedy'?)"),
        (["--agent", "ntuple:model=none"], "none: cannot be read: No such file or directory"),
        (["--board", "1 2 3"], "the board has 3 numbers; a 4x4 board has 16"),
        (["--seed", "-1"], "seed -1: a seed is a whole number from 0 up"),
        (["--speed", "0"], "speed=0: must be more than 0 and at most 1000 moves per second"),
        (["--speed", "-3"], "speed=-3: must be more than 0"),
        (["--speed", "nan"], "speed=nan: must be more than 0"),
        (["--speed", "fast"], "'fast' is not a valid float"),
        (["--record", "/dev/null/games"], "/dev/null/games: cannot be written"),
        (["--record", __file__], "is not a file of recorded games, and is left as it is"),
        (["board"], "unexpected extra argument"),
    ],
)
def test_a_wrong_request_is_one_line(say: Command, arguments: list[str], message: str) -> None:
    said = say("left", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tilewright: ")
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    process = start_tilewright("play", "--agent", "greedy", "--watch", "--seed", "1", stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(600)
    process.stderr.close()
