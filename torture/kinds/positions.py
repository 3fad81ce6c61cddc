"""Files of labelled positions with valid checksums: a training learns from them, or refuses them.

The kernels of this campaign are compiled with bounds checks.
"""

import random
import shutil
from pathlib import Path

import torch

from tilewright.training.config import AnyConfig
from tilewright.training.session import open_session
from torture.campaign import Campaign, Case
from torture.kinds.checkpoints import DATA_FILE, small_deep_configs
from torture.kinds.models import CHECKED
from torture.mutation import sometimes
from torture.tensor_files import mutated_file

__all__ = ["PositionFiles"]

_STEPS = 200
_POSITIONS = 150  # so that a training reads the file more than once


class PositionFiles(Campaign):
    """Positions of two games, with the moves of a teacher and with its values."""

    name = "positions"
    seconds = 60.0  # a changed file may need kernels that are not compiled yet
    megabytes = 300.0
    environment = CHECKED

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        torch.set_num_threads(1)
        self.file = folder / DATA_FILE
        (values,) = (config for config in small_deep_configs(folder) if getattr(config, "data", ""))
        values = values.replace(total_steps=_STEPS, data_positions=_POSITIONS)
        moves = values.replace(labels="moves", teacher="greedy", mask=True)
        threes = moves.replace(game="threes:rows=3,columns=3,start_tiles=4")
        self.configs = [values, moves, threes][self.parts]
        self.contents = [self._written(config) for config in self.configs]

    def _written(self, config: AnyConfig) -> bytes:
        """Return the file that a training writes."""
        self.file.unlink(missing_ok=True)
        self._train(config)
        return self.file.read_bytes()

    def make(self, chance: random.Random) -> Case:
        """Make a file, and the training that reads it: mostly the one that wrote it."""
        which = chance.randrange(len(self.configs))
        content = mutated_file(chance, self.contents[which])
        return {"file": content, "config": which if sometimes(chance, 0.95) else chance.randrange(len(self.configs))}

    def run(self, case: Case) -> None:
        """Train with the file."""
        self.file.write_bytes(case["file"])
        self._train(self.configs[case["config"]])

    def _train(self, config: AnyConfig) -> None:
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        open_session(config, self.folder / "run", threads=1).run()
