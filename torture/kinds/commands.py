"""Command lines: the exit code is 0 or 2, and no command prints a traceback or touches a file that is not its own."""

import contextlib
import io
import os
import random
import shutil
from pathlib import Path

from tilewright.cli.main import COMMANDS, main
from tilewright.errors import UsageError
from tilewright.training.config import list_presets
from torture.campaign import Campaign, Case, WrongError
from torture.kinds.boards import GAMES, random_tiles
from torture.kinds.configs import tiny_toml, toml_value
from torture.kinds.models import sample_models
from torture.kinds.specs import random_spec
from torture.mutation import any_number, any_text, mutate_text, sometimes
from torture.sandbox import check_inside, root

__all__ = ["Commands"]

_FOREIGN = b"a file of somebody else\n"
_OUTPUTS = (
    "new",
    "foreign.txt",
    "folder",
    "folder/new",
    "no/such/folder/new",
    "x" * 300,
    "foreign.txt/new",
    "new.parquet",
)
_SWITCHES = (
    "--json",
    "--help",
    "--version",
    "--seed",
    "--games",
    "--game",
    "--agent",
    "--show",
    "-x",
    "--",
    "--threads",
)
_CHEAP_AGENTS = ("random", "greedy", "heuristic:depth=1", "minimax:depth=1", "uct:rollouts=8", "montecarlo:rollouts=2")


