"""Recorded games: what is written comes back, and what cannot have been played is refused with its place."""

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.games.naive import score as naive_score
from tests.games.variants import VARIANTS, naive_state, twin
from tests.play.test_evaluate import PythonGreedy
from tilewright import Agent, Board, Episode, Game, UsageError, evaluate, make_agent, make_game
from tilewright.errors import FileError
from tilewright.play.recording import FORMAT, Recording, play_recorded, read_game, read_games, recording_of

SPECS = ["2048", "threes", "2048:rows=3,columns=3", "2048:rows=2,columns=4,four=0.5", "threes:rows=3,start_tiles=4"]


def random_game(game: Game, number: int, start: Board | None = None, most: int = 10_000) -> Episode:
    rng = random.Random(number)
    episode = Episode(game, seed=5, number=number, start=start)
    while not episode.is_over and len(episode.history) < most:
        episode.move(rng.choice(episode.legal))
    return episode


def saved(path: Path, *recordings: Recording) -> Path:
    path.write_text("".join(recording.to_line() + "\n" for recording in recordings))
    return path


@pytest.mark.parametrize("game", VARIANTS, ids=lambda game: game.spec)
def test_a_game_of_any_variant_comes_back_exactly(game: Game, tmp_path: Path) -> None:
    recordings = [recording_of(random_game(game, number), "somebody") for number in range(3)]
    assert list(read_games(saved(tmp_path / "games", *recordings))) == recordings


@pytest.mark.parametrize("spec", SPECS)
def test_a_line_says_what_was_played(spec: str) -> None:
    game, naive = make_game(spec), twin(make_game(spec))
    episode = random_game(game, 1)
    found = json.loads(recording_of(episode, "somebody").to_line())
    assert (found["format"], found["game"], found["agent"]) == (FORMAT, game.spec, "somebody")
    assert (found["seed"], found["number"], found["score"], found["over"]) == (5, 1, episode.score, True)
    boards = [game.parse(found["start"]), *(game.parse(text) for _, text, _ in found["moves"])]
    assert boards == [*(turn.board for turn in episode.history), episode.board]
    earned = 0
    for (action, _, points), before, after in zip(found["moves"], boards[:-1], boards[1:], strict=True):
        slid = naive.slide(naive_state(before), action)
        assert slid is not None
        assert naive_state(after) in naive.outcomes(slid.after)
        earned += slid.reward
        assert points == (earned if game.name == "2048" else naive_score(after.tiles))


WIDE = "32768 32768 16384 8192 / 65536 2 4 8 / 65536 0 0 32 / 2 4 8 16"


def test_tiles_beyond_the_hexadecimal_digits_come_back(tmp_path: Path) -> None:
    game = make_game("2048")
    episode = random_game(game, 0, game.parse(WIDE), most=3)
    episode.undo().undo().undo().move("left").move("down")
    assert game.largest(episode.board) == 131072
    recording = recording_of(episode, "human")
    assert list(read_games(saved(tmp_path / "games", recording))) == [recording]
    assert recording.scores[:2] == (0, 65536)
    assert 131072 <= recording.scores[2] - 65536 < 131072 + 100
    assert '"32768 32768 16384 8192 / 65536 2 4 8 / 65536 0 0 32 / 2 4 8 16"' in recording.to_line()


def test_a_bonus_decided_earlier_comes_back(tmp_path: Path) -> None:
    game = make_game("threes")
    start = game.parse("96 96 3 3 / 48 0 0 2 / 1 0 0 0 / 3 0 0 0 hint=+12 bag=143")
    recordings = [recording_of(random_game(game, number, start), "human") for number in range(20)]
    assert list(read_games(saved(tmp_path / "games", *recordings))) == recordings
    assert recordings[0].scores[0] == 3**6 + 3**6 + 3**5 + 3 * 3
    assert any("hint=+" in recording.to_line().partition("moves")[2] for recording in recordings)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("agent", ["greedy", "random"])
def test_an_evaluation_records_the_games_it_plays_whatever_the_threads(agent: str, spec: str, tmp_path: Path) -> None:
    game, texts = make_game(spec), []
    plain = evaluate(make_agent(agent), game, games=150, seed=3)
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}"
        found = evaluate(make_agent(agent), game, games=150, seed=3, threads=threads, record=path)
        assert found.scores.tolist() == plain.scores.tolist()
        assert found.moves.tolist() == plain.moves.tolist()
        assert found.codes.tolist() == plain.codes.tolist()
        texts.append(path.read_text())
    assert texts[0] == texts[1] == texts[2]
    games = list(read_games(path))
    assert [recording.number for recording in games] == list(range(150))
    assert [recording.score for recording in games] == plain.scores.tolist()
    assert {recording.agent for recording in games} == {agent}
    assert all(recording.is_over for recording in games)


