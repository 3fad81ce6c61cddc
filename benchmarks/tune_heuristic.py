"""Find the weights of the heuristic: an evolution strategy over games with a shallow search.

    python benchmarks/tune_heuristic.py --late 15000 31000 --fixed growth size --minutes 30 --out weights.json

Candidates are drawn from a normal distribution over the logarithms of the weights; those that play best move its mean
and its covariance (CMA-ES, after Hansen's tutorial of 2016, without its step-size control: the spread follows from the
covariance alone). All candidates of a generation play the same numbered games, every generation other ones. Fitness is
the mean logarithm of the number of moves, from the start and from boards of `--late`: the package's network plays games
until the sum of the tiles reaches that number, because few games of so short a search have large tiles. The mean of the
distribution is the result, and what `search/heuristic.py` keeps. A weight of 0 stays 0.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tilewright import Board, make_agent
from tilewright._core.jit import Int, kernel
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import Rules, State, largest, spawn, start, tile_sum
from tilewright.rng import Key, Stream, new_stream, seed_stream, stream_key
from tilewright.search.expectimax import make_expectimax
from tilewright.search.heuristic import WEIGHTS, LineWeights, Weights, make_heuristic
from tilewright.search.minimax import make_minimax

u64 = np.uint64
NO_SUM = 2**62
Vector = NDArray[np.float64]
Words = NDArray[np.uint64]
Games = NDArray[np.int64]  # int64[games, 2]: moves and the code of the largest tile


@kernel
def play_on(
    rules: Rules, policy: Policy, key: Key, stream: Stream, cells: Words, extra: Words, stop_sum: Int, games: Games
) -> None:
    """Play on from every board, or from the start where it is empty, to the end or to a sum of the tiles."""
    for i in range(len(cells)):
        seed_stream(stream, key, u64(i))
        state, moves = State(cells[i], extra[i]), 0
        if not state.cells:
            state, _reward = start(rules, stream)
        while tile_sum(rules, state) < stop_sum:
            action, after, _reward = act(policy, rules, state, stream)
            if action == NO_ACTION:
                break
            state, _reward = spawn(rules, after, stream)
            moves += 1
        cells[i], extra[i] = state.cells, state.extra
        games[i, 0], games[i, 1] = moves, largest(rules, state)


class Positions:
    """Boards that games begin at: empty ones, and for every sum of `--late` those of the package's network."""

    def __init__(self, game: Game, options: argparse.Namespace) -> None:
        """Play the games of the network; those that end before the sum is reached are left out."""
        self.game, self.search = game, options.search
        self.boards = {0: np.zeros((2, 1), np.uint64)}
        for late in options.late:
            cells, extra = np.zeros((2, options.late_games), np.uint64)
            policy = make_agent("expectimax:depth=2").policy(game)
            games = np.zeros((len(cells), 2), np.int64)
            play_on(game.rules, policy, stream_key(options.seed), new_stream(), cells, extra, late, games)
            sums = [sum(map(sum, Board(game, State(int(c), int(e))).tiles)) for c, e in zip(cells, extra, strict=True)]
            reached = np.array(sums) >= late
            self.boards[late] = np.stack([cells[reached], extra[reached]])
            print(f"{reached.sum()} boards with a sum of {late:,}", flush=True)

    def play(self, weights: Weights, games: int, seed: int) -> dict[int, Games]:
        """Play games from the start, and twice as many from the boards of every late sum."""
        evaluator = make_heuristic(self.game, weights)
        if self.search == "minimax":
            policy: Policy = make_minimax(evaluator, depth=2)
        else:
            policy = make_expectimax(evaluator, [5], min_probability=0.1)
        rng, played = np.random.default_rng(seed), {}
        for late, boards in self.boards.items():
            cells, extra = boards[:, rng.integers(boards.shape[1], size=2 * games if late else games)]
            played[late] = np.zeros((len(cells), 2), np.int64)
            key, stop_sum = stream_key(seed), self._stop_sum(late)
            play_on(self.game.rules, policy, key, new_stream(), cells.copy(), extra.copy(), stop_sum, played[late])
        return played

    def _stop_sum(self, late: int) -> int:
        """Return where games from late boards end: when the tiles that are there have become one, and some more."""
        return int(2 ** np.ceil(np.log2(late))) + 500 if late else NO_SUM


def fitness(played: dict[int, Games]) -> float:
    """Return the mean logarithm of the moves, of the starts and of the late boards alike."""
    return float(np.mean([np.log(np.maximum(games[:, 0], 1)).mean() for games in played.values()]))


def numbers_of(weights: Weights) -> Vector:
    """Return all weights in one row."""
    return np.array([*weights[:3], *weights.edge, *weights.inner])


def weights_of(numbers: Vector) -> Weights:
    """Return the weights of such a row."""
    base, power, growth, *lines = map(float, numbers)
    half = len(lines) // 2
    return Weights(base, power, growth, LineWeights(*lines[:half]), LineWeights(*lines[half:]))


