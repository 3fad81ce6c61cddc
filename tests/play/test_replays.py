"""Replays of 2048verse, written here from recorded games and read back."""

import pytest

from tilewright import make_agent, make_game
from tilewright.errors import UsageError
from tilewright.play.recording import Recording, play_recorded
from tilewright.play.replays import is_replay, read_replay

OLD = [chr(32 + number) for number in range(95)] + list("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒá")
NEW = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NEW += "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ¤¾"


def new_tiles(recording: Recording) -> list[tuple[str, int, int, int]]:
    """The move before each tile, the tile, its row and its column; first the two tiles of the first board."""
    found = []
    first = recording.board(0).tiles
    for row, line in enumerate(first):
        found += [("up", tile, row, column) for column, tile in enumerate(line) if tile]
    for number, move in enumerate(recording.actions):
        after, _ = recording.game.slide(recording.board(number), move)
        for row, line in enumerate(recording.board(number + 1).tiles):
            for column, tile in enumerate(line):
                if tile != after.tiles[row][column]:
                    found.append((move, tile, row, column))
    return found


def old_form(recording: Recording) -> str:
    game = recording.game
    size = "" if (game.rows, game.columns) == (4, 4) else f"{game.rows}x{game.columns}"
    moves = ["up", "right", "down", "left"]
    bits = [
        row + 4 * column + 16 * (tile == 4) + 32 * moves.index(move) for move, tile, row, column in new_tiles(recording)
    ]
    return f"replay {size}" + "".join(OLD[number] for number in bits)


def new_form(recording: Recording) -> str:
    moves = ["up", "down", "left", "right"]
    text = f"{recording.game.rows}x{recording.game.columns}-abc_"
    for move, tile, row, column in new_tiles(recording):
        number = moves.index(move) + 4 * (tile == 4) + 16 * column + 128 * row
        text += NEW[number >> 14] + NEW[number >> 7 & 127] + NEW[number & 127]
    return text


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
        ("replay  !" + OLD[96 + 2], "move 1 of the replay, left, changes nothing"),
        ("replay  !" + OLD[64 + 3], "move 1 of the replay: a 2 cannot come to row 4, column 1"),
        ("3x3-x_" + NEW[0] + NEW[3] + NEW[0], "fewer than two tiles"),
    ):
        with pytest.raises(UsageError, match=reason):
            read_replay(text)
    assert is_replay(good)
    assert not is_replay("2 2 4 0 / 0 0 0 0")
