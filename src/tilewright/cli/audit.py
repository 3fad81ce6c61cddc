"""`tilewright audit`: check other people's 2048 against exact rules."""

import click

from tilewright.audit import AuditReport, CheckResult, audit_engine, open_engine
from tilewright.audit.rules import write_tiles
from tilewright.cli import output
from tilewright.cli.options import json_option, seed_option
from tilewright.errors import TilewrightError

__all__ = ["audit"]


@click.command()
@click.argument("engine")
@click.option("--moves", default=20_000, show_default=True, help="The number of random moves.")
@click.option(
    "--agent", default="ntuple", show_default=True, metavar="SPEC", help="Plays some games, to reach large tiles."
)
@click.option("--agent-moves", default=5_000, show_default=True, help="The number of moves of the agent.")
@click.option("--starts", default=1_000, show_default=True, help="The number of additional first boards.")
@click.option("--four", default=0.1, show_default=True, help="The probability that a new tile is a 4.")
@seed_option
@json_option
def audit(
    engine: str, moves: int, agent: str, agent_moves: int, starts: int, four: float, seed: int, as_json: bool
) -> None:
    """Drive ENGINE, any implementation of 2048, through its own interface, and check it against exact rules.

    ENGINE is gymnasium:ID, pgx, jumanji, open_spiel, or module:callable for a function in the current folder that
    returns an environment of Gymnasium or an object with reset(seed) and step(action). The audit finds out by
    playing how the engine shows boards and numbers its moves. The exit code is 1 if something is wrong. The checks are
    explained in docs/how-to/audit.md.

    \b
    Examples:
      tilewright audit gymnasium:tilewright.envs:tilewright/2048-v1
      tilewright audit gymnasium:gymnasium_2048:gymnasium_2048/TwentyFortyEight-v0
      tilewright audit pgx --json
      tilewright audit my_module:make_engine --moves 5000
    """
    output.announce_compilation()
    factory = open_engine(engine)
    with output.progress_bar(f"auditing {engine}", moves + agent_moves) as progress:
        report = audit_engine(
            factory,
            moves=moves,
            agent=agent,
            agent_moves=agent_moves,
            starts=starts,
            four=four,
            seed=seed,
            progress=progress,
        )
    if as_json:
        output.print_json(report.to_json())
    else:
        _print_report(report)
    if report.findings:
        found = len(report.findings)
        raise TilewrightError(f"{engine}: {found} finding{'s' if found > 1 else ''}")


def _print_report(report: AuditReport) -> None:
    actions = ", ".join(f"{action} {direction}" for action, direction in enumerate(report.directions))
    print(f"{report.target}{f' ({report.version})' if report.version else ''}")
    print(f"boards: {report.encoding}; actions: {actions}")
    print(
        f"{report.moves:,} moves in {report.games:,} games, largest tile {report.largest:,}, seed {report.seed}; "
        f"a correct engine is accused with a probability of at most {100 * report.error_rate:g} %"
    )
    print()
    output.print_table(("check", ">tested", "result", "notes"), [_row(result) for result in report.results])
    for result in report.results:
        _print_findings(result)


def _row(result: CheckResult) -> tuple[str, str, str, str]:
    return result.name, f"{result.tested:,}", result.verdict, "; ".join(result.notes)


def _print_findings(result: CheckResult) -> None:
    for finding in result.findings:
        cases = f" ({finding.count:,} of {result.tested:,})" if finding.example else ""
        print(f"\n{result.name}: {finding.message}{cases}")
        if finding.example is not None:
            example = finding.example
            print(f"  board     {write_tiles(example.board)}")
            for name, text in (("move", example.move), ("expected", example.expected), ("found", example.found)):
                if text:
                    print(f"  {name:<9} {text}")
            if example.line:
                print(f"  line      {example.line}")
