"""Recorded games as texts of replays of 2048verse, written from the description of the two forms."""

from tilewright.play.recording import Recording

__all__ = ["NEW_LETTERS", "OLD_LETTERS", "new_form", "old_form"]

OLD_LETTERS = "".join(chr(32 + number) for number in range(95)) + "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒá"
NEW_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NEW_LETTERS += "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ¤¾"
_OLD_MOVES = ("up", "right", "down", "left")
_NEW_MOVES = ("up", "down", "left", "right")


def _new_tiles(recording: Recording) -> list[tuple[str, int, int, int]]:
    """Return the move before each tile, the tile, its row and its column; first the two tiles of the first board."""
    found = []
    for row, line in enumerate(recording.board(0).tiles):
        found += [("up", tile, row, column) for column, tile in enumerate(line) if tile]
    for number, move in enumerate(recording.actions):
        after, _ = recording.game.slide(recording.board(number), move)
        for row, line in enumerate(recording.board(number + 1).tiles):
            for column, tile in enumerate(line):
                if tile != after.tiles[row][column]:
                    found.append((move, tile, row, column))
    return found


def old_form(recording: Recording) -> str:
    """Return the older form of the replay of a game."""
    game = recording.game
    size = "" if (game.rows, game.columns) == (4, 4) else f"{game.rows}x{game.columns}"
    bits = [
        row + 4 * column + 16 * (tile == 4) + 32 * _OLD_MOVES.index(move)
        for move, tile, row, column in _new_tiles(recording)
    ]
    return f"replay {size}" + "".join(OLD_LETTERS[number] for number in bits)


def new_form(recording: Recording) -> str:
    """Return the newer form of the replay of a game."""
    text = f"{recording.game.rows}x{recording.game.columns}-abc_"
    for move, tile, row, column in _new_tiles(recording):
        number = _NEW_MOVES.index(move) + 4 * (tile == 4) + 16 * column + 128 * row
        text += NEW_LETTERS[number >> 14] + NEW_LETTERS[number >> 7 & 127] + NEW_LETTERS[number & 127]
    return text
