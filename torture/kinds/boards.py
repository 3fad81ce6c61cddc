"""Boards in every notation: what is read must write back, move by the rules, and have outcomes that add up to one."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.rng import stream_for
from torture.campaign import Campaign, Case, WrongError, allow_refusal
from torture.mutation import any_value, mutate_text, mutate_tree, sometimes

__all__ = ["GAMES", "Boards", "random_tiles"]

GAMES = (
    *("2048", "2048:rows=3,columns=3", "2048:rows=2,columns=2", "2048:rows=2,columns=4", "2048:rows=4,columns=2"),
    *("2048:cascade=true,four=0.5", "2048:rows=3", "2048:columns=3,start_tiles=1"),
    *("threes", "threes:rows=3,columns=3,start_tiles=4", "threes:rows=2,columns=2,start_tiles=2"),
    *("threes:rows=2,start_tiles=3", "threes:columns=2,start_tiles=3", "threes:max_tile=6144"),
)
_WORDS = (
    "/",
    ",",
    ".",
    "0",
    "2",
    "131072",
    "262144",
    "12288",
    "hint=",
    "hint=+",
    "hint=+24",
    "hint=2",
    "bag=143",
    "entry=0f",
)
_DTYPES = ("int64", "uint8", "int8", "float64", "object", "bool", "str", "complex128", "datetime64[s]")


def random_tiles(game: Game, chance: random.Random) -> list[list[int]]:
    """Return tiles of a few kinds, so that many merge, on a board that is often crowded."""
    tiles = [tile for tile in game.tile_values[1:] if tile <= getattr(game, "max_tile", tile)]
    kinds = chance.sample(tiles, chance.randint(1, 4)) + ([tiles[-1]] if sometimes(chance, 0.1) else [])
    filled = chance.choice((0.1, 0.5, 0.9, 1.0))
    return [
        [chance.choice(kinds) if sometimes(chance, filled) else 0 for _ in range(game.columns)]
        for _ in range(game.rows)
    ]


def random_notes(game: Game, chance: random.Random, tiles: list[list[int]]) -> dict[str, str]:
    """Return notes for a board of a game with hints; not all of them are possible."""
    if not game.has_hints:
        return {}
    notes = {}
    if sometimes(chance, 0.6):
        notes["hint"] = chance.choice(("1", "2", "3", "+", "+6", "+24", "+768", "+1536"))
    if sometimes(chance, 0.6):
        notes["bag"] = "".join(chance.choice("01234") for _ in range(3))
    if sometimes(chance, 0.4):
        free = [4 * i + k for i, row in enumerate(tiles) for k, tile in enumerate(row) if not tile]
        chosen = chance.sample(free, chance.randint(0, len(free)))
        notes["entry"] = "".join(f"{cell:x}" for cell in sorted(chosen))
    return notes


class Boards(Campaign):
    """Text and objects that may be boards."""

    name = "boards"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.games = {spec: make_game(spec) for spec in GAMES}
        for game in self.games.values():
            check_board(game, game.start(seed=1))  # which compiles the kernels

    def make(self, chance: random.Random) -> Case:
        """Make a board in some notation, with up to three changes."""
        spec = chance.choice(GAMES)
        game = self.games[spec]
        tiles = random_tiles(game, chance)
        notes = random_notes(game, chance, tiles)
        words = " ".join(f"{name}={text}" for name, text in notes.items())
        form = chance.choice(("numbers", "hexadecimal", "link", "json", "object", "array"))
        changes = chance.choice((0, 1, 1, 2, 3))
        if form in ("object", "array"):
            tree: Any = {"board": tiles, **notes} if sometimes(chance, 0.5) or notes else tiles
            for _ in range(changes):
                tree = mutate_tree(chance, tree)
            return {"game": spec, "board": tree, "dtype": chance.choice(_DTYPES) if form == "array" else ""}
        if form == "json":
            tree = {"board": tiles, **notes}
            text = json.dumps(mutate_tree(chance, tree) if changes else tree)
            changes -= 1
        elif form == "numbers":
            text = " / ".join(" ".join(map(str, row)) for row in tiles) + (f" {words}" if words else "")
        else:
            codes = [game.tile_values.index(tile) for row in tiles for tile in row]
            text = "".join(f"{min(code, 15):x}" for code in codes)
            text = f"https://2048verse.com/p/{text}" if form == "link" else text
            text += f" {words}" if words else ""
        for _ in range(changes):
            text = mutate_text(chance, text, _WORDS)
        if sometimes(chance, 0.01):
            text = any_value(chance)
        return {"game": spec, "board": text, "dtype": ""}

    def run(self, case: Case) -> None:
        """Read the board, and do with it whatever the game offers."""
        game, source = self.games[case["game"]], case["board"]
        if case["dtype"]:
            try:
                source = np.array(source, dtype=case["dtype"])
            except (ValueError, TypeError, OverflowError):
                source = np.array(source, dtype=object)
        board = game.parse(source)
        check_board(game, board)


def check_board(game: Game, board: Board) -> None:
    """Raise WrongError unless a board that was read writes back, moves, and has outcomes that add up to one."""
    text = game.text(board)
    if game.parse(text) != board or game.parse(board.to_json()) != board or game.parse(repr(text)[1:-1]) != board:
        raise WrongError(f"round trip: {text!r} reads back as another board")
    str(board), repr(board), board._repr_html_(), game.board_score(board), game.largest(board), game.tile_sum(board)
    if not any(found == board for found in game.symmetries(board)):
        raise WrongError(f"symmetries: {text!r} is not among them")
    check_outcomes(game, board)
    position = allow_refusal(lambda: game.parse_position(board))
    if position is None:
        return
    for action in game.legal(position):
        after, reward = game.slide(position, action)
        if reward < 0:
            raise WrongError(f"reward: {action} on {text!r} has the reward {reward}")
        if check_outcomes(game, after) == 0:
            raise WrongError(f"outcomes: none after {action} on {text!r}")


def check_outcomes(game: Game, after: Board) -> int:
    """Check the outcomes of an afterstate, and return their number; 0 for a board that is none."""
    found = allow_refusal(lambda: game.outcomes(after))
    if not found:
        return 0
    if not math.isclose(sum(probability for _, probability in found), 1.0, abs_tol=1e-9):
        raise WrongError(f"probabilities: those of {game.text(after)!r} do not add up to one")
    tiles = sum(tile > 0 for row in after.tiles for tile in row)
    for board, _ in found[:3] + found[-3:]:
        if sum(tile > 0 for row in board.tiles for tile in row) != tiles + 1:
            raise WrongError(f"outcomes: {game.text(board)!r} has not one tile more than {game.text(after)!r}")
        if game.parse(game.text(board)) != board:
            raise WrongError(f"outcomes: {game.text(board)!r} does not read back")
    game.spawn(after, stream_for(1))
    return len(found)
