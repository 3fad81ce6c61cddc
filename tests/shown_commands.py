"""Checking the shell commands of the documentation without running them."""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tilewright import AGENTS, GAMES, make_agent, make_game
from tilewright.bench import BENCHMARKS, UNAVAILABLE
from tilewright.cli.main import COMMANDS, cli
from tilewright.cli.train import read_changes
from tilewright.exact.solve import make_problem
from tilewright.models import model_path
from tilewright.reproduce.experiments import find_experiments
from tilewright.training.config import read_config

__all__ = ["check_command", "has_placeholder"]

ROOT = Path(__file__).parent.parent
_PLACEHOLDER = re.compile(r"…|\b[A-Z]{2,}\b(?![=\d])|\bN\b|\{model\}")
_OTHER_PROGRAMS = {"cd", "curl", "echo", "git", "pre-commit", "ray", "taskset", "wrk"}  # nothing of ours to check


def has_placeholder(text: str) -> bool:
    """Whether the reader has to put something of their own into a command or a word: `AGENT`, `model=…`."""
    return _PLACEHOLDER.search(text) is not None


def check_command(text: str) -> None:
    """Check that everything that a command names exists.

    Classes of the reader's own, as `my_agents:Corner`, are looked for in the current folder.
    """
    for words in _simple_commands(text):
        program, *arguments = words
        if program == "tilewright":
            _check_tilewright(arguments)
        elif program == "python":
            _check_script(arguments)
        elif program == "make":
            _check_make(arguments)
        elif program in ("pip", "pipx", "uv"):
            _check_extras(arguments)
        else:
            assert program in _OTHER_PROGRAMS, program


def _simple_commands(text: str) -> Iterator[list[str]]:
    """Split a line at pipes, semicolons and the like; redirections are left out."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|;&>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word.startswith(">"):
            next(lexer)
        elif set(word) <= set("|;&"):
            yield words
            words = []
        else:
            words.append(word)
    yield words


def _check_tilewright(arguments: list[str]) -> None:
    name, *rest = arguments
    if name == "--version" or has_placeholder(name):
        return
    assert name in COMMANDS, name
    if "--help" in rest:
        return
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    if any(map(has_placeholder, rest)):
        _check_options(command, rest)
        return
    try:
        chosen = command.make_context(name, list(rest)).params
    except click.MissingParameter:  # a sentence names only the option: `evaluate --exact`
        _check_options(command, rest)
    except click.BadOptionUsage:  # … without its value: `evaluate --record`
        _check_options(command, rest)
    else:
        _CHECKS.get(name, _check_specs)(chosen)


def _check_options(command: click.Command, words: list[str]) -> None:
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def _check_specs(chosen: dict[str, Any]) -> None:
    """Check the agents and games of any command."""
    for key, make in (("agent", make_agent), ("game", make_game), ("agents", make_agent), ("games", make_game)):
        given = chosen.get(key)
        for spec in given if isinstance(given, tuple) else [given] if isinstance(given, str) else []:
            make(spec)


def _check_train(chosen: dict[str, Any]) -> None:
    if chosen["config"] is not None:
        changes = {key: chosen[key] for key in ("seed", "minutes", "games")}
        read_config(chosen["config"], **read_changes(chosen["changes"], **changes))


def _check_sweep(chosen: dict[str, Any]) -> None:
    for axis in chosen["over"]:
        key, _, values = axis.partition("=")
        for value in values.split(","):
            read_config(chosen["config"], **read_changes((*chosen["changes"], f"{key}={value}")))


def _check_reproduce(chosen: dict[str, Any]) -> None:
    for path in chosen["experiments"]:
        find_experiments(path)


def _check_solve(chosen: dict[str, Any]) -> None:
    make_problem(chosen["game"], chosen["goal"])


def _check_bench(chosen: dict[str, Any]) -> None:
    assert set(chosen["names"]) <= {*BENCHMARKS, *UNAVAILABLE}


def _check_move(chosen: dict[str, Any]) -> None:
    _check_specs(chosen)
    make_game(chosen["game"]).parse_position(chosen["board"])


def _check_models(chosen: dict[str, Any]) -> None:
    if (chosen["model"] or "").startswith("package:"):
        model_path(chosen["model"])


def _check_agents(chosen: dict[str, Any]) -> None:
    if chosen["name"] is not None:
        AGENTS.options(chosen["name"])


def _check_games(chosen: dict[str, Any]) -> None:
    if chosen["name"] is not None:
        GAMES.options(chosen["name"])


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "agents": _check_agents,
    "bench": _check_bench,
    "games": _check_games,
    "models": _check_models,
    "move": _check_move,
    "reproduce": _check_reproduce,
    "solve": _check_solve,
    "sweep": _check_sweep,
    "train": _check_train,
}


def _check_script(arguments: list[str]) -> None:
    """Check that a script is there, and knows the options."""
    if arguments[0] == "-m":
        module = ROOT.joinpath(*arguments[1].split("."))
        script, words = module / "__main__.py" if module.is_dir() else module.with_suffix(".py"), arguments[2:]
    else:
        script, words = ROOT / arguments[0], arguments[1:]
    text = script.read_text(encoding="utf-8")
    for option in (word for word in words if word.startswith("--")):
        assert f'"{option}"' in text, option


def _check_make(arguments: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in arguments:
        name, _, value = word.partition("=")
        assert re.search(rf"^{name} \?=" if value else rf"^{name}:", makefile, re.MULTILINE), word


def _check_extras(arguments: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"\.\[([\w,]+)\]", " ".join(arguments)):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])
