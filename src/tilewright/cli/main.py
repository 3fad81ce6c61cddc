"""`tilewright COMMAND`: finds the command, and turns every error into one clear line and an exit code."""

import importlib
import io
import sys
from typing import Any

import click

from tilewright import __version__
from tilewright._core.registry import did_you_mean
from tilewright.errors import TilewrightError, UsageError

__all__ = ["cli", "main"]

# name -> (module:attribute, summary); modules are imported when the command runs, so `--help` stays quick
COMMANDS = {
    "demo": ("tilewright.cli.demo:demo", "Train a player for a minute, compare it, write a report."),
    "train": ("tilewright.cli.train:train", "Train a network by a preset or a configuration file."),
    "evaluate": ("tilewright.cli.evaluate:evaluate_command", "Play many games and report the results."),
    "play": ("tilewright.cli.play:play", "Play in the terminal, or watch an agent."),
    "review": (
        "tilewright.cli.review:review_command",
        "A recorded game: the loss of every move, the worst ones, a plot.",
    ),
    "serve": ("tilewright.cli.serve:serve_command", "The web page: play, ask, review, compare, runs."),
    "move": ("tilewright.cli.move:move", "One board in: its legal moves, their values, the best one."),
    "reproduce": ("tilewright.cli.reproduce:reproduce", "The papers' tables, theirs beside what is measured here."),
    "sweep": ("tilewright.cli.sweep:sweep_command", "Train with every combination of some keys, and compare."),
    "bench": ("tilewright.cli.bench:bench", "Measure moves per second."),
    "agents": ("tilewright.cli.listing:agents", "List the agents."),
    "models": ("tilewright.cli.listing:models", "List the trained models, or describe one."),
    "games": ("tilewright.cli.listing:games", "List the games."),
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS)
            raise UsageError(f"there is no command {args[0]!r}{hint}; there are: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tilewright")
def cli() -> None:
    """Build, study and play learning agents for 2048 and Threes.

    \b
    Examples:
      tilewright demo
      tilewright train minute
      tilewright evaluate greedy --games 1000
      tilewright play --game threes
      tilewright move "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
    """


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 failed, 2 usage."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        cli.main(given or ["--help"], standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except UsageError as error:
        return _complain(str(error), 2)
    except TilewrightError as error:
        return _complain(str(error), 1)
    except (KeyboardInterrupt, click.Abort):
        return _complain("stopped", 1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away (`| head`): nothing left to say
        return 1
    except OSError as error:
        return _complain(str(error), 1)
    return 0


def _complain(message: str, code: int) -> int:
    print(f"tilewright: {message}", file=sys.stderr)
    return code


def run() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a board is drawn even where lines and ± have no code
    sys.exit(main())
