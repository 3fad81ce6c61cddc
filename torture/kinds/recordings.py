"""Files of recorded games: what is read writes back line by line; what was changed is refused with its line."""

import json
import random
from pathlib import Path

from tilewright import evaluate, make_agent, review
from tilewright.play.recording import Recording, read_games
from torture.campaign import Campaign, Case, WrongError
from torture.kinds.boards import GAMES
from torture.mutation import any_text, flip_bytes, mutate_text, mutate_tree, sometimes
from torture.sandbox import memory_folder

__all__ = ["Recordings"]

_GAMES = tuple(spec for spec in GAMES if "rows" in spec or "columns" in spec)
_WORDS = ('"moves": [', "]", "[", "null", "{", "}", '"left"', "1e999", "-1", '"score"', "true", "\\u0000", "NaN")


class Recordings(Campaign):
    """Recorded games of small boards, changed as JSON, as text and as bytes."""

    name = "recordings"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.place = memory_folder(folder)
        self.file = self.place / "games.jsonl"
        self.lines: list[bytes] = []
        for spec in _GAMES:
            evaluate("random", spec, games=3, seed=1, threads=1, record=folder / "made.jsonl")
            self.lines += (folder / "made.jsonl").read_bytes().splitlines(keepends=True)
        self.lines = sorted(self.lines, key=len)[:30]
        self.greedy = make_agent("greedy")

    def make(self, chance: random.Random) -> Case:
        """Make a file of one to three lines, of which one is changed."""
        lines = [chance.choice(self.lines) for _ in range(chance.choice((1, 1, 2, 3)))]
        i = chance.randrange(len(lines))
        kind = chance.randrange(10)
        if kind < 6:
            tree = json.loads(lines[i])
            for _ in range(chance.choice((1, 1, 2))):
                tree = mutate_tree(chance, tree)
            lines[i] = json.dumps(tree).encode("utf-8", "replace") + b"\n"
        elif kind < 8:
            text = mutate_text(chance, lines[i].decode(), _WORDS)
            lines[i] = text.encode("utf-8", "surrogatepass")
        elif kind == 8:
            lines[i] = flip_bytes(chance, lines[i])
        else:
            tree = json.loads(lines[i])
            tree["moves"] = tree["moves"][: chance.randint(0, len(tree["moves"]))]
            tree[chance.choice(("game", "agent"))] = any_text(chance)
            lines[i] = json.dumps(tree).encode() + b"\n"
        return {"lines": b"".join(lines), "review": sometimes(chance, 0.2)}

    def run(self, case: Case) -> None:
        """Read all games; what was read reads back the same, and can be reviewed."""
        self.file.write_bytes(case["lines"])
        games: list[Recording] = list(read_games(self.file))
        for game in games:
            (self.place / "back.jsonl").write_text(game.to_line() + "\n")
            (back,) = read_games(self.place / "back.jsonl")
            if back != game:
                raise WrongError("round trip: the game reads back as another one")
            repr(game)
            if case["review"] and game.actions:
                review(game, self.greedy)
