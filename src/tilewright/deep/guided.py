"""`uct:prior=PATH`: tree search guided by the probabilities of a policy network."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tilewright.agents import AGENTS
from tilewright.agents.base import BatchAgent, values_by_action
from tilewright.agents.uct import UctAgent
from tilewright.deep.agent import PolicyAgent
from tilewright.deep.model import DeepModel
from tilewright.deep.policy import NetworkPolicy, make_game_batch, reset_games, step_games
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.policy import GameResults, Policy
from tilewright.rng import Stream, stream_for, stream_key
from tilewright.search.puct import Forest, make_forest, plant_roots, run_rollouts
from tilewright.search.rollouts import Rollouts

__all__ = ["GuidedUctAgent", "priors_of"]

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class GuidedUctAgent(UctAgent, BatchAgent):
    """UCT whose nodes have the probabilities of a policy network as priors; see `search.puct`.

    It plays the move that was tried most often. The value of a move is its fraction of the rollouts.
    """

    batch_size: ClassVar[int] = 250

    @property
    def spec(self) -> str:
        """The text that `make_agent` reads: with a prior, `uct` makes this agent."""
        return AGENTS.spec_of(self, UctAgent)

    @staticmethod
    def _is_prior(prior: object) -> bool:
        return isinstance(prior, str | Path | DeepModel) and bool(prior)

    def policy(self, game: Game) -> Policy:
        """Return None: the network is not computed in kernels."""
        return None

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        """Return the fraction of the rollouts that began with each legal move."""
        streams = stream_for(0) if stream is None else stream
        cells, extra = (np.array([word], np.uint64) for word in board.state)
        search = _Search(self, board.game, 1)
        return values_by_action(search.fractions(cells, extra, streams[None])[0])

    def loaded(self, game: Game) -> Self:
        """Return the agent with its models in memory."""
        return replace(super().loaded(game), prior=self.find_prior(game))

    def find_prior(self, game: Game) -> DeepModel:
        """Return the policy network, which can play a game; the errors are those of `PolicyAgent.find_model`."""
        prior = self.prior if isinstance(self.prior, Path | DeepModel) else str(self.prior)
        return PolicyAgent(prior).find_model(game)

    def play_batch(self, game: Game, seed: int, first: int, results: GameResults) -> None:
        """Play games number `first` and following side by side; see `BatchAgent`."""
        games = make_game_batch(len(results.scores))
        reset_games(game.rules, stream_key(seed), first, games, results)
        search = _Search(self, game, len(results.scores))
        playing = np.arange(len(results.scores))
        while len(playing):
            streams = games.streams[playing]
            fractions = search.fractions(games.cells[playing], games.extra[playing], streams)
            games.streams[playing] = streams
            step_games(game.rules, games, playing, fractions.argmax(axis=1), results)
            playing = playing[np.isfinite(fractions.max(axis=1))]


class _Search:
    """The trees of some games, and the network that guides them."""

    def __init__(self, agent: GuidedUctAgent, game: Game, num_games: int) -> None:
        self._game, self._count, self._c = game, agent.rollouts, float(agent.c)
        self._rollouts: Rollouts = agent._make_rollouts(game)
        self._policy: NetworkPolicy = agent.find_prior(game).policy
        self._forest: Forest = make_forest(num_games, agent.rollouts)

    def fractions(self, cells: Words, extra: Words, streams: Words) -> NDArray[np.float64]:
        """Search from m states: float64[m, 4], the fractions of the rollouts; -inf where a move is illegal.

        Args:
            cells: uint64[m], the first words of the states.
            extra: uint64[m], their second words.
            streams: uint64[m, 2], advanced in place.
        """
        forest, rules, m = self._forest, self._game.rules, len(cells)
        plant_roots(forest, rules, cells, extra, streams)
        nodes = np.zeros(m, np.int64)
        self._set_priors(nodes)
        for _ in range(self._count):
            run_rollouts(forest, self._rollouts, rules, self._c, nodes)
            self._set_priors(nodes)
        legal = (forest.legal[:m, :1] >> np.arange(4)) & 1
        return np.where(legal, forest.visits[:m, 0] / self._count, -np.inf)

    def _set_priors(self, nodes: NDArray[np.int64]) -> None:
        """Ask the network for the priors of one node in each game."""
        games = np.flatnonzero((nodes >= 0) & (self._forest.legal[np.arange(len(nodes)), nodes] != 0))
        if len(games):
            places = games, nodes[games]
            self._forest.prior[places] = priors_of(
                self._policy, self._game, self._forest.cells[places], self._forest.extra[places]
            )


def priors_of(policy: NetworkPolicy, game: Game, cells: Words, extra: Words) -> NDArray[np.float32]:
    """Return the probabilities of the moves in n states that are not over: float32[n, 4], 0 where one is illegal."""
    logits = policy.q_values(game, cells, extra)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    priors: NDArray[np.float32] = weights / weights.sum(axis=1, keepdims=True)
    return priors
