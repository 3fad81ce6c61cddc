"""UCT guided by a prior (PUCT; Rosin 2011, Silver et al. 2017), with chance nodes, in many games side by side.

The tree is that of `mcts`: below each move of a node are the states that chance has brought. The bound of a move is

    mean + c · σ · prior · sqrt(visits of the node) / (1 + visits of the move)

where σ is the standard deviation of all rollouts so far. A move that was never tried has the mean of its node. The
priors of a node are not needed before it is visited a second time: so one kernel call makes a rollout in every game,
and the caller asks a network for the priors of all new nodes at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, inline, kernel, linked
from tilewright._core.memory import check_memory
from tilewright.games.rules import ILLEGAL, Rules, State, slide, spawn
from tilewright.rng import next_word, seed_stream
from tilewright.search.rollouts import Rollouts, final_value, roll_out

__all__ = ["NO_NODE", "Forest", "make_forest", "plant_roots", "run_rollouts"]

u64 = np.uint64
NO_CHILD = 0  # in place of a node: the root is nobody's child
_NODE_BYTES = 144
NO_NODE = -1  # a rollout that ended in the tree added no node


class Forest(NamedTuple):
    """A tree for each of g games with room for n nodes; node 0 is the root. Updated in place."""

    cells: NDArray[np.uint64]  # uint64[g, n]
    extra: NDArray[np.uint64]  # uint64[g, n]
    legal: NDArray[np.int64]  # int64[g, n]: bit a is set where action a is legal
    prior: NDArray[np.float32]  # float32[g, n, 4]
    visits: NDArray[np.int64]  # int64[g, n, 4]
    total: NDArray[np.float64]  # float64[g, n, 4]: the sum of the values of the visits
    child: NDArray[np.int64]  # int64[g, n, 4]: the last state that chance brought after a move …
    sibling: NDArray[np.int64]  # int64[g, n]: … and the one before it
    path: NDArray[np.int64]  # int64[n, 2]: node and action of the current rollout
    size: NDArray[np.int64]  # int64[g]: the number of nodes
    moments: NDArray[np.float64]  # float64[g, 3]: number, mean and sum of squares of the rollouts (Welford)
    streams: NDArray[np.uint64]  # uint64[g, 2]
    key: NDArray[np.uint64]  # uint64[2], workspace


def make_forest(num_games: int, rollouts: int) -> Forest:
    """Return room for the trees of a number of games with a number of rollouts each.

    Raises:
        UsageError: There is not enough memory.
    """
    shape = (num_games, rollouts + 1)
    check_memory(
        _NODE_BYTES * num_games * (rollouts + 1), f"a guided search of {num_games:,} games with {rollouts:,} rollouts"
    )
    return Forest(
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.int64),
        np.zeros((*shape, 4), np.float32),
        np.zeros((*shape, 4), np.int64),
        np.zeros((*shape, 4)),
        np.zeros((*shape, 4), np.int64),
        np.zeros(shape, np.int64),
        np.zeros((rollouts + 1, 2), np.int64),
        np.zeros(num_games, np.int64),
        np.zeros((num_games, 3)),
        np.zeros((num_games, 2), np.uint64),
        np.zeros(2, np.uint64),
    )


@linked
def _set_node(forest: Forest, rules: Rules, game: Int, node: Int, state: State) -> None:
    """Make a node of a state, without children and priors."""
    forest.cells[game, node], forest.extra[game, node] = state.cells, state.extra
    forest.legal[game, node], forest.sibling[game, node] = 0, NO_CHILD
    for action in range(4):
        forest.prior[game, node, action], forest.visits[game, node, action] = 0, 0
        forest.total[game, node, action], forest.child[game, node, action] = 0.0, NO_CHILD
        if slide(rules, state, action)[1] != ILLEGAL:
            forest.legal[game, node] |= 1 << action


@kernel
def plant_roots(
    forest: Forest,
    rules: Rules,
    cells: NDArray[np.uint64],
    extra: NDArray[np.uint64],
    streams: NDArray[np.uint64],
) -> None:
    """Begin a tree for each of m states, where m is at most the number of games of the forest.

    Args:
        forest: The trees; the first m are overwritten.
        rules: The rules of the game.
        cells: uint64[m], the first words of the states.
        extra: uint64[m], their second words.
        streams: uint64[m, 2], the streams of the games; as in `mcts`, a move takes two words of them.
    """
    for game in range(len(cells)):
        forest.key[0] = next_word(streams[game])
        forest.key[1] = next_word(streams[game])
        seed_stream(forest.streams[game], forest.key, u64(0))
        forest.size[game] = 1
        forest.moments[game, :] = 0.0
        _set_node(forest, rules, game, 0, State(cells[game], extra[game]))


@kernel
def run_rollouts(forest: Forest, rollouts: Rollouts, rules: Rules, c: float, nodes: NDArray[np.int64]) -> None:
    """Make one rollout in each of m games.

    Args:
        forest: The trees, updated in place.
        rollouts: How rollouts are played.
        rules: The rules of the game.
        c: The weight of exploration.
        nodes: int64[m], overwritten by the new nodes, whose priors are not known yet; -1 where there is none.
    """
    for game in range(len(nodes)):
        nodes[game] = NO_NODE
        if forest.legal[game, 0]:
            nodes[game] = _run_rollout(forest, rollouts, rules, c, game)


@inline
def _run_rollout(forest: Forest, rollouts: Rollouts, rules: Rules, c: float, game: Int) -> Int:
    """Descend, expand, roll out and credit the value to the moves of the path: the new node."""
    moments, stream = forest.moments[game], forest.streams[game]
    sigma = np.sqrt(moments[2] / moments[0]) if moments[2] > 0.0 else 1.0
    node, length, score = 0, 0, 0
    added: Int = NO_NODE
    state = State(forest.cells[game, 0], forest.extra[game, 0])
    while forest.legal[game, node] and added == NO_NODE:
        action = _best_move(forest, game, node, c * sigma)
        forest.path[length, 0], forest.path[length, 1] = node, action
        length += 1
        after, reward = slide(rules, state, action)
        state, spawn_reward = spawn(rules, after, stream)
        score += reward + spawn_reward
        child = forest.child[game, node, action]
        while child != NO_CHILD and (
            forest.cells[game, child] != state.cells or forest.extra[game, child] != state.extra
        ):
            child = forest.sibling[game, child]
        if child == NO_CHILD:
            added = np.int64(forest.size[game])
            forest.size[game] += 1
            _set_node(forest, rules, game, added, state)
            forest.sibling[game, added] = forest.child[game, node, action]
            forest.child[game, node, action] = added
        node = child
    if added == NO_NODE:
        value = final_value(rollouts, rules, state, score)
    else:
        value = roll_out(rollouts, rules, state, score, stream)
    for step in range(length):
        forest.visits[game, forest.path[step, 0], forest.path[step, 1]] += 1
        forest.total[game, forest.path[step, 0], forest.path[step, 1]] += value
    moments[0] += 1
    deviation = value - moments[1]
    moments[1] += deviation / moments[0]
    moments[2] += deviation * (value - moments[1])
    return added


@inline
def _best_move(forest: Forest, game: Int, node: Int, scale: float) -> Int:
    """Return the legal move of the highest bound; the first one of the highest prior if none was tried."""
    visits, total = 0, 0.0
    for action in range(4):
        visits += forest.visits[game, node, action]
        total += forest.total[game, node, action]
    width = scale * np.sqrt(np.float64(max(visits, 1)))
    best, highest = 0, -np.inf
    for action in range(4):
        if (forest.legal[game, node] >> action) & 1:
            n = forest.visits[game, node, action]
            mean = forest.total[game, node, action] / n if n else total / visits if visits else 0.0
            bound = mean + width * np.float64(forest.prior[game, node, action]) / (1.0 + n)
            if bound > highest:
                best, highest = action, bound
    return best
