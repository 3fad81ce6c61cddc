"""`tilewright models`: the trained models, what they are made of; packing them into small files, fetching others."""

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tilewright._core.files import read_metadata
from tilewright._core.outputs import MODEL, check_output
from tilewright.cli import output
from tilewright.cli.options import force_option, json_option
from tilewright.errors import FileError, UsageError
from tilewright.games import make_game
from tilewright.models import model_path, packaged_models
from tilewright.models.fetch import fetch_models

if TYPE_CHECKING:
    from tilewright.ntuple.model import Model

__all__ = ["models"]

MAX_QUANTUM = 1_000_000
FETCHED = Path("models")  # where fetched models go


@click.command()
@click.argument("model", required=False)
@click.option("--pack", type=click.Path(path_type=Path), metavar="FILE", help="Write MODEL to FILE in a small format.")
@click.option(
    "--quantum",
    type=float,
    default=16.0,
    show_default=True,
    help="With --pack: round weights to multiples of this number of points.",
)
@click.option(
    "--games",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="With --pack: keep only the weights that this number of games looks up; 0 keeps all.",
)
@click.option(
    "--max-weights",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="With --games: keep at most this number of weights, those that are looked up most often.",
)
@click.option(
    "--downgrade-above",
    type=int,
    metavar="TILE",
    help="With --pack: boards with tiles above this one are played as downgraded boards; 0 for none.",
)
@click.option(
    "--fetch",
    metavar="SOURCE",
    help="Copy the model, or all models of the folder, at this address or path, and check them.",
)
@click.option("--sha256", metavar="SUM", help="With --fetch: the checksum of the model.  [default: from SHA256SUMS]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="With --fetch: the folder to write to.  [default: models]",
)
@click.option("--game", metavar="SPEC", help="The game of MODEL, if it is your own class: its module is imported.")
@force_option
@json_option
def models(
    model: str | None,
    pack: Path | None,
    quantum: float,
    games: int,
    max_weights: int | None,
    downgrade_above: int | None,
    fetch: str | None,
    sha256: str | None,
    out: Path | None,
    game: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """List the models in the package, under models/ and runs/; with MODEL, describe one or pack it.

    MODEL is a file, or the name of a model in the package.

    \b
    Examples:
      tilewright models
      tilewright models package:2048
      tilewright models runs/minute/model.safetensors
      tilewright models runs/minute/model.safetensors --pack small.safetensors
      tilewright models runs/minute/model.safetensors --pack smaller.safetensors --games 500
      tilewright models runs/minute/model.safetensors --pack smallest.safetensors --games 500 --max-weights 2000000
      tilewright models --fetch https://example.org/models/large.safetensors
      tilewright models --fetch /mnt/shared/models --out models
    """
    if fetch is not None:
        if model is not None or pack is not None:
            raise UsageError("--fetch takes neither MODEL nor --pack")
        _fetch(fetch, out, sha256)
        return
    if out is not None or sha256 is not None:
        raise UsageError("--out and --sha256 go with --fetch")
    if pack is None and downgrade_above is not None:
        raise UsageError("--downgrade-above goes with --pack")
    if model is None:
        if pack is not None:
            raise UsageError("--pack needs a MODEL")
        _list_models(as_json)
        return
    file = model_path(model)
    if game is not None:
        make_game(game)
    if pack is not None:
        check_output(pack, MODEL, inputs=[file], force=force)
    is_deep = read_metadata(file).get("format", "").startswith("tilewright-deep-")
    if pack is None:
        _describe_deep(model, file, as_json) if is_deep else _describe_ntuple(model, file, as_json)
    elif is_deep:
        raise UsageError(f"{model}: a deep network; --pack is for n-tuple networks")
    else:
        _pack(file, pack, quantum, games, max_weights, downgrade_above, force)
        print(f"{pack}: {pack.stat().st_size / 1e6:,.1f} MB, from {file.stat().st_size / 1e6:,.1f} MB")


def _fetch(source: str, out: Path | None, sha256: str | None) -> None:
    with output.progress_bar("bytes", None) as progress:
        files = fetch_models(source, out or FETCHED, sha256=sha256, progress=progress)
    for file in files:
        print(f"{out or FETCHED}/{file.name}: {file.stat().st_size / 1e6:,.1f} MB, its checksum is right")


def _list_models(as_json: bool) -> None:
    found = [*sorted(FETCHED.glob("*.safetensors")), *sorted(Path("runs").glob("*/model.safetensors"))]
    files = packaged_models() | {str(file): file for file in found}
    entries = [_entry(name, file) for name, file in files.items()]
    if as_json:
        output.print_json(entries)
        return
    rows = [
        (
            str(entry["model"]),
            f"{entry['megabytes']:,.1f}",
            str(entry["game"]),
            _count(entry["games"]),
            _count(entry["mean_score"]),
        )
        for entry in entries
    ]
    with_score = any(entry["mean_score"] is not None for entry in entries)
    columns = ("model", ">MB", "game", ">games of training", ">mean score")
    shown = slice(None) if with_score else slice(-1)
    output.print_table(columns[shown], [row[shown] for row in rows])
    if len(entries) == len(packaged_models()):
        print("\nthere are no models under runs/ yet; `tilewright train minute` trains one")


def _entry(name: str, file: Path) -> dict[str, str | float | None]:
    try:
        about, size = read_metadata(file), file.stat().st_size
    except (FileError, OSError):  # a damaged model does not hide the others
        about, size = {}, 0
    return {
        "model": name,
        "megabytes": round(size / 1e6, 1),
        "game": about.get("game", ""),
        "games": _number(about.get("games")),
        "mean_score": _number(about.get("mean_score")),
    }


def _number(text: str | None) -> float | None:
    try:
        number = None if text is None else float(text)
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _count(value: str | float | None) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else ""


def _pack(
    file: Path,
    packed: Path,
    quantum: float,
    games: int,
    max_weights: int | None,
    downgrade_above: int | None,
    force: bool,
) -> None:
    from tilewright.ntuple.downgrade import check_downgrade_above
    from tilewright.ntuple.model import load_model
    from tilewright.ntuple.prune import prune

    if not 0 <= quantum <= MAX_QUANTUM:
        raise UsageError(f"--quantum {quantum:g}: must be from 0 to {MAX_QUANTUM:,}")
    if max_weights is not None and not games:
        raise UsageError("--max-weights needs --games, the number of games in which look-ups are counted")
    model = load_model(file)
    if downgrade_above is not None:
        check_downgrade_above(downgrade_above, model.game)
        model = dataclasses.replace(model, downgrade_above=downgrade_above)
    if games:
        output.announce_compilation()
        with output.progress_bar("games", games) as progress:
            model = prune(model, games, max_weights, progress=progress)
    model.save(packed, compact=True, quantum=quantum, force=force)


def _describe_ntuple(name: str, file: Path, as_json: bool) -> None:
    from tilewright.ntuple.model import load_model

    model = load_model(file)
    if as_json:
        output.print_json(_about_ntuple(model) | model.origin)
        return
    print(f"{name}: n-tuple network of {model.value_function} values for {model.game.spec}\n\n{model.architecture}\n")
    if model.downgrade_above:
        print(f"boards with tiles above {model.downgrade_above} are played as downgraded boards\n")
    _print_origin(model.origin)


def _about_ntuple(model: "Model") -> dict[str, str | int | list[str]]:
    return {
        "game": model.game.spec,
        "value_function": model.value_function,
        "tuples": list(model.architecture.tuples),
        "features": list(model.architecture.features),
        "downgrade_above": model.downgrade_above,
    }


def _describe_deep(name: str, file: Path, as_json: bool) -> None:
    from tilewright.deep.model import load_deep_model

    model = load_deep_model(file)
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
    described = f"deep {config.algorithm} network {config.architecture} of {weights:,} weights"
    print(f"{name}: {described} for {config.game.spec}\n")
    _print_origin(model.origin)


def _print_origin(origin: dict[str, str]) -> None:
    """Print how a model was trained: its numbers, and its configuration."""
    rows = [(_printable(key), _printable(text.strip())) for key, text in origin.items() if key != "config"]
    output.print_table(("", ""), rows)
    print(f"\n{_printable(origin.get('config', ''))}", end="")


def _printable(text: str) -> str:
    """Replace what a terminal would obey instead of showing it: anybody may have written the file."""
    return "".join(character if character.isprintable() or character == "\n" else "�" for character in text)
