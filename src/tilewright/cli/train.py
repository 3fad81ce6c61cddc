"""`tilewright train`: train a network by a preset or a configuration file, or continue a run."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tilewright._core.inputs import shown
from tilewright.cli import output
from tilewright.cli.options import chosen_cluster, engine_options, threads_option
from tilewright.cli.terminal import stopping_on_signals
from tilewright.errors import ConfigError, FileError, TilewrightError, UsageError
from tilewright.training.api import free_folder
from tilewright.training.config import AnyConfig, list_presets, read_config
from tilewright.training.progress_bar import show_progress
from tilewright.training.report import save_curve, write_report
from tilewright.training.run_folder import RunFolder
from tilewright.training.session import SYNC_MINUTES, TrainingSession, open_session

if TYPE_CHECKING:
    from tilewright._core.cluster import Cluster

__all__ = ["evaluation_of", "read_changes", "resumption_of", "run_session", "train"]


@click.command()
@click.argument("config", required=False)
@click.option("--out", type=click.Path(path_type=Path), metavar="RUN", help="The run folder.  [default: runs/NAME]")
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Continue this run; it needs no CONFIG.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change a key of the configuration; repeatable. A list is written as in TOML: \'tuples=["0145", "0123"]\'.',
)
@click.option("--minutes", type=float, help="Change the budget in minutes of training.")
@click.option("--games", type=int, help="Change the budget in games.")
@click.option("--seed", type=int, help="Change the seed.")
@click.option("--show", is_flag=True, help="Print the configuration with all its keys and their meanings, and stop.")
@threads_option
@engine_options
@click.option(
    "--sync-minutes",
    type=float,
    default=SYNC_MINUTES,
    show_default=True,
    help="With --engine ray: the workers, one per thread, combine what they have learned after this time.",
)
def train(
    config: str | None,
    out: Path | None,
    resume: Path | None,
    changes: tuple[str, ...],
    minutes: float | None,
    games: int | None,
    seed: int | None,
    show: bool,
    threads: int | None,
    engine: str,
    address: str | None,
    sync_minutes: float,
) -> None:
    """Train an n-tuple or deep network by CONFIG, a preset or a TOML file. Without CONFIG, list the presets.

    Ctrl-C stops after the current games and saves everything; --resume continues from there. A resumed run may have
    another budget, which counts from the start of the training.

    \b
    Examples:
      tilewright train
      tilewright train minute
      tilewright train hour --minutes 20 --out runs/long
      tilewright train --resume runs/long
      tilewright train --resume runs/long --minutes 120
      tilewright train minute --set lambda=0.8 --set network=5x6 --seed 7
      tilewright train minute --show > mine.toml
      tilewright train mine.toml
      tilewright train dqn --set architecture=cnn_5l --minutes 60
      tilewright train record --engine ray --address auto --threads 16
    """
    given = read_changes(changes, seed=seed, minutes=minutes, games=games)
    if resume is not None:
        if config is not None or out is not None:
            raise UsageError(f"--resume {resume} takes everything from the run: leave out CONFIG and --out")
        chosen, folder = read_config(RunFolder(resume).read_config(), **given), resume
    elif config is None:
        if out is not None or given or show:
            raise UsageError("CONFIG is missing: a preset or a file; `tilewright train` lists the presets")
        output.print_table(("preset", "what it trains"), list(list_presets().items()))
        print("\ntrain one: tilewright train PRESET")
        return
    else:
        chosen, folder = read_config(config, **given), out or free_folder(Path(config).stem)
    if show:
        print(chosen.to_toml(comments=True), end="")
        return
    with stopping_on_signals(), chosen_cluster(engine, address, threads) as cluster:
        session = run_session(
            chosen,
            folder,
            folder.name,
            resume=resume is not None,
            threads=threads,
            cluster=cluster,
            sync_minutes=sync_minutes,
        )
    progress = session.progress
    print(
        f"{progress.games:,} games, {progress.moves:,} moves in {progress.seconds:,.1f} s of training "
        f"({progress.moves / max(progress.seconds, 1e-9):,.0f} moves/s)"
    )
    print(f"model {session.folder.model_file}")
    if session.done < 1:
        print(f"continue: {resumption_of(session)}")
    print(f"next: {evaluation_of(session)}")


def run_session(
    config: AnyConfig,
    folder: Path,
    label: str,
    *,
    resume: bool,
    threads: int | None,
    cluster: "Cluster | None" = None,
    sync_minutes: float = SYNC_MINUTES,
) -> TrainingSession:
    """Train with a progress display, and write figure and report; returns the session, which has ended."""
    if not resume and RunFolder(folder).exists():
        raise UsageError(
            f"{folder} already holds a run: `tilewright train --resume {folder}` continues it, --out takes another"
        )
    output.announce_compilation()
    with show_progress(label) as callback:
        session = open_session(
            config,
            folder,
            resume=resume,
            threads=threads,
            callbacks=callback,
            cluster=cluster,
            sync_minutes=sync_minutes,
        )
        session.run()
    try:
        save_curve(session.folder)
        write_report(session.folder)
    except FileError as error:
        raise TilewrightError(f"the training is saved in {session.folder.path}, but not its report: {error}") from None
    return session


def read_changes(changes: tuple[str, ...], **options: object) -> dict[str, object]:
    """The keys changed on the command line.

    Args:
        changes: Texts KEY=VALUE; a value is TOML, or text that needs no quotes.
        options: Keys with options of their own; None for those that were not given.
    """
    found = {key: value for key, value in options.items() if value is not None}
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise ConfigError(f"--set {change}: must be of the form KEY=VALUE")
        if key.strip() in found:
            raise ConfigError(f"--set {change}: {key.strip()} is given twice")
        found[key.strip()] = _value(text.strip())
    return found


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except (RecursionError, ValueError) as error:  # a ValueError is a number of thousands of digits
        raise ConfigError(f"--set …={shown(text, 40)}: {error}") from None


def evaluation_of(session: TrainingSession) -> str:
    """The command that evaluates the trained network."""
    game, agent = session.config.game, session.config.agent_name
    command = f"tilewright evaluate {agent}:model={session.folder.model_file}"
    return command if game == "2048" else f"{command} --game {game}"


def resumption_of(session: TrainingSession) -> str:
    """The command that continues the run."""
    return f"tilewright train --resume {session.folder.path}"
