"""UCT finds what best play is worth where playouts alone do not, and keeps its books.

All draws are seeded. Rates of false alarms are not known for UCT; the margins are several times what was seen.
"""

import numpy as np
import pytest

from tests.games.naive import State as Naive
from tests.search.exact import GAMES, best_values, board_of, playout_values, some_states
from tilewright import make_agent, make_game
from tilewright.agents.random import RandomPolicy
from tilewright.agents.uct import UctAgent
from tilewright.games.board import Board
from tilewright.games.rules import ACTIONS, State, typed_state
from tilewright.rng import stream_for
from tilewright.search.mcts import Uct, grow_tree, make_uct
from tilewright.search.rollouts import NO_LIMIT, NoEvaluator, make_rollouts


@pytest.mark.parametrize("game", GAMES)
def test_it_finds_the_best_move_and_comes_near_its_value(game: str) -> None:
    """The best move by dynamic programming, or one within 2 % of it; more rollouts bring values nearer to it."""
    exact, states = best_values(game), some_states(game, 25)
    off = {}
    for rollouts in (10_000, 200_000):
        agent, found = make_agent(f"uct:rollouts={rollouts}"), []
        for number, state in enumerate(states):
            values = agent.values(board_of(game, state), stream_for(1, number))
            move, best = max(values, key=lambda action: values[action]), max(exact[state].values())
            found.append(abs(values[move] - best) / (best + 1))
            if rollouts == 200_000:
                assert exact[state][move] >= 0.98 * best, state
        off[rollouts] = np.mean(found)
    assert off[200_000] < 0.5 * off[10_000]
    assert off[200_000] < 0.08


@pytest.mark.parametrize("game", GAMES)
def test_it_knows_more_than_its_playouts(game: str) -> None:
    """At the states where best play gains most on random play, its values are far nearer to best play."""
    best, random = best_values(game), playout_values(game, "score", "random")

    def gain(state: Naive) -> float:
        return max(best[state].values()) - max(expected.mean for expected in random[state].values())

    for state in sorted(some_states(game, 200), key=gain)[-10:]:
        values = make_agent("uct:rollouts=200000").values(board_of(game, state), stream_for(2))
        assert max(best[state].values()) - max(values.values()) < 0.5 * gain(state)


def grown(board: Board, agent: UctAgent) -> Uct:
    policy: Uct = agent.policy(board.game)
    grow_tree(policy, board.game.rules, typed_state(board.state), stream_for(3))
    return policy


def board_at(policy: Uct, node: int, like: Board) -> Board:
    return Board(like.game, State(int(policy.tree.cells[node]), int(policy.tree.extra[node])))


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_the_tree_is_one_of_legal_moves_and_possible_tiles(game: str) -> None:
    root = make_game(game).start(5)
    rollouts = 400
    policy = grown(root, UctAgent(rollouts=rollouts))
    tree, seen, depth = policy.tree, 0, 0
    assert tree.visits[0].sum() == rollouts
    waiting = [(0, root, 0)]
    while waiting:
        node, board, level = waiting.pop()
        seen, depth = seen + 1, max(depth, level)
        assert board_at(policy, node, root) == board
        for number, action in enumerate(ACTIONS):
            if action not in root.game.legal(board):
                assert tree.visits[node, number] == 0
                continue
            possible = {outcome for outcome, _ in root.game.outcomes(root.game.slide(board, action)[0])}
            children, child = [], int(tree.child[node, number])
            while child:
                children.append(child)
                child = int(tree.sibling[child])
            boards = [board_at(policy, child, root) for child in children]
            assert len(set(boards)) == len(boards)
            assert set(boards) <= possible
            # Each state was added by one rollout, and the others went on from it.
            assert tree.visits[node, number] == sum(1 + tree.visits[child].sum() for child in children)
            waiting += [(child, outcome, level + 1) for child, outcome in zip(children, boards, strict=True)]
    assert seen == rollouts + 1
    assert depth >= 2


def test_its_values_are_the_means_of_the_rollouts_at_the_root() -> None:
    board, agent = make_game().start(5), UctAgent(rollouts=300)
    tree = grown(board, agent).tree
    means = {action: tree.total[0, i] / tree.visits[0, i] for i, action in enumerate(ACTIONS) if tree.visits[0, i]}
    assert agent.values(board, stream_for(3)) == means


@pytest.mark.parametrize("c", [0.1, 1.0, 10.0])
def test_c_has_no_scale(c: float) -> None:
    """Tiles that count a thousand times as much change no visit."""
    board = make_game().start(6)
    visits = []
    for factor in (1, 1024):
        tiles = tuple(factor * tile for tile in board.game.tile_values)
        policy = make_uct(make_rollouts(RandomPolicy(), NoEvaluator(), NO_LIMIT, "largest", tiles), 500, c)
        grow_tree(policy, board.game.rules, typed_state(board.state), stream_for(4))
        visits.append(policy.tree.visits[0].tolist())
    assert visits[0] == visits[1]


def test_with_much_curiosity_it_tries_all_moves_alike_and_with_none_it_does_not() -> None:
    board = make_game().parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    alike = grown(board, UctAgent(rollouts=400, c=1000.0)).tree.visits[0]
    eager = grown(board, UctAgent(rollouts=400, c=0.0)).tree.visits[0]
    assert np.ptp(alike) <= 4
    assert eager.max() > 2 * 400 / 4


def test_the_fewest_rollouts_try_every_move_once() -> None:
    board = make_game().parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    assert grown(board, UctAgent(rollouts=4)).tree.visits[0].tolist() == [1, 1, 1, 1]


def test_the_same_stream_grows_the_same_tree() -> None:
    board, agent = make_game().start(7), make_agent("uct:rollouts=200")
    assert agent.values(board, stream_for(1)) == agent.values(board, stream_for(1))
    assert agent.values(board, stream_for(1)) != agent.values(board, stream_for(2))
