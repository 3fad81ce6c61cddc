"""UCT (Kocsis & Szepesvári 2006) for games of chance: a tree grown by playouts towards the moves that do well.

A node is a state. Under each of its four moves hang the states that the game's chance has brought so far:

    node ── left ──┬── a 2 in the corner ── up …
         │         └── a 4 in the middle ── …
         └─ up ──── …

Each rollout walks down from the root: by the move of the highest upper bound at a node, by chance at a move. The first
state that is not in the tree yet is added and played out, and what comes of it is credited to every move on the way.
The bound is

    mean + c · σ · sqrt(ln visits of the node / visits of the move)

where σ is the deviation of all rollouts so far: so c has no scale, and serves scores, sums and largest tiles alike.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, kernel
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import ILLEGAL, Rules, State, slide, spawn
from tilewright.rng import Key, Stream, new_stream, next_word, seed_stream
from tilewright.search.rollouts import Playouts, final_value, play_out

__all__ = ["Tree", "Uct", "grow", "make_uct"]

u64 = np.uint64
NONE = 0  # in place of a node: the root is nobody's child


class Tree(NamedTuple):
    """Room for the nodes, one a rollout and the root, which is number 0; and the way of the rollout under way."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    legal: NDArray[np.int64]  # bit `a` is set where move `a` is legal
    visits: NDArray[np.int64]  # int64[n, 4]: how many rollouts took a move
    total: NDArray[np.float64]  # float64[n, 4]: their values added up
    child: NDArray[np.int64]  # int64[n, 4]: the last state that chance brought after a move …
    sibling: NDArray[np.int64]  # int64[n]: … and the one before it
    way: NDArray[np.int64]  # int64[n, 2]: node, move


class Uct(NamedTuple):
    playouts: Playouts
    rollouts: int
    c: float
    tree: Tree
    key: Key  # what the stream of a move's rollouts is made from
    stream: Stream
    q_values: NDArray[np.float64]  # float64[4]: the mean of each move, -inf where it is not legal


def make_uct(playouts: Playouts, rollouts: int, c: float) -> Uct:
    """A policy with room of its own: one for every thread."""
    n = rollouts + 1
    tree = Tree(
        cells=np.empty(n, np.uint64),
        extra=np.empty(n, np.uint64),
        legal=np.empty(n, np.int64),
        visits=np.empty((n, 4), np.int64),
        total=np.empty((n, 4)),
        child=np.empty((n, 4), np.int64),
        sibling=np.empty(n, np.int64),
        way=np.empty((n, 2), np.int64),
    )
    return Uct(playouts, rollouts, c, tree, np.zeros(2, np.uint64), new_stream(), np.empty(4))


@implements(act, Uct)
def choose_by_tree(policy: Uct, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    action = grow(policy, rules, state, stream)
    if action == NO_ACTION:
        return NO_ACTION, state, 0
    after, reward = slide(rules, state, action)
    return action, after, reward


@kernel
def grow(policy: Uct, rules: Rules, root: State, stream: Stream) -> Int:
    """Grow a tree and fill `q_values`; the move of the highest mean, OVER where none is legal.

    As in `montecarlo`, a move takes two words of the game's stream, however many rollouts there are.
    """
    policy.key[0] = next_word(stream)
    policy.key[1] = next_word(stream)
    seed_stream(policy.stream, policy.key, u64(0))
    tree = policy.tree
    _set_node(tree, rules, 0, root)
    if tree.legal[0]:
        size = 1
        mean, squares = 0.0, 0.0  # of the rollouts so far: Welford's running mean and sum of squares
        for i in range(policy.rollouts):
            sigma = np.sqrt(squares / i) if squares > 0.0 else 1.0
            length, value, size = _walk(policy, rules, size, policy.c * sigma)
            for step in range(length):
                node, action = tree.way[step, 0], tree.way[step, 1]
                tree.visits[node, action] += 1
                tree.total[node, action] += value
            off = value - mean
            mean += off / (i + 1)
            squares += off * (value - mean)
    return _best(policy)


@kernel
def _set_node(tree: Tree, rules: Rules, node: Int, state: State) -> None:
    tree.cells[node], tree.extra[node] = state.cells, state.extra
    tree.legal[node], tree.sibling[node] = 0, NONE
    for action in range(4):
        tree.visits[node, action], tree.total[node, action], tree.child[node, action] = 0, 0.0, NONE
        if slide(rules, state, action)[1] != ILLEGAL:
            tree.legal[node] |= 1 << action


@inline
def _walk(policy: Uct, rules: Rules, size: Int, scale: float) -> tuple[Int, float, Int]:
    """One rollout: how many moves of it are in the tree, its value, and the size of the tree after it.

    Values count the points since the root, at every depth: there is one way to a node, so this shifts all means of a
    node by the same amount.
    """
    tree, stream = policy.tree, policy.stream
    node, length, score = 0, 0, 0
    state = State(tree.cells[0], tree.extra[0])
    while tree.legal[node]:
        action = _highest_bound(tree, node, scale)
        tree.way[length, 0], tree.way[length, 1] = node, action
        length += 1
        after, reward = slide(rules, state, action)
        state, gain = spawn(rules, after, stream)
        score += reward + gain
        found = tree.child[node, action]
        while found != NONE and (tree.cells[found] != state.cells or tree.extra[found] != state.extra):
            found = tree.sibling[found]
        if found == NONE:
            _set_node(tree, rules, size, state)
            tree.sibling[size] = tree.child[node, action]
            tree.child[node, action] = size
            return length, play_out(policy.playouts, rules, state, score, stream), size + 1
        node = found
    return length, final_value(policy.playouts, rules, state, score), size


@inline
def _highest_bound(tree: Tree, node: Int, scale: float) -> Int:
    """The first legal move that was never tried, or the one whose upper bound is highest."""
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
def _best(policy: Uct) -> Int:
    tree = policy.tree
    best, best_mean = NO_ACTION, -np.inf
    for action in range(4):
        policy.q_values[action] = -np.inf
        if (tree.legal[0] >> action) & 1:
            policy.q_values[action] = tree.total[0, action] / np.float64(tree.visits[0, action])
            if policy.q_values[action] > best_mean:
                best, best_mean = action, policy.q_values[action]
    return best
