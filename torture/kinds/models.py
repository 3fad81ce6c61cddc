"""Files of n-tuple models, plain and compact, with valid checksums: no file may make a kernel read outside its weights.

The kernels of this campaign are compiled with bounds checks.
"""

import math
import os
import random
from pathlib import Path

import numpy as np

from tilewright import make_agent, make_game
from tilewright.games.base import Game
from tilewright.ntuple.model import VALUE_FUNCTIONS, Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture
from torture.campaign import Campaign, Case, WrongError
from torture.kinds.boards import random_tiles
from torture.mutation import sometimes
from torture.tensor_files import mutated_file, read_parts

__all__ = ["CHECKED", "Models", "is_board", "sample_models"]

# Kernels with bounds checks are other kernels, and are kept in another cache.
CHECKED = {"NUMBA_BOUNDSCHECK": "1", "TILEWRIGHT_CACHE": os.environ.get("TORTURE_CHECKED_CACHE", "kernels-checked")}
_SMALL = "2048:rows=3,columns=3"
_SHAPES: tuple[tuple[str, NTupleArchitecture, str], ...] = (
    (_SMALL, NTupleArchitecture(("012", "456")), "afterstate"),
    (_SMALL, NTupleArchitecture(("012", "456"), stages=("16", "16+8"), promote=True), "afterstate"),
    (_SMALL, NTupleArchitecture(("0145",), features=("empty_cells", "large_tiles"), stages=("16",)), "state"),
    (_SMALL, NTupleArchitecture(("012",), symmetric=False), "action"),
    ("threes:rows=3,columns=3", NTupleArchitecture(("012", "45"), by_hint=True), "afterstate"),
)


def sample_models() -> list[Model]:
    """Return small models of every kind, with weights at random."""
    models = []
    for number, (spec, shape, value_function) in enumerate(_SHAPES):
        size = VALUE_FUNCTIONS[value_function] * shape.table_size
        weights = np.random.default_rng(number).uniform(-5, 50, size).astype(np.float32)
        if shape.promoted_from is not None:
            unwritten = np.random.default_rng(9).random(size - shape.promoted_from) < 0.7
            weights[shape.promoted_from :][unwritten] = -1e38
        models.append(Model(make_game(spec), shape, value_function, weights, origin={"games": "10"}))
    return models


class Models(Campaign):
    """Model files."""

    name = "models"
    seconds = 60.0  # a changed model may need kernels that are not compiled yet
    megabytes = 150.0
    environment = CHECKED

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.file = folder / "model.safetensors"
        self.contents: list[tuple[bytes, bool]] = []
        chance = random.Random(1)
        for model in sample_models()[self.parts]:
            for compact in (False, True):
                model.save(self.file, compact=compact)
                self.contents.append((self.file.read_bytes(), compact))
                self.run({"file": self.contents[-1][0], "boards": [random_tiles(model.game, chance)], "pack": compact})

    def make(self, chance: random.Random) -> Case:
        """Make a file, and boards of every size to look up in it."""
        content, compact = chance.choice(self.contents)
        game = make_game(read_parts(content)[0]["game"])
        boards = [random_tiles(game, chance) for _ in range(3)]
        return {
            "file": mutated_file(chance, content, compressed=compact),
            "boards": boards,
            "pack": sometimes(chance, 0.1),
        }

    def run(self, case: Case) -> None:
        """Load the model, and play with it, in 16 bits and in 32."""
        self.file.write_bytes(case["file"])
        model = load_model(self.file)
        if (model.game.rows, model.game.columns) != (len(case["boards"][0]), len(case["boards"][0][0])):
            return
        for agent in (make_agent(f"ntuple:model={self.file}"), make_agent("ntuple", model=model)):
            for tiles in case["boards"]:
                values = agent.values(model.game.parse(tiles)) if is_board(model.game, tiles) else {}
                if not all(map(math.isfinite, values.values())):
                    raise WrongError(f"values: {values} of {agent.spec}")
        if case["pack"]:
            model.save(self.folder / "packed.safetensors", compact=True)
            load_model(self.folder / "packed.safetensors")


def is_board(game: Game, tiles: list[list[int]]) -> bool:
    """Tell whether tiles that were made for another game are a board of this one, with at least one tile."""
    found = {tile for row in tiles for tile in row}
    return found != {0} and found <= set(game.tile_values) and max(found) <= getattr(game, "max_tile", max(found))