class Scale:
    """The logarithms of weights; a weight of 0 stays 0, and a negative one negative."""

    def __init__(self, model: Weights, fixed: list[str]) -> None:
        """Take the signs of the weights of `model`, and the values of those that are `fixed`."""
        self.model = numbers_of(model)
        names = [*Weights._fields[:3], *LineWeights._fields, *LineWeights._fields]
        self.free = (self.model != 0) & ~np.isin(names, fixed)

    def vector(self) -> Vector:
        """Return the logarithms of the model."""
        logarithms: Vector = np.log(np.abs(self.model[self.free]))
        return logarithms

    def weights(self, vector: Vector) -> Weights:
        """Return the weights of a vector of logarithms."""
        numbers = self.model.copy()
        numbers[self.free] = np.sign(numbers[self.free]) * np.exp(vector)
        return weights_of(numbers)


class Evolution:
    """The distribution of candidates, and how the best of them change it."""

    def __init__(self, mean: Vector, spread: float, candidates: int) -> None:
        n, self.candidates = len(mean), candidates
        self.mean, self.covariance, self.path = mean, np.eye(n) * spread**2, np.zeros(n)
        shares = np.log(candidates / 2 + 0.5) - np.log(np.arange(1, candidates // 2 + 1))
        self.shares = shares / shares.sum()
        effective = 1 / (self.shares**2).sum()  # how many parents the shares stand for
        self.path_rate = (4 + effective / n) / (n + 4 + 2 * effective / n)
        self.path_noise = np.sqrt(self.path_rate * (2 - self.path_rate) * effective)
        self.rank_one = 2 / ((n + 1.3) ** 2 + effective)
        self.rank_many = min(1 - self.rank_one, 2 * (effective - 2 + 1 / effective) / ((n + 2) ** 2 + effective))

    def draw(self, rng: np.random.Generator) -> Vector:
        return rng.multivariate_normal(self.mean, self.covariance, self.candidates)

    def learn(self, candidates: Vector, found: Vector) -> None:
        parents = candidates[np.argsort(-found)[: len(self.shares)]] - self.mean
        step = self.shares @ parents
        self.mean = self.mean + step
        self.path = (1 - self.path_rate) * self.path + self.path_noise * step
        many = (self.shares[:, None] * parents).T @ parents
        old = (1 - self.rank_one - self.rank_many) * self.covariance
        self.covariance = old + self.rank_one * np.outer(self.path, self.path) + self.rank_many * many


def tune(positions: Positions, model: Weights, options: argparse.Namespace) -> Weights:
    """Return the mean of the distribution when the time is up."""
    rng = np.random.default_rng(options.seed)
    scale = Scale(model, options.fixed)
    evolution = Evolution(scale.vector(), options.spread, options.candidates)
    began, generation = time.perf_counter(), 0
    while time.perf_counter() - began < 60 * options.minutes:
        generation += 1
        candidates = evolution.draw(rng)
        seed = options.seed + generation
        found = np.array([fitness(positions.play(scale.weights(c), options.games, seed)) for c in candidates])
        evolution.learn(candidates, found)
        print(
            f"{time.perf_counter() - began:5.0f} s  generation {generation}: "
            f"fitness {np.median(found):.3f}, best {found.max():.3f}; "
            + " ".join(f"{value:.4g}" for value in np.exp(evolution.mean)),
            flush=True,
        )
    return scale.weights(evolution.mean)


def describe(name: str, positions: Positions, weights: Weights, options: argparse.Namespace) -> None:
    """Print how the weights do in games that no candidate played."""
    for late, games in positions.play(weights, options.check_games, 1_000_000).items():
        codes = range(int(games[:, 1].min()), int(games[:, 1].max()) + 1)
        reach = ", ".join(f"{positions.game.value(code)} {(games[:, 1] >= code).mean():.1%}" for code in codes)
        print(f"{name}, from a sum of {late:,}: {games[:, 0].mean():,.0f} moves; {reach}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="2048")
    parser.add_argument("--search", choices=["expectimax", "minimax"], default="expectimax")
    parser.add_argument(
        "--late", type=int, nargs="*", default=[], help="sums of tiles of boards that games begin at, too"
    )
    parser.add_argument("--late-games", type=int, default=200, help="games of the network for each of these sums")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--games", type=int, default=10, help="games of each candidate in a generation, from the start")
    parser.add_argument("--check-games", type=int, default=50, help="games that compare the weights before and after")
    parser.add_argument("--fixed", nargs="*", default=[], help="names of weights that are not tuned")
    parser.add_argument("--spread", type=float, default=0.3, help="of the first candidates' logarithms")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="weights to begin with, as --out writes them")
    parser.add_argument("--out", type=Path, help="where to write the weights, as JSON")
    options = parser.parse_args()
    game = make_game(options.game)
    model = WEIGHTS[game.name]
    if options.start:
        model = weights_of(np.array(json.loads(options.start.read_text())))
    positions = Positions(game, options)
    describe("before", positions, model, options)
    tuned = tune(positions, model, options)
    describe("after", positions, tuned, options)
    print(tuned)
    if options.out:
        options.out.write_text(json.dumps(numbers_of(tuned).tolist()) + "\n")


if __name__ == "__main__":
    main()
