"""Tables of exact values with valid checksums: no file may make a look-up read outside its arrays.

The kernels of this campaign are compiled with bounds checks.
"""

import math
import random
from functools import partial
from pathlib import Path

import numpy as np

from tilewright import make_agent, make_game
from tilewright.exact.distil import keep_most_visited, make_counts
from tilewright.exact.lookup_time import time_lookups
from tilewright.exact.practice import practice_positions
from tilewright.exact.solve import solve
from tilewright.exact.table import load_table
from torture.campaign import Campaign, Case, WrongError, allow_refusal
from torture.kinds.boards import random_tiles
from torture.kinds.models import CHECKED, is_board
from torture.tensor_files import mutated_file

__all__ = ["Tables"]

_GAMES = ("2048:rows=2,columns=2", "2048:rows=2,columns=3")
_ENDGAME = "endgame:07ff-64"


class Tables(Campaign):
    """Table files: of scores, of the probability of a tile, and distilled ones."""

    name = "tables"
    seconds = 60.0  # a changed table may need kernels that are not compiled yet
    megabytes = 150.0
    environment = CHECKED

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.file = folder / "exact.table"
        self.contents: list[tuple[str, bytes]] = []
        for game in _GAMES[self.parts]:
            for goal in (None, 32):
                solved = solve(game, goal=goal, out=folder / f"{len(self.contents)}.table", threads=1)
                self.contents.append((game, Path(str(solved.path)).read_bytes()))
                self.run({"file": self.contents[-1][1], "boards": [make_game(game).start(seed=1).to_json()["board"]]})
        whole = solve(_ENDGAME, threads=1)
        counts = make_counts(whole) + np.uint32(1)
        small = keep_most_visited(whole, counts, len(counts) // 2).save(folder / "distilled.table")
        self.contents.append(("2048", Path(str(small.path)).read_bytes()))
        self.run({"file": self.contents[-1][1], "boards": [make_game("2048").start(seed=1).to_json()["board"]]})

    def make(self, chance: random.Random) -> Case:
        """Make a file, and boards to look up in it."""
        game, content = chance.choice(self.contents)
        boards = [random_tiles(make_game(game), chance) for _ in range(3)]
        boards.append([list(row) for row in make_game(game).start(seed=chance.randrange(1000)).tiles])
        return {"file": mutated_file(chance, content, compressed=game == "2048"), "boards": boards}

    def run(self, case: Case) -> None:
        """Load the table, look boards up, and play by it."""
        self.file.write_bytes(case["file"])
        table = load_table(self.file)
        repr(table), table.to_dict()
        time_lookups(table, 10)
        for board in practice_positions(table, 1, loss=(0.0, math.inf)):
            table.values(board)
        if (table.game.rows, table.game.columns) != (len(case["boards"][0]), len(case["boards"][0][0])):
            return
        agent = make_agent(f"exact:table={self.file}")
        for tiles in case["boards"]:
            if is_board(table.game, tiles):
                values = allow_refusal(partial(agent.values, table.game.parse(tiles))) or {}
                if any(map(math.isnan, values.values())):
                    raise WrongError(f"values: {values}")
