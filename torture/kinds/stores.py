"""Stores of suites: SQLite files with rows, columns and bytes of all kinds."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tilewright import TrainingConfig, sweep
from tilewright.reproduce.runner import load_results
from tilewright.reproduce.store import Store
from torture.campaign import Campaign, Case, allow_refusal
from torture.kinds.checkpoints import small_ntuple_configs
from torture.mutation import any_number, any_text, flip_bytes, mutate_text, mutate_tree, sometimes

__all__ = ["Stores"]

_TABLES = {
    "jobs": ("key", "kind", "description", "result", "machine", "version", "date"),
    "run_folders": ("key", "name"),
    "trials": ("experiment", "scale", "row", "seed", "config", "keys", "agent", "game", "training", "evaluations"),
}


class Stores(Campaign):
    """The results of a small sweep, changed as SQL and as bytes."""

    name = "stores"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.original = folder / "original"
        self.config: TrainingConfig = small_ntuple_configs(games=20)[0]
        self.options: dict[str, Any] = {"over": {"alpha": [0.25, 0.5]}, "evaluate_games": 3, "threads": 1}
        sweep(self.config, out=self.original, **self.options)
        self.content = (self.original / "results.sqlite").read_bytes()

    def make(self, chance: random.Random) -> Case:
        """Make statements that change the file, or bytes of the file itself."""
        again = sometimes(chance, 0.1)
        if sometimes(chance, 0.3):
            return {"bytes": flip_bytes(chance, self.content), "statements": [], "again": again}
        return {
            "bytes": None,
            "statements": [self._statement(chance) for _ in range(chance.choice((1, 1, 2)))],
            "again": again,
        }

    def _statement(self, chance: random.Random) -> list[Any]:
        table = chance.choice(list(_TABLES))
        column = chance.choice(_TABLES[table])
        kind = chance.randrange(10)
        if kind == 0:
            return [f"DROP TABLE {table}", []]
        if kind == 1:
            return [f"ALTER TABLE {table} RENAME COLUMN {column} TO other", []]
        if kind == 2:
            return [f"DELETE FROM {table} WHERE rowid = 1", []]  # noqa: S608
        where = f" WHERE rowid = {chance.randint(1, 2)}"
        return [f"UPDATE {table} SET {column} = ?{where}", [self._value(chance, table, column)]]  # noqa: S608

    def _value(self, chance: random.Random, table: str, column: str) -> Any:
        """Return a value for a cell: near what is there, or of another type."""
        with closing(sqlite3.connect(self.original / "results.sqlite")) as connection:
            (found,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()  # noqa: S608
        if isinstance(found, str) and found[:1] in ("{", "[") and sometimes(chance, 0.7):
            import json

            return json.dumps(mutate_tree(chance, json.loads(found)))
        if isinstance(found, str) and sometimes(chance, 0.4):
            return mutate_text(chance, found)
        value = chance.choice((any_text(chance), any_number(chance), b"\0\xff"))
        if isinstance(value, str):
            return value.encode("utf-8", "replace").decode()
        return value if isinstance(value, bytes | float) or abs(value) < 2**63 else float(min(value, 10**300))

    def run(self, case: Case) -> None:
        """Read the results in all ways; sometimes run the sweep again, which uses what is there."""
        folder = self.folder / "store"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.original, folder) if case["again"] else folder.mkdir()
        (folder / "results.sqlite").write_bytes(self.content if case["bytes"] is None else case["bytes"])
        if case["statements"]:
            with closing(sqlite3.connect(folder / "results.sqlite")) as connection:
                for statement, values in case["statements"]:
                    try:
                        connection.execute(statement, values)
                    except (sqlite3.Error, UnicodeEncodeError):
                        continue
                connection.commit()
        if case["again"]:
            sweep(self.config, out=folder, **self.options)
            return
        store = Store(folder)
        allow_refusal(lambda: [store.find(job.key) for job in store.jobs()])
        allow_refusal(store.trials)
        result = load_results(folder)
        result.to_dict(), repr(result)
