"""Files of deep models with valid checksums: what loads plays with finite values, and guides searches."""

import math
import random
from functools import partial
from pathlib import Path

import torch

from tilewright import make_agent, make_game
from tilewright.deep.model import DeepModel, load_deep_model
from tilewright.deep.network import NetworkConfig, make_network
from tilewright.games.board import Board
from torture.campaign import Campaign, Case, WrongError, allow_refusal
from torture.kinds.boards import random_tiles
from torture.kinds.models import is_board
from torture.tensor_files import mutated_file

__all__ = ["DeepModels"]

_NETWORKS = (
    ("2048:rows=2,columns=2", "dqn", "small", "onehot", True),
    ("2048:rows=3,columns=3", "dqn", "small", "grid", False),
    ("2048:rows=2,columns=2", "afterstate", "small", "onehot", True),
    ("threes:rows=3,columns=3,start_tiles=3", "dqn", "small", "onehot", True),
    ("2048:rows=2,columns=2", "policy", "small", "onehot", False),
    ("threes:rows=3,columns=3,start_tiles=3", "policy", "small", "grid", False),
)
_SEARCHES = ("uct:rollouts=8,prior={}", "afterstate:depth=2,model={}")  # each refuses the models of others


class DeepModels(Campaign):
    """Model files of deep networks."""

    name = "deep-models"
    seconds = 60.0  # a changed model may need kernels that are not compiled yet
    megabytes = 300.0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        torch.set_num_threads(1)
        self.file = folder / "model.safetensors"
        self.contents = []
        for game, algorithm, architecture, encoding, dueling in _NETWORKS:
            config = NetworkConfig(make_game(game), algorithm, architecture, encoding, dueling)
            DeepModel(make_network(config, 1).eval()).save(self.file)
            self.contents.append((game, self.file.read_bytes()))
            board = [list(row) for row in make_game(game).start(seed=1).tiles]
            self.run({"file": self.contents[-1][1], "board": board})  # which compiles the kernels

    def make(self, chance: random.Random) -> Case:
        """Make a file, and a board."""
        game, content = chance.choice(self.contents)
        return {"file": mutated_file(chance, content), "board": random_tiles(make_game(game), chance)}

    def run(self, case: Case) -> None:
        """Load the model, and ask it and the searches that it may guide for the values of a board."""
        self.file.write_bytes(case["file"])
        model = load_deep_model(self.file)
        game, tiles = model.config.game, case["board"]
        if (game.rows, game.columns) != (len(tiles), len(tiles[0])) or not is_board(game, tiles):
            return
        board = game.parse(tiles)
        for spec in (f"{model.config.algorithm}:model={{}}", *_SEARCHES):
            values = allow_refusal(partial(self._values, spec, board)) or {}
            if not all(map(math.isfinite, values.values())):
                raise WrongError(f"values: {values} of {spec}")

    def _values(self, spec: str, board: Board) -> dict[str, float]:
        return make_agent(spec.format(self.file)).values(board)
