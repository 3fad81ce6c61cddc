"""`tilewright COMMAND`: find the command, and report every error as one line and an exit code."""

import gc
import importlib
import io
import sys
from pathlib import Path

import click

from tilewright import __version__
from tilewright._core.text import did_you_mean
from tilewright.errors import TilewrightError, UsageError

__all__ = ["COMMANDS", "cli", "main", "run"]

# name -> (module:attribute, summary); the module is imported when the command runs, so that `--help` is quick
COMMANDS = {
    "demo": ("tilewright.cli.demo:demo", "Train a player for a minute, compare it, write a report."),
    "train": ("tilewright.cli.train:train", "Train a network with a preset or a configuration file."),
    "evaluate": ("tilewright.cli.evaluate:evaluate_command", "Play many games and report the results."),
    "play": ("tilewright.cli.play:play", "Play in the terminal, or watch an agent."),
    "review": (
        "tilewright.cli.review:review_command",
        "Compare every move of a recorded game with the best one.",
    ),
    "serve": ("tilewright.cli.serve:serve_command", "Serve the web page: play, hints, reviews, runs."),
    "move": ("tilewright.cli.move:move", "Choose the move for one board, with the value of each."),
    "reproduce": ("tilewright.cli.reproduce:reproduce", "Repeat the experiments of papers, and compare."),
    "solve": ("tilewright.cli.solve:solve_command", "Solve a small board exactly."),
    "sweep": ("tilewright.cli.sweep:sweep_command", "Train with every combination of some keys, and compare."),
    "bench": ("tilewright.cli.bench:bench", "Measure moves per second."),
    "agents": ("tilewright.cli.agents:agents", "List the agents, or the options of one."),
    "models": ("tilewright.cli.models:models", "List the trained models, describe or pack one."),
    "games": ("tilewright.cli.games:games", "List the games, or the options of one."),
}


class _LazyGroup(click.Group):
    """Imports the module of a command when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments; an unknown one gets a suggestion."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS)
            raise UsageError(f"there is no command {args[0]!r}{hint}; there are: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their summaries, without importing them."""
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
      tilewright evaluate my_module:MyAgent --games 100 --csv games.csv
      tilewright play --game threes
      tilewright move "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
    """


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The words after `tilewright`; None for those of this process.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong usage.
    """
    words = sys.argv[1:] if arguments is None else arguments
    try:
        cli.main(words or ["--help"], standalone_mode=False)
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
        sys.stderr.close()  # the reader of our output has gone (`| head`), and Python would print an error at exit
        return 1
    except OSError as error:
        return _complain(str(error), 1)
    return 0


def _complain(message: str, code: int) -> int:
    print(f"tilewright: {message}", file=sys.stderr)
    return code


def _import_from_current_folder() -> None:
    """Let specs such as `my_module:MyAgent` name modules of the current folder, as `python -m` does."""
    folder = str(Path.cwd())
    if not sys.flags.safe_path and folder not in sys.path:
        sys.path.insert(0, folder)


def run() -> None:
    """Run the command of this process, and exit: the console script."""
    gc.set_threshold(50_000, 20, 100)  # compiling and importing make many objects that stay: fewer looks at all of them
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a board is printed even if the encoding lacks its lines
    _import_from_current_folder()
    sys.exit(main())
