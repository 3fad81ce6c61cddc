"""Find the weights of the heuristic: an evolution strategy over games played with one layer of chance looked through.

    python benchmarks/tune_heuristic.py --game 2048 --minutes 8 --out weights.json

Candidates are drawn from a normal distribution over the logarithms of the weights; those that play best move its mean
and its covariance (CMA-ES, after Hansen's tutorial of 2016, without its step-size control: the spread follows from the
covariance alone). All candidates of a generation play the same numbered games, every generation other ones; fitness
is the mean logarithm of the score, from the start and from every board of `--late`, where large tiles are there
already: few games of so short a search make them. The mean of the distribution is the result, and what
`search/heuristic.py` keeps.
"""

import argparse
import json
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, kernel
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.policy import NO_ACTION, GameResults, Policy, act, make_results
from tilewright.games.rules import ILLEGAL, Outcomes, Rules, State, largest, outcomes, slide, spawn, start
from tilewright.games.state_kernels import make_outcomes, typed_state
from tilewright.rng import Key, Stream, new_stream, seed_stream, stream_key
from tilewright.search.evaluator import evaluate_state
from tilewright.search.heuristic import WEIGHTS, Heuristic, LineWeights, Weights, make_heuristic
from tilewright.search.minimax import make_minimax

u64 = np.uint64
Vector = NDArray[np.float64]


class TwoMoves(NamedTuple):
    """A move, every tile that may come, and the best move then."""

    evaluator: Heuristic
    chances: Outcomes


@implements(act, TwoMoves, forceinline=False)
def choose_by_two_moves(policy: TwoMoves, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    best_action, best_after, best_reward, best = NO_ACTION, state, 0, -np.inf
    chance = policy.chances
    for action in range(4):
        after, reward = slide(rules, state, action)
        if reward == ILLEGAL:
            continue
        q_values = float(reward)
        for i in range(outcomes(rules, after, chance)):
            following = evaluate_state(policy.evaluator, rules, State(chance.cells[i], chance.extra[i]))
            q_values += chance.probability[i] * (chance.reward[i] + following)
        if q_values > best:
            best_action, best_after, best_reward, best = action, after, reward, q_values
    return best_action, best_after, best_reward


@kernel
def play_on(rules: Rules, policy: Policy, begin: State, key: Key, stream: Stream, results: GameResults) -> None:
    """Games that begin at a given state, or at the start where it is empty; scores are what is won from there on."""
    for i in range(len(results.scores)):
        seed_stream(stream, key, u64(i))
        state, score, count = begin, 0, 0
        if not begin.cells:
            state, score = start(rules, stream)
        while True:
            action, after, reward = act(policy, rules, state, stream)
            if action == NO_ACTION:
                break
            state, gain = spawn(rules, after, stream)
            score += reward + gain
            count += 1
        results.scores[i], results.moves[i], results.codes[i] = score, count, largest(rules, state)


def play(game: Game, weights: Weights, games: int, seed: int, options: argparse.Namespace) -> list[GameResults]:
    """Games from the start, and as many from every board of `--late`."""
    evaluator = make_heuristic(game, weights)
    policy = (
        TwoMoves(evaluator, make_outcomes()) if options.search == "expectimax" else make_minimax(evaluator, depth=2)
    )
    played = [make_results(games) for _ in range(1 + len(options.late))]
    begins = [State(0, 0), *(game.parse(text).state for text in options.late)]
    for begin, results in zip(map(typed_state, begins), played, strict=True):
        play_on(game.rules, policy, begin, stream_key(seed), new_stream(), results)
    return played


def fitness(played: list[GameResults]) -> float:
    return float(np.mean([np.log(np.maximum(results.scores, 1)).mean() for results in played]))


def read(vector: Vector) -> Weights:
    base, order_power, size_power, *lines = (float(value) for value in np.exp(vector))
    return Weights(base, order_power, size_power, LineWeights(*lines[:5]), LineWeights(*lines[5:]))


def written(weights: Weights) -> Vector:
    return np.log([*weights[:3], *weights.edge, *weights.inner])


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


def tune(game: Game, options: argparse.Namespace) -> Weights:
    start = read(np.log(json.loads(options.start.read_text()))) if options.start else WEIGHTS[game.name]
    rng = np.random.default_rng(options.seed)
    evolution = Evolution(written(start), options.spread, options.candidates)
    began, generation = time.perf_counter(), 0
    while time.perf_counter() - began < 60 * options.minutes:
        generation += 1
        candidates = evolution.draw(rng)
        seed = options.seed + generation
        found = np.array([fitness(play(game, read(one), options.games, seed, options)) for one in candidates])
        evolution.learn(candidates, found)
        print(
            f"{time.perf_counter() - began:5.0f} s  generation {generation}: scores about "
            f"{np.exp(np.median(found)):,.0f}, best {np.exp(found.max()):,.0f}; "
            + " ".join(f"{value:.4g}" for value in np.exp(evolution.mean)),
            flush=True,
        )
    return read(evolution.mean)


def describe(name: str, game: Game, weights: Weights, options: argparse.Namespace) -> None:
    """How the weights do in games that no candidate played."""
    played = play(game, weights, options.check_games, 1_000_000, options)
    for text, results in zip(["the start", *options.late], played, strict=True):
        codes = range(int(results.codes.min()), int(results.codes.max()) + 1)
        reach = ", ".join(f"{game.value(code)} {(results.codes >= code).mean():.1%}" for code in codes)
        print(f"{name}, from {text}: mean {results.scores.mean():,.0f}; {reach}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="2048")
    parser.add_argument("--search", choices=["expectimax", "minimax"], default="expectimax")
    parser.add_argument("--late", action="append", default=[], help="a board that games begin at, too")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--candidates", type=int, default=16)
    parser.add_argument("--games", type=int, default=40, help="games of each candidate in a generation")
    parser.add_argument("--check-games", type=int, default=200, help="games that compare the weights before and after")
    parser.add_argument("--spread", type=float, default=0.3, help="of the first candidates' logarithms")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="weights to begin with, as --out writes them")
    parser.add_argument("--out", type=Path, help="where to write the weights, as JSON")
    options = parser.parse_args()
    game = make_game(options.game)
    describe("before", game, WEIGHTS[game.name], options)
    tuned = tune(game, options)
    describe("after", game, tuned, options)
    print(tuned)
    if options.out:
        options.out.write_text(json.dumps([*np.exp(written(tuned))]) + "\n")


if __name__ == "__main__":
    main()
