"""UCT (Kocsis & Szepesvári 2006) with chance nodes: a tree that rollouts grow towards the moves that do well.

A node is a state. Below each of its four moves are the states that chance has brought so far:

    node ── left ──┬── a 2 in the corner ── up …
         │         └── a 4 in the middle ── …
         └─ up ──── …

Each rollout descends from the root: by the move of the highest upper confidence bound at a node, by chance after a
move. The first state that is not in the tree is added and rolled out, and the value is credited to every move on the
path. The upper confidence bound of a move is

    mean + c · σ · sqrt(ln visits of the node / visits of the move)

where σ is the standard deviation of all rollouts so far: so c has no scale, and serves scores, sums and tiles alike.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, kernel, linked
from tilewright.games.policy import act
from tilewright.games.rules import ILLEGAL, Rules, State, slide, spawn
from tilewright.rng import Key, Stream, new_stream, next_word, seed_stream
from tilewright.search.rollouts import Rollouts, final_value, roll_out
from tilewright.search.searcher import SearchControl, act_by_search, is_stopped, make_search_control, search

__all__ = ["Tree", "Uct", "make_uct"]

u64 = np.uint64
NONE = 0  # in place of a node: the root is nobody's child


class Tree(NamedTuple):
    """The nodes, one for every rollout and the root, which is number 0; and the path of the current rollout."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    legal: NDArray[np.int64]  # bit a is set where action a is legal
    visits: NDArray[np.int64]  # int64[n, 4]
    total: NDArray[np.float64]  # float64[n, 4]: the sum of the values of the visits
    child: NDArray[np.int64]  # int64[n, 4]: the last state that chance brought after a move …
    sibling: NDArray[np.int64]  # int64[n]: … and the one before it
    path: NDArray[np.int64]  # int64[n, 2]: node, action


class Uct(NamedTuple):
    """A UCT search with the workspace of one thread."""

    rollouts: Rollouts
    rollouts_per_move: int  # the number of rollouts of a move
    c: float
    tree: Tree
    key: Key  # what the stream of the rollouts is made from
    stream: Stream
    q_values: NDArray[np.float64]  # float64[4]: the mean of each move, -inf where it is illegal
    control: SearchControl


def make_uct(rollouts: Rollouts, count: int, c: float) -> Uct:
    """Return a search with a workspace for one thread."""
    n = count + 1
    tree = Tree(
        cells=np.empty(n, np.uint64),
        extra=np.empty(n, np.uint64),
        legal=np.empty(n, np.int64),
        visits=np.empty((n, 4), np.int64),
        total=np.empty((n, 4)),
        child=np.empty((n, 4), np.int64),
        sibling=np.empty(n, np.int64),
        path=np.empty((n, 2), np.int64),
    )
    return Uct(rollouts, count, c, tree, np.zeros(2, np.uint64), new_stream(), np.empty(4), make_search_control())


@implements(search, Uct)
def search_by_uct(uct: Uct, rules: Rules, state: State, stream: Stream) -> None:
    """Grow a tree from the state."""
    grow_tree(uct, rules, state, stream)


implements(act, Uct)(act_by_search)


@kernel
def grow_tree(uct: Uct, rules: Rules, root: State, stream: Stream) -> None:
    """Grow a tree and fill `q_values`.

    As in `montecarlo`, a move takes two words of the game's stream, whatever the number of rollouts.
    """
    uct.key[0] = next_word(stream)
    uct.key[1] = next_word(stream)
    seed_stream(uct.stream, uct.key, u64(0))
    tree = uct.tree
    _set_node(tree, rules, 0, root)
    if tree.legal[0]:
        size = 1
        mean, squares = 0.0, 0.0  # of the rollouts so far: Welford's running mean and sum of squares
        for i in range(uct.rollouts_per_move):
            if is_stopped(uct):
                return
            sigma = np.sqrt(squares / i) if squares > 0.0 else 1.0
            length, value, size = _run_rollout(uct, rules, size, uct.c * sigma)
            for step in range(length):
                node, action = tree.path[step, 0], tree.path[step, 1]
                tree.visits[node, action] += 1
                tree.total[node, action] += value
            deviation = value - mean
            mean += deviation / (i + 1)
            squares += deviation * (value - mean)
    _fill_q_values(uct)


@linked
def _set_node(tree: Tree, rules: Rules, node: Int, state: State) -> None:
    """Make a node of a state, without children."""
    tree.cells[node], tree.extra[node] = state.cells, state.extra
    tree.legal[node], tree.sibling[node] = 0, NONE
    for action in range(4):
        tree.visits[node, action], tree.total[node, action], tree.child[node, action] = 0, 0.0, NONE
        if slide(rules, state, action)[1] != ILLEGAL:
            tree.legal[node] |= 1 << action


@inline
def _run_rollout(uct: Uct, rules: Rules, size: Int, scale: float) -> tuple[Int, float, Int]:
    """Descend, expand and roll out: the number of moves in the tree, the value, and the size of the tree after it.

    Values count the points since the root at every depth: only one path leads to a node, so this shifts all means of a
    node by the same amount.
    """
    tree, stream = uct.tree, uct.stream
    node, length, score = 0, 0, 0
    state = State(tree.cells[0], tree.extra[0])
    while tree.legal[node]:
        action = _highest_bound(tree, node, scale)
        tree.path[length, 0], tree.path[length, 1] = node, action
        length += 1
        after, reward = slide(rules, state, action)
        state, spawn_reward = spawn(rules, after, stream)
        score += reward + spawn_reward
        child = tree.child[node, action]
        while child != NONE and (tree.cells[child] != state.cells or tree.extra[child] != state.extra):
            child = tree.sibling[child]
        if child == NONE:
            _set_node(tree, rules, size, state)
            tree.sibling[size] = tree.child[node, action]
            tree.child[node, action] = size
            return length, roll_out(uct.rollouts, rules, state, score, stream), size + 1
        node = child
    return length, final_value(uct.rollouts, rules, state, score), size


@inline
def _highest_bound(tree: Tree, node: Int, scale: float) -> Int:
    """Return the first legal move that was never tried, or the one of the highest upper confidence bound."""
    visits = 0
    for action in range(4):
        if (tree.legal[node] >> action) & 1 and tree.visits[node, action] == 0:
            return action
        visits += tree.visits[node, action]
    best, highest = 0, -np.inf
    width = scale * np.sqrt(np.log(np.float64(visits)))
    for action in range(4):
        n = np.float64(tree.visits[node, action])
        if n:
            bound = tree.total[node, action] / n + width / np.sqrt(n)
            if bound > highest:
                best, highest = action, bound
    return best


@inline
def _fill_q_values(uct: Uct) -> None:
    """Take the means of the root's moves."""
    tree = uct.tree
    for action in range(4):
        uct.q_values[action] = -np.inf
        if (tree.legal[0] >> action) & 1:
            uct.q_values[action] = tree.total[0, action] / np.float64(tree.visits[0, action])
