"""Endgame tables for agents that value moves by their expected further score."""

import numpy as np

from tilewright.agents.exact import find_table
from tilewright.errors import SpecError
from tilewright.exact.policy import ExactPolicy
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.ntuple.downgrade import Downgrading
from tilewright.search.endgames import EndgameLeaves, EndgameSearch, WithEndgames
from tilewright.search.expectimax import Expectimax
from tilewright.search.transposition import make_transposition_table

__all__ = ["search_with_endgames", "with_endgames"]

TRANSPOSITION_MEGABYTES = 0.5  # emptied before every search


def with_endgames(policy: Policy, files: str, game: Game) -> Policy:
    """Return a policy whose values are corrected where the board is in an endgame table.

    Args:
        policy: A policy with the field `q_values`, or a wrapper of one.
        files: The files of the tables, with `+` between them; empty for the policy as it is.
        game: The game.

    Raises:
        FileError: A file cannot be read, is damaged, or is no table.
        SpecError: A table is of another game, or is of a whole game.
    """
    if not files:
        return policy
    innermost = policy
    while hasattr(innermost, "policy"):
        innermost = innermost.policy
    return WithEndgames(policy, _tables(files, game), innermost.q_values, np.zeros(2, np.int64))


def search_with_endgames(
    policy: Policy, search: Expectimax, downgrading: Downgrading, files: str, game: Game
) -> Policy:
    """Return a search whose leaves are corrected where the board is in an endgame table.

    Args:
        policy: The search as a policy, maybe on downgraded boards.
        search: The search alone.
        downgrading: How boards are downgraded.
        files: The files of the tables, with `+` between them; empty for the policy as it is.
        game: The game.

    Raises:
        FileError: A file cannot be read, is damaged, or is no table.
        SpecError: A table is of another game, or is of a whole game.
    """
    if not files:
        return policy
    evaluator, transpositions = search.evaluator, make_transposition_table(TRANSPOSITION_MEGABYTES)
    leaves = EndgameLeaves(evaluator, _tables(files, game), np.zeros(1, np.int64), np.zeros(2), evaluator.q_values)
    searcher = search._replace(evaluator=leaves, table=transpositions)
    return EndgameSearch(policy, searcher, leaves, transpositions, downgrading, np.zeros(1, np.int64))


def _tables(files: str, game: Game) -> tuple[ExactPolicy, ...]:
    tables = [find_table(file) for file in files.split("+")]
    for table in tables:
        if not table.problem.walls:
            raise SpecError(f"{table.path}: is of a whole game, no endgame; the agent `exact` plays by it")
        table.check_plays(game)
    return tuple(table.policy() for table in tables)
