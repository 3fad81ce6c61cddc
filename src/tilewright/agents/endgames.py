"""Endgame tables for agents that value moves by their expected further score."""

import numpy as np

from tilewright.agents.exact import find_table
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.policy import Policy, innermost
from tilewright.search.endgames import WithEndgames

__all__ = ["with_endgames"]


def with_endgames(policy: Policy, files: str, game: Game) -> Policy:
    """Return a policy whose values are corrected where the board is in an endgame table.

    Args:
        policy: A policy with the field `q_values`, or a wrapper of one.
        files: The files of the tables, with `+` between them; empty for the policy as it is.
        game: The game.

    Raises:
        FileError: A file cannot be read, is damaged, or is not a table.
        SpecError: A table is of another game, or is of a whole game.
    """
    if not files:
        return policy
    tables = [find_table(file) for file in files.split("+")]
    for table in tables:
        if not table.problem.walls:
            raise SpecError(f"{table.path}: is of a whole game, no endgame; the agent `exact` plays by it")
        table.check_plays(game)
    policies = tuple(table.policy() for table in tables)
    return WithEndgames(policy, policies, innermost(policy).q_values, np.zeros(2, np.int64))
