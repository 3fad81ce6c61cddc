"""Play many games with an agent, and say how good it is."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright._core.cluster import Cluster
from tilewright._core.parallel import default_threads, parallel_for
from tilewright.agents.base import Agent, BatchAgent
from tilewright.agents.model_store import lend_models
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.episode import Episode
from tilewright.games.policy import Results, make_results, play_games
from tilewright.ntuple.model import Model
from tilewright.play.recorder import GamesRecorder, recording_of
from tilewright.play.recording import load_recording_kernel, play_recorded
from tilewright.play.statistics import Estimate, best_of_hundred, mean_of, rate_of
from tilewright.rng import new_stream, stream_key

__all__ = ["Evaluation", "evaluate"]

PIECES = 8  # that each processor of a cluster plays
Counts = NDArray[np.int64]
Progress = Callable[[int], None]  # is told how many games have just been finished


@dataclass(frozen=True)
class Evaluation:
    """The results of some games, game by game, and what they say of the agent."""

    agent: str
    game: Game
    seed: int
    threads: int
    scores: Counts
    moves: Counts
    codes: Counts  # the largest tile of each game, as its code
    seconds: float

    @property
    def games(self) -> int:
        return len(self.scores)

    @property
    def score(self) -> Estimate:
        return mean_of(self.scores)

    @property
    def max100(self) -> Estimate | None:
        """The mean of the best score of every hundred games."""
        return best_of_hundred(self.scores)

    @property
    def win_rate(self) -> Estimate | None:
        win = self.game.win_code
        return None if win is None else rate_of(int((self.codes >= win).sum()), self.games)

    @property
    def reach(self) -> dict[int, Estimate]:
        """For every tile from the smallest final one to the largest: how many games reached it."""
        lowest, highest = int(self.codes.min()), int(self.codes.max())
        return {
            self.game.value(code): rate_of(int((self.codes >= code).sum()), self.games)
            for code in range(max(1, lowest), highest + 1)
        }

    @property
    def moves_per_second(self) -> float:
        return float(self.moves.sum()) / max(self.seconds, 1e-9)

    def to_json(self) -> dict[str, Any]:
        """The figures, as `evaluate --json` prints them."""
        scores = self.scores
        return {
            "agent": self.agent,
            "game": self.game.spec,
            "games": self.games,
            "seed": self.seed,
            "threads": self.threads,
            "score": self.score.to_json() | {"max": int(scores.max()), "median": float(np.median(scores))},
            "max100": None if self.max100 is None else self.max100.to_json(),
            "win": None if self.win_rate is None else _rate_json(self.win_rate),
            "reach": {str(tile): _rate_json(rate) for tile, rate in self.reach.items()},
            "moves": int(self.moves.sum()),
            "seconds": self.seconds,
            "moves_per_second": self.moves_per_second,
        }


def _rate_json(rate: Estimate) -> dict[str, Any]:
    return {"rate": rate.value, "ci95": [rate.low, rate.high]}


def evaluate(
    agent: Agent,
    game: Game | None = None,
    *,
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    record: Path | None = None,
    cluster: Cluster | None = None,
) -> Evaluation:
    """Play `games` games; the same seed gives the same games, whatever the number of threads.

    `record` is a file for the games themselves, in their order, each as soon as it and those before it are finished.
    With a `cluster` its processors play, on whatever machines they are. When interrupted (Ctrl-C), the evaluation of
    the games that were finished is attached to the KeyboardInterrupt as `partial`.

    >>> evaluate(make_agent("random"), make_game("2048"), games=1000, seed=1).games
    1000
    """
    game = make_game() if game is None else game
    threads = default_threads() if threads is None else threads
    if games < 1:
        raise UsageError(f"games={games}: at least one game must be played")
    if cluster is not None:
        if record is not None:
            raise UsageError("games that are played on a cluster cannot be recorded")
        threads = cluster.processors
    policy = agent.policy(game) if cluster is None else None
    if policy is None and cluster is None:
        threads = min(threads, 1)
    try:
        results = make_results(games)
    except (MemoryError, OverflowError, ValueError):
        raise UsageError(f"games={games}: there is no memory for the results of so many") from None
    finished = np.zeros(games, np.bool_)

    def play(first: int, count: int) -> None:
        part = Results(*(array[first : first + count] for array in results))
        if recorder is not None:
            _play_recording(agent, game, seed, first, part, recorder)
        else:
            _play(agent, game, seed, first, part)
        finished[first : first + count] = True

    def result() -> Evaluation:
        scores, moves, codes = (array[finished] for array in results)
        return Evaluation(agent.spec, game, seed, threads, scores, moves, codes, time.perf_counter() - began)

    with nullcontext() if record is None else GamesRecorder(record) as recorder:
        if policy is not None or isinstance(agent, BatchAgent):
            play(0, 0)  # loads or compiles the kernel, so that only playing is timed
        began = time.perf_counter()
        try:
            if cluster is not None:
                _play_on_cluster(cluster, agent, game, seed, results, finished, progress)
            elif isinstance(agent, BatchAgent) and recorder is None:
                _play_in_turn(play, games, agent.batch_size, progress)
            else:
                parallel_for(play, games, threads, progress)
        except KeyboardInterrupt as stop:
            if finished.any():
                stop.partial = result()  # type: ignore[attr-defined]
            raise
        return result()


def _play_on_cluster(
    cluster: Cluster,
    agent: Agent,
    game: Game,
    seed: int,
    results: Results,
    finished: NDArray[np.bool_],
    progress: Progress | None,
) -> None:
    games = len(finished)
    size = max(1, games // (PIECES * cluster.processors))
    if isinstance(agent, BatchAgent):
        size = agent.batch_size
    pieces = [(first, min(size, games - first)) for first in range(0, games, size)]
    shared = [cluster.share(thing) for thing in (agent, agent.models(game), game.spec, seed)]
    for number, part in cluster.map(_play_piece, pieces, shared):
        first, count = pieces[number]
        for whole, column in zip(results, part, strict=True):
            whole[first : first + count] = column
        finished[first : first + count] = True
        if progress is not None:
            progress(count)


def _play_piece(agent: Agent, models: dict[str, Model], game: str, seed: int, first: int, count: int) -> Results:
    """Some games, in whatever process this is."""
    lend_models(models)
    results = make_results(count)
    _play(agent, make_game(game), seed, first, results)
    return results


def _play(agent: Agent, game: Game, seed: int, first: int, part: Results) -> None:
    """Games number `first` and on, as the agent plays them best; with room of its own, for any thread."""
    if isinstance(agent, BatchAgent):
        agent.play_batch(game, seed, first, part)
        return
    policy = agent.policy(game)
    if policy is None:
        _play_in_python(agent, game, seed, first, part)
    else:
        play_games(game.rules, policy, stream_key(seed), first, new_stream(), part)


def _play_in_turn(play: Callable[[int, int], None], games: int, batch_size: int, progress: Progress | None) -> None:
    """Always the same groups of games: what is computed for many boards at once may differ in the last digit."""
    for first in range(0, games, batch_size):
        count = min(batch_size, games - first)
        play(first, count)
        if progress:
            progress(count)


def _play_episode(agent: Agent, game: Game, seed: int, number: int) -> Episode:
    episode = Episode(game, seed, number)
    while not episode.is_over:
        episode.move(agent.move(episode.board, episode.stream))
    return episode


def _play_in_python(agent: Agent, game: Game, seed: int, first: int, part: Results) -> None:
    for i in range(len(part.scores)):
        episode = _play_episode(agent, game, seed, first + i)
        code = game.code(game.largest(episode.board))
        part.scores[i], part.moves[i], part.codes[i] = episode.score, len(episode.history), code


def _play_recording(agent: Agent, game: Game, seed: int, first: int, part: Results, recorder: GamesRecorder) -> None:
    policy = agent.policy(game)
    if not len(part.scores) and policy is not None:
        load_recording_kernel(game, policy)
    for i in range(len(part.scores)):
        if policy is None:
            found = recording_of(_play_episode(agent, game, seed, first + i), agent.spec)
        else:
            found = play_recorded(game, policy, agent.spec, seed, first + i)
        code = game.code(game.largest(found.board(-1)))
        part.scores[i], part.moves[i], part.codes[i] = found.score, len(found.actions), code
        recorder.add(found)
