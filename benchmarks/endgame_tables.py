"""What endgame tables add to the packaged model: the same games with and without them, and the paired difference.

    python benchmarks/endgame_tables.py L3-256.table+442-256.table --depth 3 --games 400 --out depth3.csv

One line for each game in the file, `number,without,with`; games that are in it already are not played again, so that
the same command goes on after an interruption. Several processes may share the work, each with numbers and a file of
its own (`--first`). A depth of 1 is the agent `ntuple`, others are `expectimax`.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np

import tilewright as tw
from tilewright.games.policy import make_results, play_games
from tilewright.rng import new_stream, stream_key


def play(policy: Any, seed: int, number: int) -> tuple[int, int, float]:
    """Play one game; returns its score, its moves, and the processor time."""
    results, began = make_results(1), time.process_time()
    play_games(tw.make_game("2048").rules, policy, stream_key(seed), number, new_stream(), results)
    return int(results.scores[0]), int(results.moves[0]), time.process_time() - began


def report(name: str, rows: list[list[int]]) -> None:
    """Print means and the paired difference, with 95 % intervals."""
    without, with_tables = np.array(rows, float).T[1:3]
    for label, scores in (("without", without), ("with", with_tables), ("difference", with_tables - without)):
        margin = 1.96 * scores.std(ddof=1) / np.sqrt(len(scores))
        print(f"{name}, {len(scores):,} games, {label}: {scores.mean():+,.0f} ± {margin:,.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", help="files of endgame tables, with + between them")
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="the number of the first game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    name = "ntuple" if chosen.depth == 1 else f"expectimax:depth={chosen.depth}"
    options = {} if chosen.depth == 1 else {"depth": chosen.depth}
    game, kind = tw.make_game("2048"), name.partition(":")[0]
    policies = [tw.make_agent(kind, **options, **more).policy(game) for more in ({}, {"endgames": chosen.tables})]
    rows = [[int(cell) for cell in row] for row in csv.reader(chosen.out.open())] if chosen.out.exists() else []
    done, moves, seconds = {row[0] for row in rows}, [0, 0], [0.0, 0.0]
    with chosen.out.open("a") as out:
        for number in range(chosen.first, chosen.first + chosen.games):
            if number in done:
                continue
            scores = []
            for i, policy in enumerate(policies):
                score, made, took = play(policy, chosen.seed, number)
                scores.append(score)
                if number > chosen.first:  # the first game waits for the compiler
                    moves[i], seconds[i] = moves[i] + made, seconds[i] + took
            rows.append([number, *scores])
            print(*rows[-1], sep=",", file=out, flush=True)
            if len(rows) % 20 == 0:
                report(name, rows)
    report(name, rows)
    speeds = [count / max(took, 1e-9) for count, took in zip(moves, seconds, strict=True)]
    print(f"moves per second of processor time: {speeds[0]:,.0f} without, {speeds[1]:,.0f} with")


if __name__ == "__main__":
    main()
