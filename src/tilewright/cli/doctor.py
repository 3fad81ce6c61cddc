"""`tilewright doctor`: whether everything works here, and what to paste into a bug report."""

import click

from tilewright.cli import output
from tilewright.cli.options import json_option
from tilewright.doctor import diagnose
from tilewright.errors import TilewrightError

__all__ = ["doctor"]


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check machine, kernels, cache, extras and models, and print what a bug report needs.

    Kernels are compiled or loaded and compared with the rules in plain Python; the models in the package are verified.
    The exit code is 1 if something is wrong.

    \b
    Examples:
      tilewright doctor
      tilewright doctor --json
    """
    output.announce_compilation()
    diagnosis = diagnose()
    if as_json:
        output.print_json(diagnosis.to_dict())
    else:
        print(diagnosis.text())
        print("\nall is well" if diagnosis.is_well else "\nsomething is wrong")
        print("for a bug report: paste all of this, the command, and what it printed")
    if not diagnosis.is_well:
        raise TilewrightError("; ".join(diagnosis.problems))
