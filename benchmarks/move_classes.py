"""How often players of different strength make moves of each class of a review, and how accurate they are.

python benchmarks/move_classes.py --moves 5000

The classes and the accuracy are those of the web page (`web/static/js/analysis.js`).
"""

import argparse
import math
from collections import Counter

import numpy as np

import tilewright as tw

GAME = tw.make_game("2048")
PLAYERS = {  # name -> agent, probability of a random move
    "random": ("random", 0.0),
    "greedy": ("greedy", 0.0),
    "ntuple, 20 % random": ("ntuple", 0.2),
    "ntuple, 5 % random": ("ntuple", 0.05),
    "ntuple, 1 % random": ("ntuple", 0.01),
    "ntuple": ("ntuple", 0.0),
}
LIMITS = {"good": 0.005, "inaccuracy": 0.02, "mistake": 0.08}  # the largest cost of a class
SCALE = 0.02


def class_of(cost: float) -> str:
    if cost == 0:
        return "best"
    return next((name for name, limit in LIMITS.items() if cost < limit), "blunder")


def costs_of(agent: str, noise: float, judge: tw.Player, moves: int, longest: int, seed: int) -> list[float]:
    """Play games until there are enough moves, of each game at most the first `longest`; return what they cost."""
    player, chance, costs = tw.make_agent(agent).player(GAME), np.random.default_rng(seed), list[float]()
    for number in range(moves):
        episode = tw.Episode(GAME, seed=seed, number=number)
        while not episode.is_over and len(episode.history) < longest:
            values = judge.analyse(episode.board).values
            if chance.random() < noise:
                move = str(chance.choice(episode.legal))
            else:
                move = player.move(episode.board, episode.stream)
            best = max(values.values())
            loss, expected = best - values[move], episode.score + best
            costs.append(0.0 if loss <= 0 else min(1.0, loss / expected) if expected > 0 else 1.0)
            episode.move(move)
        if len(costs) >= moves:
            break
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--moves", type=int, default=5000, help="the least number of moves of a player")
    parser.add_argument("--longest", type=int, default=4000, help="the largest number of moves of a game")
    parser.add_argument("--judge", default="expectimax:depth=2", help="the agent that values the moves")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    judge = tw.make_agent(options.judge).player(GAME)
    names = ["best", *LIMITS, "blunder"]
    print(f"{'player':20} {'moves':>6}", *(f"{name:>10}" for name in names), f"{'accuracy':>9}")
    for name, (agent, noise) in PLAYERS.items():
        costs = costs_of(agent, noise, judge, options.moves, options.longest, options.seed)
        counts, accuracy = Counter(map(class_of, costs)), sum(math.exp(-cost / SCALE) for cost in costs) / len(costs)
        shown = (f"{100 * counts[one] / len(costs):8.1f} %" for one in names)
        print(f"{name:20} {len(costs):6,}", *shown, f"{100 * accuracy:7.1f} %")


if __name__ == "__main__":
    main()
