"""Running experiments from the command line: the suite, its progress, and the reports at its end."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path

from tilewright._core.cluster import Cluster
from tilewright._core.files import make_folder
from tilewright._core.parallel import default_threads
from tilewright.cli import output
from tilewright.cli.progress import suite_progress
from tilewright.errors import JobsFailedError, UsageError
from tilewright.reproduce.experiments import Experiment
from tilewright.reproduce.jobs import Training
from tilewright.reproduce.report import make_report, write_index, write_markdown, write_page
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import Piece, pieces_of, run_suite

__all__ = ["run_and_report"]


def run_and_report(
    experiments: Sequence[Experiment],
    scale: str,
    out: Path,
    threads: int | None,
    cluster: AbstractContextManager[Cluster | None],
    markdown: Path | None = None,
) -> None:
    """Run what is missing, write a report for each, and print where they are; what failed is told at the end."""
    if "," in str(out):
        raise UsageError(f"--out {out}: a folder's name must be without commas, which separate the options of an agent")
    if markdown is not None:
        make_folder(markdown)
    workers = default_threads() if threads is None else threads
    if workers < 1:
        raise UsageError(f"--threads {threads}: at least one is needed")
    store = Store(out)
    output.announce_compilation()
    pieces = {one.path: pieces_of(one, one.scales[scale]) for one in experiments}
    names = _names_of_jobs(pieces)
    with cluster as remote, suite_progress(names) as observer:
        workers = workers if remote is None else remote.processors
        failed = run_suite([*chain(*pieces.values())], store, workers=workers, observer=observer, cluster=remote)
    for one in experiments:
        report, place = make_report(one, one.scales[scale], store), Path(one.paper) / f"{one.name}-{scale}"
        write_markdown(report, out / place)
        print(write_page(report, out / place))
        if markdown is not None:
            write_markdown(report, markdown / place)
    if markdown is not None:
        print(write_index(markdown))
    if failed:
        lines = [f"{names[job.key]}: {error}" for job, error in failed]
        raise JobsFailedError("\ntilewright: ".join(lines))


def _names_of_jobs(pieces: Mapping[str, Sequence[Piece]]) -> dict[str, str]:
    """What a person knows each job by: the row that asks for it first, of several experiments with the path."""
    names: dict[str, str] = {}
    for path, some in pieces.items():
        for piece in some:
            seed = f", seed {piece.seed}" if piece.seed else ""
            row = f"{path if len(pieces) > 1 else ''} {piece.row.label}{seed}".strip()
            for job in piece.jobs:
                what = "training" if isinstance(job, Training) else f"{job.games:,} games"
                names.setdefault(job.key, f"{row}: {what}")
    return names
