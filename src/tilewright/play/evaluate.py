"""Play many games with an agent, on threads or on a cluster."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import TypeAlias

import numpy as np

from tilewright._core.cluster import Cluster
from tilewright._core.parallel import check_threads, default_threads, parallel_for
from tilewright._core.text import excerpt
from tilewright.agents import make_agent
from tilewright.agents.base import Agent, BatchAgent, Player
from tilewright.errors import FileError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.policy import GameResults, make_results, play_games
from tilewright.play.evaluation import Evaluation
from tilewright.play.recorder import GamesRecorder
from tilewright.play.recording import Recording, play_recorded
from tilewright.rng import new_stream, stream_key

__all__ = ["Evaluation", "evaluate"]

TASKS_PER_PROCESSOR = 8  # of a cluster
Progress: TypeAlias = Callable[[int], None]  # called with the number of games finished since the last call


def evaluate(
    agent: Agent | str,
    game: Game | str = "2048",
    *,
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    record: Path | str | None = None,
    force: bool = False,
    cluster: Cluster | None = None,
) -> Evaluation:
    """Play games with an agent, and return the results.

    The same seed gives the same games with any number of threads or machines.

    >>> evaluate("random", "2048", games=1000, seed=1).games
    1000

    Args:
        agent: An agent, or its spec.
        game: A game, or its spec.
        games: The number of games.
        seed: The seed of the games.
        threads: The number of threads; None for all processors.
        progress: Called with the number of games finished since the last call.
        record: A file to write the games to, in their order; `read_games` reads it.
        force: Whether `record` may replace a file of another kind.
        cluster: A Ray cluster that plays instead of threads.

    Raises:
        UsageError: An argument is impossible, or the games of a cluster are to be recorded.
        FileError: The games cannot be recorded, or not all of them; in that case, its attribute `partial` is the
            evaluation of the games finished until then.
        KeyboardInterrupt: On Ctrl-C; its attribute `partial` is the evaluation of the games finished until then. Games
            that have begun have two seconds to end; after that, searches are stopped, and their games do not count.
    """
    agent, game = make_agent(agent), make_game(game)
    games, seed = _whole("games", games), _whole("seed", seed)
    threads = default_threads() if threads is None else threads
    check_threads(threads)
    if games < 1:
        raise UsageError(f"games={games}: at least one game must be played")
    if cluster is not None and record is not None:
        raise UsageError("games that are played on a cluster cannot be recorded")
    evaluator = _Evaluator(agent, game, games, seed, threads if cluster is None else cluster.processors)
    if record is None:
        return evaluator.run(progress, None, cluster)
    with evaluator.partial_after(FileError), GamesRecorder(record, force=force) as recorder:
        return evaluator.run(progress, recorder, None)


def _whole(name: str, value: object) -> int:
    if not isinstance(value, Integral):
        raise UsageError(f"{name}={excerpt(value)}: must be a whole number")
    return int(value)


class _Evaluator:
    """One evaluation under way."""

    def __init__(self, agent: Agent, game: Game, games: int, seed: int, threads: int) -> None:
        self.agent, self.game, self.games, self.seed, self.threads = agent, game, games, seed, threads
        try:
            self.results = make_results(games)
        except (MemoryError, OverflowError, ValueError):
            raise UsageError(f"games={games}: there is not enough memory for the results") from None
        self.finished = np.zeros(games, np.bool_)
        self._players = threading.local()
        self._all_players: list[Player] = []
        self._abandoned = False  # the games that are under way
        self._began = 0.0
        self._result: Evaluation | None = None  # of all games

    def run(self, progress: Progress | None, recorder: GamesRecorder | None, cluster: Cluster | None) -> Evaluation:
        """Play all games, and return their results."""
        if cluster is None and self._warm_up(recorder):
            self.threads = 1
        self._began = time.perf_counter()
        with self.partial_after(KeyboardInterrupt):
            self._play_all(progress, recorder, cluster)
        self._result = self.evaluation()
        return self._result

    @contextmanager
    def partial_after(self, kind: type[BaseException]) -> Iterator[None]:
        """Give an error of this kind the evaluation of the games that are finished."""
        try:
            yield
        except kind as error:
            if self.finished.any():
                error.partial = self._result or self.evaluation()  # type: ignore[attr-defined]
            raise

    def evaluation(self) -> Evaluation:
        """Return the evaluation of the games that are finished."""
        scores, moves, codes = (array[self.finished] for array in self.results)
        return Evaluation(
            self.agent.spec,
            self.game,
            self.seed,
            self.threads,
            scores,
            moves,
            codes,
            seconds=time.perf_counter() - self._began,
            numbers=np.flatnonzero(self.finished),
        )

    def _play_all(self, progress: Progress | None, recorder: GamesRecorder | None, cluster: Cluster | None) -> None:
        if cluster is not None:
            self._play_on_cluster(cluster, progress)
        elif isinstance(self.agent, BatchAgent) and recorder is None:
            self._play_batches(self.agent, progress)
        else:
            parallel_for(
                lambda first, count: self._play(first, count, recorder),
                self.games,
                self.threads,
                progress,
                abandon=self._abandon,
            )

    def _abandon(self) -> None:
        """End the searches of all players; the games that are under way do not count."""
        self._abandoned = True
        for player in self._all_players:
            player.stop()

    def _warm_up(self, recorder: GamesRecorder | None) -> bool:
        """Load or compile the kernels, so that only playing is timed; return whether the agent plays in Python."""
        if isinstance(self.agent, BatchAgent):
            self._play_batch(self.agent, 0, 0)
            return True
        player = self._player()
        if player.policy is None:
            return True
        if recorder is None:
            self._play(0, 0, None)
        else:
            player.play(self.game.start(), 0, new_stream(), 0)
        return False

    def _player(self) -> Player:
        """Return the player of this thread."""
        if not hasattr(self._players, "player"):
            self._players.player = self.agent.player(self.game)
            self._all_players.append(self._players.player)
            if self._abandoned:
                self._players.player.stop()
        player: Player = self._players.player
        return player

    def _play(self, first: int, count: int, recorder: GamesRecorder | None) -> None:
        """Play some games on this thread."""
        player = self._player()
        if player.policy is not None and recorder is None:
            results = self._results_of(first, count)
            play_games(self.game.rules, player.policy, stream_key(self.seed), first, new_stream(), results)
            if not self._abandoned:
                self.finished[first : first + count] = True
        else:
            for number in range(first, first + count):
                recording = play_recorded(player, self.seed, number)
                self._note(recording)
                if recorder is not None:
                    recorder.add(recording)
                self.finished[number] = True

    def _note(self, recording: Recording) -> None:
        i, results = recording.number, self.results
        code = self.game.code(self.game.largest(recording.board(-1)))
        results.scores[i], results.moves[i], results.codes[i] = recording.score, len(recording.actions), code

    def _results_of(self, first: int, count: int) -> GameResults:
        return GameResults(*(array[first : first + count] for array in self.results))

    def _play_batches(self, agent: BatchAgent, progress: Progress | None) -> None:
        """Play the same batches every time: the last digit of a value may depend on the batch."""
        for first in range(0, self.games, agent.batch_size):
            count = min(agent.batch_size, self.games - first)
            self._play_batch(agent, first, count)
            if progress is not None:
                progress(count)

    def _play_batch(self, agent: BatchAgent, first: int, count: int) -> None:
        agent.play_batch(self.game, self.seed, first, self._results_of(first, count))
        self.finished[first : first + count] = True

    def _play_on_cluster(self, cluster: Cluster, progress: Progress | None) -> None:
        size = max(1, self.games // (TASKS_PER_PROCESSOR * cluster.processors))
        if isinstance(self.agent, BatchAgent):
            size = self.agent.batch_size
        tasks = [(first, min(size, self.games - first)) for first in range(0, self.games, size)]
        shared = [cluster.put(thing) for thing in (self.agent.loaded(self.game), self.game, self.seed)]
        for number, part in cluster.map(_play_task, tasks, shared):
            first, count = tasks[number]
            for whole, column in zip(self.results, part, strict=True):
                whole[first : first + count] = column
            self.finished[first : first + count] = True
            if progress is not None:
                progress(count)


def _play_task(agent: Agent, game: Game, seed: int, first: int, count: int) -> GameResults:
    """Play some games, in whatever process this is."""
    part = _Evaluator(agent, game, first + count, seed, 1)
    if isinstance(agent, BatchAgent):
        part._play_batch(agent, first, count)
    else:
        part._play(first, count, None)
    return part._results_of(first, count)
