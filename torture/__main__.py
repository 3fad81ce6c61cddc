"""`python -m torture`: run campaigns for some minutes, print a table, and keep every failing input."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from torture import sandbox
from torture.campaign import KINDS
from torture.pool import run_again, run_campaign
from torture.report import Tally, print_table


@click.command()
@click.option("--minutes", type=click.FloatRange(0.01, 24 * 60), default=5.0, show_default=True, help="How long.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The seed of all inputs.")
@click.option("--kinds", default=",".join(KINDS), show_default="all", help="Which campaigns, separated by commas.")
@click.option(
    "--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Worker processes."
)
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="The number of the first input.")
@click.option("--inputs", type=click.IntRange(1), help="The largest number of inputs of a kind.  [default: no limit]")
@click.option(
    "--again", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Run a failing input again."
)
@click.option("--out", type=click.Path(path_type=Path), help="The folder of the run, below the temporary folder.")
def main(
    minutes: float,
    seed: int,
    kinds: str,
    jobs: int,
    first: int,
    inputs: int | None,
    again: Path | None,
    out: Path | None,
) -> None:
    """Try to break tilewright. Exit code 0 if nothing failed, 1 otherwise.

    Everything is written to a folder of its own below the temporary folder; started as root, it goes on as nobody.
    Ctrl-C ends it with the table.
    """
    chosen = [kind.strip() for kind in kinds.split(",") if kind.strip()]
    if unknown := [kind for kind in chosen if kind not in KINDS]:
        raise click.UsageError(f"there is no kind {', '.join(unknown)}; there are: {', '.join(KINDS)}")
    try:
        with _saying_stopped():
            words = [] if again is None else ["--again", str(again.absolute())]  # the last one counts
            code = sandbox.drop_privileges([*sys.argv[1:], *words])
            if code is not None:
                sys.exit(code)
            given = os.environ.get("TORTURE_FOLDER")
            folder = Path(given) if given else sandbox.new_folder()
            if out is not None:
                sandbox.check_inside(out, folder.parent)
                folder = out
                folder.mkdir(parents=True, exist_ok=True)
    except sandbox.SandboxError as error:
        raise click.UsageError(str(error)) from None
    variables = sandbox.environment(folder)
    if again is not None:
        sys.exit(_run_again(again, folder, variables))
    sys.exit(_run(chosen, minutes, seed, jobs, first, inputs, folder, variables))


@contextmanager
def _saying_stopped() -> Iterator[None]:
    """End with one line after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(1)


def _run_again(file: Path, folder: Path, variables: dict[str, str]) -> int:
    with _saying_stopped():
        tally = run_again(file, folder, variables)
    for failure in tally.failures:
        print(failure.problem)
    return 1 if tally.failures else 0


def _run(
    kinds: list[str],
    minutes: float,
    seed: int,
    jobs: int,
    first: int,
    inputs: int | None,
    folder: Path,
    variables: dict[str, str],
) -> int:
    shares = sum(KINDS[kind][1] for kind in kinds)
    tallies: list[Tally] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for kind in kinds:
            print(f"{kind} …", file=sys.stderr, flush=True)
            tally = run_campaign(
                kind,
                seed=seed,
                seconds=60 * minutes * KINDS[kind][1] / shares,
                folder=folder / kind,
                failures=folder / "failures",
                jobs=jobs,
                first=first,
                inputs=inputs,
                environment=variables,
            )
            tallies.append(tally)
            shutil.rmtree(folder / kind, ignore_errors=True)
    except KeyboardInterrupt as stop:
        print("stopped", file=sys.stderr)
        if hasattr(stop, "tally"):
            tallies.append(stop.tally)
    print_table(tallies)
    failed = any(tally.failures for tally in tallies)
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    main()