class Commands(Campaign):
    """Words on the command line, right and wrong ones."""

    name = "commands"
    seconds = 60.0  # a command may need kernels that are not compiled yet
    megabytes = 300.0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.fresh = folder / "fresh"
        (self.fresh / "folder").mkdir(parents=True)
        (self.fresh / "foreign.txt").write_bytes(_FOREIGN)
        (self.fresh / "tiny.toml").write_text(tiny_toml())
        (self.fresh / "broken.toml").write_text('games = "\n')
        (self.fresh / "bytes.toml").write_bytes(b"\xff\xfe")
        sample_models()[0].save(self.fresh / "model.safetensors")
        main(
            [
                "evaluate",
                "random",
                "--game",
                "2048:rows=2,columns=2",
                "--games",
                "2",
                "--record",
                f"{self.fresh}/games.jsonl",
            ]
        )
        self.place = folder / "place"
        check_inside(self.place, root())
        for agent in _CHEAP_AGENTS[self.parts]:
            main(["move", "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2", "--agent", agent])
        main(["review", f"{self.fresh}/games.jsonl", "--agent", "greedy"])

    def make(self, chance: random.Random) -> Case:
        """Make a command line; every path in it is relative to a folder of its own."""
        words = self._words(chance)
        for _ in range(chance.choice((0, 0, 1, 1, 2))):
            words = self._changed(chance, words)
        return {"words": [word.replace("\0", "") for word in words]}

    def _words(self, chance: random.Random) -> list[str]:
        kind = chance.randrange(11)
        game = chance.choice(GAMES) if sometimes(chance, 0.6) else random_spec(chance, ("2048", "threes"))
        agent = chance.choice(_CHEAP_AGENTS[self.parts])
        out = chance.choice(_OUTPUTS)
        if kind < 3:
            return ["move", self._board(chance), "--agent", agent, "--game", game, *chance.choice(([], ["--json"]))]
        if kind == 3:
            option = chance.choice(("--csv", "--record", "--plot"))
            options = ["--games", chance.choice(("1", "3")), "--threads", "1", "--game", "2048:rows=2,columns=2"]
            return ["evaluate", "random", *options, option, out]
        if kind == 4:
            changes = [f"{chance.choice(_KEYS)}={toml_value(chance)}" for _ in range(chance.choice((1, 2)))]
            return [
                "train",
                chance.choice((*list_presets(), "tiny.toml", "broken.toml", "bytes.toml")),
                "--show",
                *_sets(changes),
            ]
        if kind == 5:
            return ["train", "tiny.toml", "--out", out, "--threads", "1"]
        if kind == 6:
            return ["review", chance.choice(("games.jsonl", "foreign.txt", "folder")), "--agent", agent, "--worst", "2"]
        if kind == 7:
            packing = ["--pack", out, "--quantum", str(any_number(chance))[:400]]
            return ["models", chance.choice(("model.safetensors", "foreign.txt", "folder", "package:x")), *packing]
        if kind == 8:
            over = f"{chance.choice(('alpha', 'lambda', *_KEYS))}={toml_value(chance)}"
            return [
                "sweep",
                "tiny.toml",
                over,
                "--evaluate-games",
                "2",
                "--threads",
                "1",
                "--out",
                out,
                *_sets(["games=2"]),
            ]
        if kind == 9:
            return ["reproduce", any_text(chance), "--out", out]
        return [chance.choice(("games", "agents", "models", "bench", "x")), any_text(chance)]

    @staticmethod
    def _board(chance: random.Random) -> str:
        from tilewright import make_game

        tiles = random_tiles(make_game(chance.choice(GAMES)), chance)
        text = " / ".join(" ".join(map(str, row)) for row in tiles)
        return mutate_text(chance, text) if sometimes(chance, 0.3) else text

    @staticmethod
    def _changed(chance: random.Random, words: list[str]) -> list[str]:
        """Change a word; never the numbers that keep a command short."""
        words = list(words)
        i = chance.randrange(len(words))
        bounded = i and (
            words[i - 1] in ("--games", "--evaluate-games", "--threads", "--set", "--out") or words[i] in _SIZES
        )
        kind = chance.randrange(4)
        if kind == 0 and not bounded and i:
            words[i] = mutate_text(chance, words[i])
        elif kind == 1:
            words.insert(chance.randrange(1, len(words) + 1), chance.choice(_SWITCHES))
        elif kind == 2:
            words.append(any_text(chance))
        elif not bounded and i and not words[i].startswith("--"):
            words[i] = any_text(chance)
        return words

    def run(self, case: Case) -> None:
        """Run the command in a fresh folder."""
        words = case["words"]
        if not self._is_safe(words):
            return
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.fresh, self.place)
        os.chdir(self.place)
        out = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace")
        errors = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
                code = main(list(words))
        finally:
            os.chdir(self.folder)
        errors.seek(0)
        said = errors.read()
        if code not in (0, 2):
            raise WrongError(f"exit code {code}: {said[-300:]}")
        complaints = [line for line in said.splitlines() if line.startswith("tilewright: ")]
        if code == 2 and len(complaints) != 1:
            raise WrongError(f"complaints: {said[-300:]!r}")
        if "Traceback" in said:
            raise WrongError(f"traceback: {said[-1000:]}")
        if (self.place / "foreign.txt").read_bytes() != _FOREIGN:
            raise WrongError("lost: a file of somebody else was overwritten")
        if code == 2:
            raise UsageError(complaints[0])

    @staticmethod
    def _is_safe(words: list[str]) -> bool:
        """Tell whether a command line stays inside its folder, and ends soon."""
        if not words or words[0] not in (*COMMANDS, "x"):
            return False
        if words[0] in ("serve", "play", "bench", "demo") or (words[0] == "reproduce" and "--all" in words):
            return "--help" in words
        if any(word.startswith(("/", "~")) or ".." in word for word in words):
            return False
        short = words[0] != "evaluate" or words[2:4] in (["--games", "1"], ["--games", "3"])
        return short and not any(word.startswith("--games") or word == "ray" for word in words[4:])


_SIZES = ("random", "--games", "tiny.toml", "sweep", "train", "evaluate", "--evaluate-games", "--out", "--show")
_KEYS = (
    *("game", "network", "tuples", "symmetric", "alphabet", "features", "stages", "promote", "start_pool", "update"),
    *("lambda", "n_step", "step_size", "decay", "patience", "restart", "optimistic_init", "epsilon", "downgrade_above"),
    *(
        "seed",
        "curve_games",
        "evaluate_minutes",
        "checkpoint_minutes",
        "algorithm",
        "gamma",
        "learning_rate",
        "nothing",
    ),
)


def _sets(changes: list[str]) -> list[str]:
    return [word for change in changes for word in ("--set", change)]
