"""Configurations of n-tuple and deep trainings as TOML: what is accepted writes TOML that reads back the same."""

import json
import random
from pathlib import Path

from tilewright.training.config import list_presets, read_config
from torture.campaign import Campaign, Case, WrongError
from torture.mutation import NUMBER_TEXTS, any_number, any_text, mutate_text, sometimes
from torture.sandbox import memory_folder

__all__ = ["Configs", "mutated_toml", "tiny_toml"]

_WORDS = (
    "=",
    "[",
    "]",
    "[[x]]",
    '"',
    "'''",
    "\n",
    "nan",
    "inf",
    "-inf",
    "true",
    "1e400",
    "0x7f",
    "1979-05-27",
    "#",
    "{a=1}",
)
_GOOD = (
    *("0", "1", "2", "5", "0.5", "1.0", "true", "false", '"tc"', '"fixed"', '"online"', '"backward"', '"afterstate"'),
    *(
        '"state"',
        '"action"',
        '"dqn"',
        '"4x6"',
        '["012", "456"]',
        '["16", "16+8"]',
        '["empty_cells"]',
        '"threes"',
        '"2048:rows=3"',
    ),
    *('"small"', '"cnn_5l"', '"onehot"', '"grid"', '"huber"', "[]", '[""]', "15", "16", "100", "32768"),
)


def tiny_toml() -> str:
    """Return a configuration that trains in a moment."""
    changes: dict[str, object] = {
        "game": "2048:rows=3,columns=3,win_tile=64",
        "network": "",
        "tuples": ("012", "456"),
        "games": 20,
        "minutes": 0.0,
        "curve_games": 10,
        "evaluate_games": 2,
        "evaluate_minutes": 0.0,
    }
    return read_config("minute", **changes).to_toml()


def toml_value(chance: random.Random) -> str:
    """Return the text of some TOML value; not all are TOML."""
    kind = chance.randrange(5)
    if kind == 0:
        return str(any_number(chance))[:5000]
    if kind == 1:
        return json.dumps(any_text(chance))
    if kind == 2:
        return chance.choice(NUMBER_TEXTS)
    if kind == 3:
        return "[" + ", ".join(json.dumps(any_text(chance)) for _ in range(chance.choice((1, 2, 50)))) + "]"
    return chance.choice(_GOOD)


def mutated_toml(chance: random.Random, text: str) -> str:
    """Return a configuration with some values, lines or characters changed."""
    lines = text.splitlines()
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        i = chance.randrange(len(lines))
        key, _, _ = lines[i].partition(" =")
        kind = chance.randrange(8)
        if kind < 5:
            lines[i] = f"{key} = {toml_value(chance)}"
        elif kind == 5:
            lines.pop(i) if len(lines) > 1 else None
        elif kind == 6:
            lines.insert(i, lines[chance.randrange(len(lines))])
        else:
            lines[i] = mutate_text(chance, lines[i], _WORDS)
    return "\n".join(lines) + "\n"


class Configs(Campaign):
    """TOML files and changed keys."""

    name = "configs"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.texts = [read_config(name).to_toml() for name in list_presets()] + [tiny_toml()] * 3
        self.file = memory_folder(folder) / "config.toml"

    def make(self, chance: random.Random) -> Case:
        """Make the text of a configuration, as bytes if it is not text."""
        text = mutated_toml(chance, chance.choice(self.texts))
        content = text.encode("utf-8", "surrogateescape" if sometimes(chance, 0.5) else "replace")
        return {"toml": content}

    def run(self, case: Case) -> None:
        """Read the file, write the configuration, and read that."""
        self.file.write_bytes(case["toml"])
        config = read_config(self.file)
        text = config.to_toml()
        self.file.write_text(text, "utf-8")
        if read_config(self.file) != config and "nan" not in text:
            raise WrongError("round trip: the configuration reads back as another one")
        config.chosen(), config.length, config.subject
