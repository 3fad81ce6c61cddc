"""The commands: what `--help` says, as Markdown."""

import inspect
import re
from pathlib import Path

import click

from _reference.markdown import code, table
from tilewright.cli.main import COMMANDS, cli

__all__ = ["commands"]


def commands() -> str:
    """Return a section for every command."""
    context = click.Context(cli, info_name="tilewright")
    return "\n".join(_section(name, context) for name in COMMANDS)


def _section(name: str, parent: click.Context) -> str:
    command = cli.get_command(parent, name)
    if command is None:
        raise LookupError(name)
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(["tilewright", name, *command.collect_usage_pieces(context)])
    text, _, examples = inspect.cleandoc(command.help or "").partition("\b\nExamples:\n")
    parts = [f"## `{name}`", f"```\n{usage}\n```", _paragraphs(text)]
    if examples:
        lines = [line.strip() for line in examples.strip("\n").splitlines()]
        parts.append("```\n" + "\n".join(lines) + "\n```")
    rows = [_row(option, context) for option in command.params if isinstance(option, click.Option)]
    parts.append(table(("option", "value", "default", "meaning"), rows))
    return "\n\n".join(parts)


def _paragraphs(text: str) -> str:
    """Return the text with one line per paragraph; options and words in capitals stay as they are."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip())]
    return "\n\n".join(re.sub(r"(?<![\w`])(--[\w-]+)", r"`\1`", paragraph) for paragraph in paragraphs)


def _row(option: click.Option, context: click.Context) -> tuple[str, str, str, str]:
    names = ", ".join(map(code, [*option.opts, *option.secondary_opts]))
    value = "" if option.is_flag else code(option.make_metavar(context))
    return names, value, _default(option), _paragraphs(option.help or "")


def _default(option: click.Option) -> str:
    shown = option.show_default if isinstance(option.show_default, str) else ""
    if shown or option.is_flag or option.default in (None, (), "") or callable(option.default):
        return shown
    is_a_value = isinstance(option.default, str | int | float | Path)
    return code(option.default) if is_a_value else ""
