"""`tilewright train`: learn by a preset or a configuration file."""

import tomllib
from pathlib import Path
from typing import Any

import click

from tilewright.cli import output
from tilewright.cli.options import threads_option
from tilewright.cli.train_progress import training_progress
from tilewright.errors import ConfigError
from tilewright.training.configs import all_presets, read_config
from tilewright.training.opening import open_any_session
from tilewright.training.report import save_curve, write_report
from tilewright.training.session import TrainingSession

__all__ = ["evaluation_of", "free_folder", "read_changes", "train"]


@click.command()
@click.argument("config", required=False)
@click.option("--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/NAME]")
@click.option("--resume", is_flag=True, help="Go on with the run in that folder.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a key of the recipe.")
@click.option("--seed", type=int, help="Change the seed of the recipe.")
@click.option("--show", is_flag=True, help="Print the recipe and stop: copy it, change it, train with it.")
@threads_option
def train(
    config: str | None,
    out: Path | None,
    resume: bool,
    changes: tuple[str, ...],
    seed: int | None,
    show: bool,
    threads: int | None,
) -> None:
    """Train a network, n-tuple or deep, by RECIPE: a preset's name, or a TOML file. Without RECIPE, list the presets.

    Ctrl-C stops at the end of the games under way and saves; --resume goes on from there.

    \b
    Examples:
      tilewright train minute
      tilewright train hour --out runs/long
      tilewright train hour --out runs/long --resume
      tilewright train minute --set lambda=0.8 --set network=5x6
      tilewright train minute --show > mine.toml
      tilewright train dqn --set architecture=cnn_5l --set minutes=60
    """
    if config is None:
        output.print_table(("preset", "what it trains"), list(all_presets().items()))
        return
    chosen = read_config(config, **read_changes(changes, seed))
    if show:
        print(chosen.to_toml(), end="")
        return
    output.announce_compilation()
    folder = out or (Path("runs") / Path(config).stem if resume else free_folder(Path(config).stem))
    with training_progress(folder.name) as callback:
        session = open_any_session(chosen, folder, resume=resume, threads=threads, callback=callback)
        progress = session.run()
    save_curve(session.folder)
    write_report(session.folder)
    print(
        f"{progress.games:,} games, {progress.moves:,} moves in {progress.seconds:,.1f} s of training "
        f"({progress.moves / max(progress.seconds, 1e-9):,.0f} moves/s)"
    )
    print(f"model {session.folder.model_file}")
    print(f"next: {evaluation_of(session)}")


def read_changes(changes: tuple[str, ...], seed: int | None) -> dict[str, Any]:
    """The keys that were set on the command line; a value is read as TOML, or else as text."""
    found: dict[str, Any] = {} if seed is None else {"seed": seed}
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise ConfigError(f"--set {change}: must be of the form key=value")
        found[key.strip()] = _value(text.strip())
    return found


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def evaluation_of(session: TrainingSession) -> str:
    """The command that evaluates what was trained."""
    game, agent = session.config.game, session.config.player
    return f"tilewright evaluate {agent}:model={session.folder.model_file}" + (
        "" if game == "2048" else f" --game {game}"
    )


def free_folder(name: str) -> Path:
    """runs/NAME, or the first of runs/NAME-2, … that holds no run yet."""
    folder, number = Path("runs") / name, 1
    while (folder / "config.toml").exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder
