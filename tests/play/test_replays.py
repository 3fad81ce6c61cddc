"""Replays of 2048verse, written here from recorded games and read back."""

import pytest

from tilewright import make_agent, make_game
from tilewright.errors import UsageError
from tilewright.play.recording import play_recorded
from tilewright.play.replays import is_replay, read_replay
from torture.replay_texts import NEW_LETTERS, OLD_LETTERS, new_form, old_form


@pytest.mark.parametrize("spec", ["2048", "2048:rows=3,columns=3", "2048:rows=2", "2048:rows=3"])
def test_a_game_is_read_back(spec: str) -> None:
    recording = play_recorded(make_agent("greedy").player(make_game(spec)), 4, 0)
    for write in (old_form, new_form):
        found = read_replay(write(recording) + "\n")
        assert found.game == recording.game
        assert (found.states, found.actions, found.scores) == (recording.states, recording.actions, recording.scores)


def test_what_is_not_possible_is_refused() -> None:
    recording = play_recorded(make_agent("greedy").player(make_game("2048")), 4, 0)
    good = old_form(recording)
    for text, reason in (
        ("1120000000000001", "is not a replay"),
        ("replay ", "fewer than two tiles"),
        ("replay  \x07", "character 2 of the replay"),
        ("replay   ", "a 2 cannot come to row 1, column 1"),
        ("replay  !" + OLD_LETTERS[96 + 2], "move 1 of the replay, left, changes nothing"),
        ("replay  !" + OLD_LETTERS[64 + 3], "move 1 of the replay: a 2 cannot come to row 4, column 1"),
        ("3x3-x_" + NEW_LETTERS[0] + NEW_LETTERS[3] + NEW_LETTERS[0], "fewer than two tiles"),
    ):
        with pytest.raises(UsageError, match=reason):
            read_replay(text)
    assert is_replay(good)
    assert not is_replay("2 2 4 0 / 0 0 0 0")
