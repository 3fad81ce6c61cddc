"""Options that several commands share."""

import click
import pytest

from tests.cli.conftest import Command
from tilewright.cli.options import agent_option, chosen_cluster
from tilewright.errors import UsageError


def test_without_an_engine_there_is_no_cluster() -> None:
    with chosen_cluster("local", None, 2) as cluster:
        assert cluster is None


def test_an_address_needs_a_cluster() -> None:
    with pytest.raises(UsageError, match="--address goes with --engine ray"):
        chosen_cluster("local", "auto", None)


def test_the_help_says_what_the_default_agent_is() -> None:
    @click.command()
    @agent_option("The agent that plays.")
    def command(agent: str | None) -> None: ...

    text = " ".join(command.get_help(click.Context(command)).split())
    assert "The agent that plays. [default: the strongest agent that comes with the package]" in text


@pytest.mark.parametrize("name", ["move", "play", "review"])
def test_no_command_claims_that_the_default_agent_needs_no_training(command: Command, name: str) -> None:
    said = " ".join(command(name, "--help").out.split())
    assert "the strongest agent that comes with the package" in said
    assert "training" not in said