def test_an_agent_in_python_records_the_same_games(tmp_path: Path) -> None:
    players: list[Agent] = [make_agent("greedy"), PythonGreedy()]
    for i, player in enumerate(players):
        evaluate(player, make_game("threes"), games=10, seed=4, record=tmp_path / str(i))
    in_python = (tmp_path / "1").read_text().replace(PythonGreedy().spec, "greedy")
    assert (tmp_path / "0").read_text() == in_python


def test_a_game_longer_than_the_kernels_room_is_recorded_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    game, agent = make_game("2048"), make_agent("greedy")
    whole = play_recorded(agent.player(game), 6, 2)
    for room in (1, 7, len(whole.actions), len(whole.actions) + 1):
        monkeypatch.setattr("tilewright.play.recording._MOVES_PER_CALL", room)
        assert play_recorded(agent.player(game), 6, 2) == whole


# Reading what is not right

GAME = make_game("2048")
THREES = make_game("threes")


def short() -> dict[str, Any]:
    """left, right, up on a known board; the last ends nothing."""
    episode = Episode(GAME, 1, 0, GAME.parse("2 2 0 0 / 0 0 0 0 / 4 0 0 0 / 0 0 0 2"))
    episode.move("left").move("right").move("up")
    found: dict[str, Any] = json.loads(recording_of(episode, "human").to_line())
    return found


def refused(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FileError) as error:
        list(read_games(path))
    message = str(error.value)
    assert message.startswith(f"{path}")
    assert "\n" not in message
    assert len(message) < 500
    return message.removeprefix(str(path))


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in short().items() if name != key}


def with_move(i: int, part: int, value: Any) -> dict[str, Any]:
    found = short()
    found["moves"][i][part] = value
    return found


DAMAGED = [
    (short() | {"format": "tilewright-game-9"}, "the format 'tilewright-game-9' is not known"),
    (without("game"), "damaged: game is missing"),
    (without("start"), "damaged: start is missing"),
    (without("moves"), "damaged: moves is missing"),
    (without("over"), "damaged: over is missing"),
    (short() | {"game": "chess"}, "there is no game 'chess'"),
    (short() | {"game": "2048:rows=9"}, "game 2048, option rows=9: must be a whole number from 2 to 4"),
    (short() | {"game": "2048:rows=\x1b[2J"}, "damaged: game is"),
    (short() | {"game": 2048}, "damaged: game is 2048, not text"),
    (short() | {"agent": "two\nlines"}, "damaged: agent is"),
    (short() | {"seed": -1}, "damaged: seed is -1, not a whole number from 0 up"),
    (short() | {"seed": True}, "damaged: seed is True, not a whole number"),
    (short() | {"number": 0.5}, "damaged: number is 0.5, not a whole number"),
    (short() | {"score": 5}, "the score is given as 5, the moves add up to"),
    (short() | {"score": 10**400}, "the score is given as"),
    (short() | {"over": True}, "over is given as true, the last board says false"),
    (short() | {"over": 0}, "damaged: over is 0, not true or false"),
    (short() | {"start": "no board"}, "start: the board has 2 numbers"),
    (short() | {"start": "0" * 16}, "move 1: left moves nothing on '0 0 0 0 / "),
    (short() | {"moves": "left"}, "damaged: moves is 'left', not a list"),
    (short() | {"moves": [["left"]]}, "damaged: move 1 is ['left'], not [move, board, score]"),
    (short() | {"moves": [None]}, "damaged: move 1 is None, not [move, board, score]"),
    (with_move(1, 0, "sideways"), "damaged: move 2 is 'sideways'; moves are up, right, down, left"),
    (with_move(1, 0, "left"), "move 2: "),
    (with_move(2, 1, "x"), "move 3: 'x' is not a board; give 16 numbers"),
    (with_move(2, 1, "3" * 16), "move 3: '8 8 8 8 / 8 8 8 8 / 8 8 8 8 / 8 8 8 8' cannot come of up on '"),
    (with_move(0, 2, 5), "move 1: the score is given as 5; it is 4"),
    (with_move(0, 2, 10**30), "move 1: the score is given as 10000000000000000000…; it is 4"),
]


@pytest.mark.parametrize(
    ("found", "reason"), DAMAGED, ids=[f"{i} {reason[:40]}" for i, (_, reason) in enumerate(DAMAGED)]
)
def test_a_damaged_game_is_refused_with_its_line_and_the_reason(
    found: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    text = json.dumps(short()) + "\n" + json.dumps(found) + "\n"
    assert f", line 2: {reason}" in refused(tmp_path / "games.jsonl", text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello\n", ", line 1: not a recorded game of tilewright"),
        (b"\x89PNG\r\n\x1a\n\0\0", ", line 1: not a recorded game of tilewright"),
        (b"\xff\xfe" * 1000, ", line 1: not a recorded game of tilewright"),
        ("[1, 2]\n", ", line 1: not a recorded game of tilewright"),
        ('{"moves": []}\n', ", line 1: not a recorded game of tilewright"),
        ("[" * 100_000, ", line 1: not a recorded game of tilewright"),
        ('{"format": "tilewright-game-1", ' + "[" * 100_000 + "\n", ", line 1: damaged: not JSON"),
        ("\n", ", line 1: not a recorded game of tilewright"),
        (json.dumps(short()) + "\n\n", ", line 2: not a recorded game of tilewright"),
    ],
)
def test_a_file_of_another_kind_is_refused(text: str | bytes, reason: str, tmp_path: Path) -> None:
    assert refused(tmp_path / "games.jsonl", text) == reason


