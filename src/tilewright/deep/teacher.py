"""Teachers: agents that label positions with their moves and the values of all moves."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import kernel
from tilewright.agents import make_agent
from tilewright.agents.base import Agent
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.policy import NO_ACTION, Policy, QValues, act
from tilewright.games.rules import ACTIONS, Rules, State
from tilewright.rng import Stream, stream_for

__all__ = ["Labels", "Teacher", "label_states"]

Words = NDArray[np.uint64]


class Labels(NamedTuple):
    """What a teacher says of n states."""

    actions: NDArray[np.int64]  # int64[n], the teacher's moves; -1 where no move is legal
    q_values: NDArray[np.float32]  # float32[n, 4], in points; -inf where illegal; all 0 if the teacher has no values


@kernel
def label_states(
    rules: Rules,
    policy: Policy,
    policy_values: QValues,
    cells: Words,
    extra: Words,
    stream: Stream,
    actions: NDArray[np.int64],
    q_values: NDArray[np.float32],
) -> None:
    """Ask a policy for its move in each of n states.

    Args:
        rules: The rules of the game.
        policy: The policy.
        policy_values: float[4], where the policy leaves the values of the four moves.
        cells: uint64[n], the first words of the states.
        extra: uint64[n], their second words.
        stream: uint64[2], advanced where the policy draws chance.
        actions: int64[n], overwritten by the moves; -1 where none is legal.
        q_values: float32[n, 4], overwritten by the values of the moves.
    """
    for i in range(len(cells)):
        actions[i] = act(policy, rules, State(cells[i], extra[i]), stream)[0]
        for action in range(4):
            q_values[i, action] = policy_values[action]


class Teacher:
    """An agent at work on one game, which labels states.

    >>> game = make_game("2048")
    >>> state = game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2").state
    >>> labels = Teacher("greedy", game).label(*(np.array([word], np.uint64) for word in state))
    >>> ACTIONS[labels.actions[0]] in ("left", "right")  # of equal moves, the agent draws one
    True

    Attributes:
        agent: The agent.
        game: The game.
        stream: uint64[2], what the agent draws chance from; advanced by `label`.
    """

    def __init__(self, agent: Agent | str, game: Game, seed: int = 0) -> None:
        """Put an agent to work.

        Args:
            agent: The agent, or its spec.
            game: The game.
            seed: The seed of the chance that the agent draws.

        Raises:
            SpecError: There is no such agent.
            UsageError: The agent cannot play the game.
            FileError: The agent's model cannot be read.
        """
        self.agent, self.game = make_agent(agent), game
        self.stream = stream_for(seed)
        self._player = self.agent.player(game)
        self._values = self._player.q_values
        if self._player.policy is None:
            self.agent.values(game.start())  # an agent in Python reads its model when it is first used

    @property
    def has_values(self) -> bool:
        """Whether the agent has values of moves, in points to the end of the game."""
        return self.agent.unit == "points" and self._values is not None

    def label(self, cells: Words, extra: Words) -> Labels:
        """Return the agent's moves and values in n states.

        Args:
            cells: uint64[n], the first words of the states.
            extra: uint64[n], their second words.
        """
        player, n = self._player, len(cells)
        labels = Labels(np.zeros(n, np.int64), np.zeros((n, 4), np.float32))
        if player.policy is not None:
            values = np.zeros(4, np.float32) if self._values is None else self._values
            label_states(self.game.rules, player.policy, values, cells, extra, self.stream, *labels)
            return labels
        for i, state in enumerate(map(State, cells.tolist(), extra.tolist())):
            move = player.analyse(Board(self.game, state), self.stream).move
            labels.actions[i] = NO_ACTION if move is None else ACTIONS.index(move)
        return labels
