"""Run folders with damaged files: a reader uses what is whole, and never fails because of the rest."""

import random
import shutil
from pathlib import Path

from tilewright.training.api import Run
from tilewright.training.report import save_curve, write_report
from tilewright.training.run_folder import RunFolder
from tilewright.training.session import open_session
from torture.campaign import Campaign, Case, allow_refusal
from torture.kinds.checkpoints import small_ntuple_configs
from torture.kinds.configs import mutated_toml
from torture.mutation import any_number, any_text, flip_bytes, mutate_text, sometimes

__all__ = ["RunFolders"]

_FILES = ("metrics.csv", "evaluations.csv", "stages.csv", "config.toml", "model.safetensors")


class RunFolders(Campaign):
    """Learning curves, evaluations and configurations, changed cell by cell and byte by byte."""

    name = "run-folders"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.original = folder / "original"
        config = small_ntuple_configs(evaluate_minutes=1e-9, games=60)[1]
        open_session(config, self.original, threads=1).run()

    def make(self, chance: random.Random) -> Case:
        """Make the content of one or two files."""
        changed = {}
        for name in chance.sample(_FILES, chance.choice((1, 1, 2))):
            content = (self.original / name).read_bytes() if (self.original / name).exists() else b"games\n1\n"
            if name == "config.toml":
                content = mutated_toml(chance, content.decode()).encode("utf-8", "replace")
            elif name.endswith(".csv") and sometimes(chance, 0.8):
                content = self._table(chance, content.decode()).encode("utf-8", "surrogateescape")
            else:
                content = flip_bytes(chance, content)
            changed[name] = content
        return {"files": changed, "report": sometimes(chance, 0.05)}

    @staticmethod
    def _table(chance: random.Random, text: str) -> str:
        rows = [line.split(",") for line in text.splitlines()]
        for _ in range(chance.choice((1, 2, 5))):
            row = chance.choice(rows)
            kind = chance.randrange(6)
            if kind < 3:
                row[chance.randrange(len(row))] = str(any_number(chance))[:5000]
            elif kind == 3:
                row[chance.randrange(len(row))] = any_text(chance)
            elif kind == 4:
                row.insert(chance.randrange(len(row)), "1")
            else:
                return mutate_text(chance, text)
        text = "\n".join(map(",".join, rows)) + "\n"
        return text.encode("utf-8", "replace").decode()

    def run(self, case: Case) -> None:
        """Read the folder as a user does, as the web page does, and sometimes write its report."""
        folder = self.folder / "runs" / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.original, folder)
        for name, content in case["files"].items():
            (folder / name).write_bytes(content)
        run = Run(folder)
        for work in (run.curve_dict, lambda: run.config, lambda: run.model, lambda: repr(run), lambda: run.agent):
            allow_refusal(work)
        allow_refusal(lambda: self._library(folder.parent))
        if case["report"]:
            allow_refusal(lambda: save_curve(RunFolder(folder)))
            allow_refusal(lambda: write_report(RunFolder(folder)))

    @staticmethod
    def _library(runs: Path) -> None:
        import json

        from tilewright import make_game
        from tilewright.web.runs import RunLibrary

        library = RunLibrary(runs)
        for name in library.folders():
            json.dumps(library.summary(name)), json.dumps(library.details(name))
        library.agents_for(make_game("2048:rows=3,columns=3"))
