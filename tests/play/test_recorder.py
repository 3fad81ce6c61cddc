"""Writing games: the file is whole after every move, and what is not ours is not touched."""

import random
from pathlib import Path

import pytest

from tests.full_disk import fill_disk, free_disk, full_disk
from tests.play.test_recording import random_game
from tilewright import Episode, evaluate, make_agent, make_game
from tilewright.errors import FileError
from tilewright.play import recorder as recorders
from tilewright.play.recorder import EpisodeRecorder, GamesRecorder
from tilewright.play.recording import read_games, recording_of


@pytest.mark.parametrize("spec", ["2048", "threes", "2048:rows=2,columns=3"])
def test_the_file_holds_the_game_after_every_move_and_every_undo(spec: str, tmp_path: Path) -> None:
    path, rng, before = tmp_path / "new folder" / "games.jsonl", random.Random(1), ""
    with EpisodeRecorder(path) as recorder:
        for number in range(4):
            episode = Episode(make_game(spec), 3, number)
            for _ in range(60):
                if episode.is_over or (episode.history and rng.random() < 0.3):
                    for _ in range(rng.randint(1, len(episode.history))):
                        episode.undo()
                else:
                    episode.move(rng.choice(episode.legal))
                player = rng.choice(("human", "human + greedy"))
                recorder.update(episode, player)
                line = recording_of(episode, player).to_line() + "\n" if episode.history else ""
                assert path.read_text() == before + line
            before += line
            recorder.start_game()
    assert len(list(read_games(path))) == before.count("\n")


def test_a_game_without_moves_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with EpisodeRecorder(path) as recorder:
        recorder.update(Episode(make_game("2048")), "human")
        recorder.start_game()
    assert path.read_text() == ""


def test_games_are_added_behind_those_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    episodes = [random_game(make_game("2048"), number, most=5) for number in range(2)]
    for episode in episodes:
        with EpisodeRecorder(path) as recorder:
            recorder.update(episode, "human")
    assert list(read_games(path)) == [recording_of(episode, "human") for episode in episodes]


def test_games_are_written_in_their_order_as_soon_as_that_is_possible(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    games = [recording_of(random_game(make_game("2048"), number), "somebody") for number in range(4)]
    with GamesRecorder(path) as recorder:
        for number, there in [(1, 0), (3, 0), (0, 2), (2, 4)]:
            recorder.add(games[number])
            assert path.read_text().count("\n") == there
    assert list(read_games(path)) == games


def test_games_behind_one_that_was_never_finished_are_written_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    games = [recording_of(random_game(make_game("2048"), number), "somebody") for number in range(4)]
    with GamesRecorder(path) as recorder:
        for number in (3, 0, 2):
            recorder.add(games[number])
    assert list(read_games(path)) == [games[0], games[2], games[3]]


def test_an_evaluation_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    evaluate(make_agent("random"), games=20, record=path)
    path.write_text(path.read_text()[:-100])  # as a crash may leave it
    evaluate(make_agent("random"), games=5, record=path)
    assert len(list(read_games(path))) == 5


@pytest.mark.parametrize("recorder", [GamesRecorder, EpisodeRecorder])
def test_a_file_of_another_kind_is_left_as_it_is(
    recorder: type[GamesRecorder] | type[EpisodeRecorder], tmp_path: Path
) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("my thesis\n")
    with pytest.raises(FileError, match=r"thesis\.txt: is not a file of recorded games, and is left as it is"):
        recorder(path)
    assert path.read_text() == "my thesis\n"


def test_no_game_is_added_behind_a_line_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    text = recording_of(random_game(make_game("2048"), 0), "human").to_line()[:-50]
    path.write_text(text)
    with pytest.raises(FileError, match="its last line is cut off"):
        EpisodeRecorder(path)
    assert path.read_text() == text


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, reason in [(tmp_path, "Is a directory"), (tmp_path / "file" / "games.jsonl", "Not a directory")]:
        with pytest.raises(FileError, match=f"cannot be written: {reason}"):
            EpisodeRecorder(path)
    with pytest.raises(FileError, match="/dev/full: cannot be written: a pipe or a device, not a file"):
        evaluate(make_agent("random"), games=50, record=Path("/dev/full"))


def test_two_processes_never_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with EpisodeRecorder(path) as recorder:
        recorder.update(random_game(make_game("2048"), 0, most=5), "human")
        before = path.read_bytes()
        for other in (EpisodeRecorder, GamesRecorder):
            with pytest.raises(FileError, match="another process is recording games there"):
                other(path)
        assert path.read_bytes() == before


@pytest.mark.parametrize("room", [0, 100, 1000, 1700])
def test_a_full_disk_does_not_end_a_game_and_its_file_stays_whole(room: int, tmp_path: Path) -> None:
    """Wherever the disk is full, the file has the game up to some move; afterwards it has all of it."""
    path, episode = tmp_path / "games.jsonl", Episode(make_game("2048"), 3, 0)
    with EpisodeRecorder(path) as recorder:
        for i in range(60):
            episode.move(episode.legal[0])
            try:
                with full_disk(room) if i < 50 else full_disk(1 << 20):
                    recorder.update(episode, "human")
            except FileError as error:
                assert "cannot be written: File too large" in str(error)  # noqa: PT017
            for found in read_games(path):
                assert found.states == recording_of(episode, "human").states[: len(found.states)]
        assert list(read_games(path)) == [recording_of(episode, "human")]


def test_games_that_do_not_fit_wait_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    games = [recording_of(random_game(make_game("2048"), number), "somebody") for number in range(5)]
    with GamesRecorder(path) as recorder:
        for i, game in enumerate(games):
            fill_disk(len(games[0].to_line()) + 50) if i < 3 else free_disk()
            recorder.add(game)
            free_disk()
            assert list(read_games(path)) == games[: i + 1 if i >= 3 else 1]
    assert list(read_games(path)) == games


def test_an_evaluation_whose_games_do_not_fit_still_has_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorders, "PATIENCE", 0.0)
    path, right = tmp_path / "games.jsonl", evaluate("random", games=20, threads=1)
    with (
        full_disk(20_000),
        pytest.raises(FileError, match=r"File too large; the file has the first \d+ games") as error,
    ):
        evaluate("random", games=20, threads=1, record=path)
    assert error.value.partial.scores.tolist() == right.scores.tolist()  # type: ignore[attr-defined]
    kept = [game.score for game in read_games(path)]
    assert kept == right.scores.tolist()[: len(kept)]
    assert f"the first {len(kept)} games" in str(error.value)
    assert 0 < len(kept) < 20
