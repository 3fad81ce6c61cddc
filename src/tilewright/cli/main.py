"""`tilewright COMMAND`: find the command, and report every error as one line and an exit code."""

import _thread
import errno
import gc
import importlib
import io
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import click

from tilewright import __version__
from tilewright._core.inputs import shown
from tilewright._core.outputs import is_full
from tilewright._core.text import did_you_mean
from tilewright.errors import TilewrightError, UsageError

__all__ = ["COMMANDS", "cli", "main", "run"]

_LONGEST_LINE = 1500  # of a message
_SOON_SECONDS = 0.1
# name -> (module:attribute, summary); the module is imported when the command runs, so that `--help` is quick
COMMANDS = {
    "demo": ("tilewright.cli.demo:demo", "Train a player for a minute, compare it, write a report."),
    "train": ("tilewright.cli.train:train", "Train a network with a preset or a configuration file."),
    "evaluate": ("tilewright.cli.evaluate:evaluate_command", "Play many games and report the results."),
    "play": ("tilewright.cli.play:play", "Play in the terminal, or watch an agent."),
    "review": (
        "tilewright.cli.review:review_command",
        "Compare every move of a recorded game with the best move.",
    ),
    "serve": ("tilewright.cli.serve:serve_command", "Serve the web page: play, hints, reviews, runs."),
    "move": ("tilewright.cli.move:move", "Choose the move for one board, and value every move."),
    "reproduce": ("tilewright.cli.reproduce:reproduce", "Reproduce the experiments of papers, and compare."),
    "solve": ("tilewright.cli.solve:solve_command", "Solve a small board exactly."),
    "tables": ("tilewright.cli.tables:tables", "Describe a table of exact values, practise with it, or distil it."),
    "sweep": ("tilewright.cli.sweep:sweep_command", "Train with every combination of some keys, and compare."),
    "audit": ("tilewright.cli.audit:audit", "Check any implementation of 2048 against exact rules."),
    "bench": ("tilewright.cli.bench:bench", "Measure moves per second."),
    "agents": ("tilewright.cli.agents:agents", "List the agents, or the options of one."),
    "models": ("tilewright.cli.models:models", "List the trained models, describe or pack one."),
    "games": ("tilewright.cli.games:games", "List the games, or the options of one."),
    "doctor": ("tilewright.cli.doctor:doctor", "Check that everything works; print what a bug report needs."),
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
        code = _run_command(words or ["--help"])
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        _discard_output()
        return 1
    finally:  # the command has ended, perhaps by a KeyboardInterrupt of `_core.linking`
        for thread in threading.enumerate():
            if isinstance(thread, _RepeatedInterrupt):
                thread.cancel()
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard_output()
        gone = isinstance(error, BrokenPipeError)
        return 1 if gone else _complain(f"standard output: {error.strerror or error}", 1)
    return code


def _run_command(words: list[str]) -> int:
    try:
        cli.main(words, standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except UsageError as error:
        return _complain(str(error), 1 if is_full(error) else 2)
    except TilewrightError as error:
        return _complain(str(error), 1)
    except (KeyboardInterrupt, click.Abort):
        return _complain("stopped", 1)
    except ImportError as error:
        if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
        return _complain("stopped", 1)  # Ctrl-C while an extension module began, as those of pybind11 report it
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            return _complain(str(error), 1)
        impossible = error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP)
        return _complain(f"{shown(str(error.filename))}: {error.strerror or error}", 2 if impossible else 1)
    return 0


def _complain(message: str, code: int) -> int:
    """Print a message to standard error, if anybody can read it there; return the exit code."""
    lines = (shown(line, _LONGEST_LINE) for line in f"tilewright: {message}".split("\n"))
    with suppress(OSError, ValueError):
        print("\n".join(lines), file=sys.stderr, flush=True)
    return code


def _discard_output() -> None:
    """Send standard output nowhere, so that Python does not try to write the rest when it ends."""
    with suppress(OSError, ValueError):  # the stream may be no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _import_from_current_folder() -> None:
    """Let specs such as `my_module:MyAgent` name modules of the current folder, as `python -m` does."""
    try:
        folder = str(Path.cwd())
    except OSError:  # it was removed
        return
    if not sys.flags.safe_path and folder not in sys.path:
        sys.path.insert(0, folder)


def _open_standard_streams() -> None:
    """Replace streams that are closed (`>&-`), so that no file that is opened later takes their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line."""
    _complain(str(message), 0)


class _RepeatedInterrupt(threading.Timer):
    """Ctrl-C that is sent again after a while."""

    def __init__(self) -> None:
        super().__init__(_SOON_SECONDS, _interrupt)
        self.daemon = True


def _repeat_interrupt(dropped: "sys.UnraisableHookArgs") -> None:
    """Send Ctrl-C again if it came during a callback whose exceptions Python drops, after a line and a traceback."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    _RepeatedInterrupt().start()


def _interrupt() -> None:
    main_thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main_thread is not None:
        signal.pthread_kill(main_thread, signal.SIGINT)  # ends a wait, too
    else:
        _thread.interrupt_main()


def run() -> None:
    """Run the command of this process, and exit: the console script."""
    _open_standard_streams()
    warnings.showwarning = _show_warning  # where it comes from is of no interest
    sys.unraisablehook = _repeat_interrupt
    gc.set_threshold(50_000, 20, 100)  # compiling and importing make many objects that stay: fewer looks at all of them
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a board is printed even if the encoding lacks its lines
    _import_from_current_folder()
    try:
        sys.exit(main())
    finally:
        gc.freeze()  # nobody waits at the end for a search for garbage among all that was imported and compiled
