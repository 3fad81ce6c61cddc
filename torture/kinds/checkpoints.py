"""Checkpoints with valid checksums: a session goes on from them, or refuses them."""

import random
import shutil
from pathlib import Path
from typing import Any, ClassVar

from tilewright.training.config import AnyConfig, TrainingConfig
from tilewright.training.session import open_session
from torture.campaign import Campaign, Case
from torture.kinds.models import CHECKED, sample_models
from torture.mutation import sometimes
from torture.tensor_files import mutated_file

__all__ = ["DATA_FILE", "TAUGHT_GAME", "Checkpoints", "DeepCheckpoints", "small_deep_configs", "small_ntuple_configs"]

TAUGHT_GAME = "2048:rows=3,columns=3"
DATA_FILE = "positions.safetensors"


def small_ntuple_configs(**changes: Any) -> list[TrainingConfig]:
    """Return configurations of n-tuple trainings that take a moment, one of every kind of learning."""
    common: dict[str, Any] = {
        "game": "2048:rows=3,columns=3,win_tile=64",
        "tuples": ("012", "456"),
        "games": 60,
        "seed": 5,
        "curve_games": 20,
        "evaluate_games": 2,
        "evaluate_minutes": 0,
    }
    kinds: list[dict[str, Any]] = [
        {"lambda_": 0.5},
        {"stages": ("16", "16+8"), "start_pool": 10, "averaging": 0.5},
        {"stages": ("16", "16+8"), "promote": True, "stages_from": 0.3, "averaging": 0.5},
        {"update": "online", "step_size": "fixed", "alpha": 0.1, "value_function": "action", "epsilon": 0.1},
    ]
    return [TrainingConfig(**(common | kind | changes)) for kind in kinds]


def small_deep_configs(folder: Path, **changes: Any) -> list[AnyConfig]:
    """Return configurations of deep trainings that take a moment, one of every kind of learning.

    Args:
        folder: A folder for the model of a teacher, and for a file of labelled positions.
        changes: Other values of some keys.
    """
    from tilewright.deep.config import DeepConfig

    common: dict[str, Any] = {
        "game": "2048:rows=2,columns=2",
        "architecture": "small",
        "buffer_size": 200,
        "learning_starts": 50,
        "train_freq": 8,
        "batch_size": 16,
        "n_envs": 4,
        "target_update_interval": 100,
        "total_steps": 200,
        "curve_games": 5,
        "evaluate_games": 2,
        "evaluate_minutes": 0,
    }
    taught = {"algorithm": "supervised", "game": TAUGHT_GAME}
    values = taught | {"labels": "values", "teacher": f"ntuple:model={_save_teacher(folder)}"}
    kinds: list[dict[str, Any]] = [
        {"mask": True, "n_step": 2},
        {"prioritized_replay": False, "penalty": 1.0, "end_probability": 0.1},
        {"algorithm": "afterstate", "exploration_initial_eps": 0.1},
        taught | {"teacher": "greedy", "mask": True, "symmetry": True, "goal_tile": 32},
        values | {"teacher_fraction": 0.5, "temperature": 5.0, "loss": "huber", "symmetry": True},
        values | {"data": str(folder / DATA_FILE), "data_positions": 300},
        {"algorithm": "policy-gradient", "n_step": 4, "ent_coef": 0.01, "symmetry": True},
    ]
    return [DeepConfig(**(common | kind | changes)) for kind in kinds]


def _save_teacher(folder: Path) -> Path:
    """Write the model of a teacher with values to a folder."""
    file = folder / "teacher.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    sample_models()[0].save(file)
    return file


class Checkpoints(Campaign):
    """Checkpoints of n-tuple trainings; the kernels have bounds checks."""

    name = "checkpoints"
    seconds = 60.0  # a changed checkpoint may need kernels that are not compiled yet
    megabytes = 150.0
    environment: ClassVar[dict[str, str]] = CHECKED
    budget: ClassVar[str] = "games"
    more: ClassVar[int] = 25

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.configs = self._configs()[self.parts]
        self.runs = []
        for number, config in enumerate(self.configs):
            run = folder / f"run-{number}"
            open_session(config, run, threads=1).run()
            self.runs.append(run)
        for which in range(len(self.runs)):
            self._resume(which, (self.runs[which] / "checkpoint.safetensors").read_bytes(), more=True)

    def _configs(self) -> list[Any]:
        return list(small_ntuple_configs())

    def make(self, chance: random.Random) -> Case:
        """Make a checkpoint of one of the runs."""
        which = chance.randrange(len(self.runs))
        content = (self.runs[which] / "checkpoint.safetensors").read_bytes()
        return {"run": which, "checkpoint": mutated_file(chance, content), "more": sometimes(chance, 0.7)}

    def run(self, case: Case) -> None:
        """Resume the run from the checkpoint, mostly with a larger budget."""
        self._resume(case["run"], case["checkpoint"], more=case["more"])

    def _resume(self, which: int, checkpoint: bytes, *, more: bool) -> None:
        config, run = self.configs[which], self.folder / "resumed"
        shutil.rmtree(run, ignore_errors=True)
        run.mkdir()
        for name in ("config.toml", "metrics.csv", "stages.csv"):
            if (self.runs[which] / name).exists():
                shutil.copy(self.runs[which] / name, run)
        (run / "checkpoint.safetensors").write_bytes(checkpoint)
        if more:
            config = config.replace(**{self.budget: getattr(config, self.budget) + self.more})
        open_session(config, run, resume=True, threads=1).run()


class DeepCheckpoints(Checkpoints):
    """Checkpoints of deep trainings."""

    name = "deep-checkpoints"
    megabytes = 300.0
    environment: ClassVar[dict[str, str]] = {}
    budget: ClassVar[str] = "total_steps"
    more: ClassVar[int] = 16

    def _configs(self) -> list[Any]:
        import torch

        torch.set_num_threads(1)
        return list(small_deep_configs(self.folder))
