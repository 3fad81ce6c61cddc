"""`tilewright games`, `agents` and `models`: what is there, and which options it takes."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tilewright._core.files import read_tensors
from tilewright._core.registry import Registry
from tilewright.agents import AGENTS
from tilewright.cli import output
from tilewright.cli.options import json_option
from tilewright.errors import UsageError
from tilewright.games import GAMES

if TYPE_CHECKING:
    from tilewright.ntuple.model import Model

__all__ = ["agents", "games", "models"]

LARGEST_QUANTUM = 1_000_000


@click.command()
@click.argument("name", required=False)
@json_option
def games(name: str | None, as_json: bool) -> None:
    """List the games; with NAME, the options of one.

    \b
    Examples:
      tilewright games
      tilewright games threes
    """
    _list(GAMES, name, as_json)


@click.command()
@click.argument("name", required=False)
@json_option
def agents(name: str | None, as_json: bool) -> None:
    """List the agents; with NAME, the options of one.

    \b
    Examples:
      tilewright agents
      tilewright agents greedy
    """
    _list(AGENTS, name, as_json)


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--pack", type=click.Path(path_type=Path), metavar="FILE", help="Write PATH to FILE as small as it gets.")
@click.option(
    "--quantum", type=float, default=16.0, show_default=True, help="What --pack rounds weights to, in points."
)
@click.option(
    "--games",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Let --pack keep only the weights that so many games look up; 0: all.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    metavar="WEIGHTS",
    help="With --games: keep at most so many weights, those looked up most often.",
)
@click.option(
    "--downgrade-above",
    type=int,
    metavar="TILE",
    help="Let --pack say that boards with larger tiles are to be played as smaller ones; 0: none.",
)
@json_option
def models(
    path: Path | None,
    pack: Path | None,
    quantum: float,
    games: int,
    most: int | None,
    downgrade_above: int | None,
    as_json: bool,
) -> None:
    """List the models under runs/; with PATH, what one is made of and where it comes from.

    \b
    Examples:
      tilewright models
      tilewright models runs/minute/model.safetensors
      tilewright models runs/minute/model.safetensors --pack small.safetensors
      tilewright models runs/minute/model.safetensors --pack smaller.safetensors --games 500
      tilewright models runs/minute/model.safetensors --pack smallest.safetensors --games 500 --most 2000000
    """
    from tilewright.ntuple.downgrade import check_downgrade_above
    from tilewright.ntuple.model import load_model

    def is_deep_model(file: Path) -> bool:
        return read_tensors(file)[1].get("format", "").startswith("tilewright-deep-")

    if path is None:
        if pack is not None:
            raise UsageError("--pack needs the PATH of a model")
        found = sorted(Path("runs").glob("*/model.safetensors"))
        if as_json:
            output.print_json([str(one) for one in found])
        elif not found:
            print("there are no models under runs/ yet; tilewright train minute makes one")
        else:
            output.print_table(("model", ">MiB"), [(str(one), f"{one.stat().st_size / 2**20:,.1f}") for one in found])
        return
    if is_deep_model(path):
        if pack is not None:
            raise UsageError(f"{path}: a deep network; --pack is for n-tuple networks")
        _describe_deep(path, as_json)
        return
    model = load_model(path)
    if downgrade_above is not None:
        if pack is None:
            raise UsageError("--downgrade-above goes with --pack")
        check_downgrade_above(downgrade_above, model.game)
        model = dataclasses.replace(model, downgrade_above=downgrade_above)
    if pack is not None:
        _pack(model, pack, quantum, games, most)
        print(f"{pack}: {pack.stat().st_size / 1e6:,.1f} MB, from {path.stat().st_size / 1e6:,.1f} MB")
        return
    if as_json:
        about = {
            "game": model.game.spec,
            "value_function": model.value_function,
            "tuples": list(model.architecture.tuples),
        }
        output.print_json(
            about
            | {"features": list(model.architecture.features), "downgrade_above": model.downgrade_above, **model.origin}
        )
        return
    print(f"{path}: {model.value_function} values for {model.game.spec}\n\n{model.architecture}\n")
    if model.downgrade_above:
        print(f"boards with larger tiles than {model.downgrade_above} are played as smaller ones\n")
    output.print_table(("", ""), [(key, text.strip()) for key, text in model.origin.items() if key != "config"])
    print(f"\n{model.origin.get('config', '')}", end="")


def _pack(model: "Model", file: Path, quantum: float, games: int, most: int | None) -> None:
    if not 0 <= quantum <= LARGEST_QUANTUM:
        raise UsageError(f"--quantum {quantum:g}: must be from 0 to {LARGEST_QUANTUM:,}")
    if most is not None and not games:
        raise UsageError("--most needs --games: in how many games look-ups are counted")
    if games:
        from tilewright.ntuple.prune import prune

        output.announce_compilation()
        with output.progress_bar("games", games) as progress:
            model = prune(model, games, most, progress=progress)
    model.save(file, compact=True, quantum=quantum)


def _describe_deep(path: Path, as_json: bool) -> None:
    from tilewright.deep.model import load_deep_model

    model = load_deep_model(path)
    config, weights = model.config, sum(weight.numel() for weight in model.network.parameters())
    about = {
        "game": config.game.spec,
        "algorithm": config.algorithm,
        "architecture": config.architecture,
        "encoding": config.encoding,
    }
    if as_json:
        output.print_json(about | {"weights": weights, **model.origin})
        return
    print(
        f"{path}: deep {config.algorithm} network {config.architecture} of {weights:,} weights for {config.game.spec}\n"
    )
    output.print_table(("", ""), [(key, text.strip()) for key, text in model.origin.items() if key != "config"])
    print(f"\n{model.origin.get('config', '')}", end="")


def _list(registry: Registry[Any], name: str | None, as_json: bool) -> None:
    if name is None:
        summaries = {entry: registry.entries[entry].summary for entry in registry}
        if as_json:
            output.print_json(summaries)
        else:
            output.print_table((registry.kind, "what it is"), list(summaries.items()))
            print(f"\noptions of one: tilewright {registry.kind}s NAME; used as NAME:option=value,…")
        return
    options = {option.name: option.default for option in registry.options(name).values()}
    if as_json:
        output.print_json({"name": name, "summary": registry.summary(name), "options": options})
        return
    print(f"{name}: {registry.summary(name)}")
    if not options:
        print("it has no options")
        return
    output.print_table(("option", "default"), [(option, str(default)) for option, default in options.items()])