def test_a_line_that_never_ends_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.play.recording._MAX_LINE", 1000)
    reason = ", line 1: not a recorded game of tilewright: the line is too long"
    assert refused(tmp_path / "zeros", b"\0" * 5000) == reason


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    for path, reason in [(tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")]:
        with pytest.raises(FileError, match=f"cannot be read: {reason}"):
            list(read_games(path))


def test_a_file_cut_off_anywhere_is_refused_after_the_games_that_are_whole(tmp_path: Path) -> None:
    line = json.dumps(short())
    path = tmp_path / "games.jsonl"
    for end in range(1, len(line)):
        path.write_text(line + "\n" + line[:end])
        games = read_games(path)
        assert next(games).score == short()["score"]
        with pytest.raises(FileError, match=r"line 2: (the line is cut off|not a recorded game of tilewright)"):
            next(games)


def test_no_single_wrong_character_gets_through_as_another_game(tmp_path: Path) -> None:
    """Every character in turn becomes another: the file is refused, or says the same moves of another seed or agent."""
    line, rng = json.dumps(short()), random.Random(3)
    path = tmp_path / "games.jsonl"
    path.write_text(line + "\n")
    right = next(read_games(path))
    for index, new in itertools.product(range(len(line)), rng.sample('019afhx"[]{},: \\-', 6)):
        path.write_text(line[:index] + new + line[index + 1 :] + "\n")
        try:
            found = next(read_games(path))
        except FileError:
            continue
        assert (found.states, found.actions, found.scores) == (right.states, right.actions, right.scores)


@pytest.mark.parametrize("board", ["2 2 0 0 / 0 0 0 0 / 4 0 0 0 / 0 0 0 2", "1 2 3 3 / 0 0 0 0 / 48 0 0 0 / 0 0 0 6"])
def test_exactly_the_outcomes_of_a_move_may_follow_it(board: str, tmp_path: Path) -> None:
    game = THREES if board.startswith("1") else GAME
    start = game.parse(f"{board} hint=2 bag=143" if game is THREES else board)
    after, reward = game.slide(start, "left")
    score = game.board_score(start) + reward
    possible = {outcome for outcome, _ in game.outcomes(after)}
    others = {other for action in ("up", "right") for other, _ in game.outcomes(game.slide(start, action)[0])}
    assert others - possible
    assert possible - others
    for outcome in possible | others:
        gain = game.board_score(outcome) - game.board_score(after)
        states, scores = (start.state, outcome.state), (game.board_score(start), score + gain)
        recording = Recording(game, "human", 0, 0, states, ("left",), scores)
        path = saved(tmp_path / "games.jsonl", recording)
        if outcome in possible:
            assert list(read_games(path)) == [recording]
        else:
            with pytest.raises(FileError, match=r"line 1: move 1: .* cannot come of left on "):
                list(read_games(path))


def test_one_game_of_many_is_read_without_looking_at_the_others(tmp_path: Path) -> None:
    recordings = [recording_of(random_game(GAME, number), "somebody") for number in range(3)]
    path = tmp_path / "games.jsonl"
    path.write_text(recordings[0].to_line() + "\n{damaged}\n" + recordings[2].to_line() + "\n")
    assert read_game(path) == (recordings[0], 3)
    assert read_game(path, 2) == (recordings[2], 3)
    with pytest.raises(FileError, match="line 2: not a recorded game"):
        read_game(path, 1)
    with pytest.raises(FileError, match="there is no game 3; the file has 3 games, counted from 0"):
        read_game(path, 3)
    path.write_text("")
    with pytest.raises(UsageError, match="there is no game 0; the file has no games"):
        read_game(path)


def test_json_in_another_spacing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(short(), separators=(",", ":")))
    assert next(read_games(path)).score == short()["score"]


def test_a_path_may_be_text(tmp_path: Path) -> None:
    recording = recording_of(random_game(GAME, 0), "somebody")
    path = str(saved(tmp_path / "games.jsonl", recording))
    assert list(read_games(path)) == [recording]
    assert read_game(path) == (recording, 1)


@pytest.mark.parametrize("path", [None, 7, [1]])
def test_what_is_no_path_is_refused_at_once(path: Any) -> None:
    with pytest.raises(UsageError, match="is not a file: give a path as text or as a Path"):
        read_games(path)


def test_the_repr_is_one_short_line() -> None:
    recording = recording_of(random_game(GAME, 0, most=1), "somebody")
    assert repr(recording) == f"<Recording of 2048 by somebody: score {recording.score} after 1 move>"
