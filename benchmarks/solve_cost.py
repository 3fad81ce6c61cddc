"""What it costs to solve a board, by its number of states: a line for each goal, and a plot.

python benchmarks/solve_cost.py 2048:rows=3,columns=3 --out solve-cost.png
"""

import argparse
import time
from pathlib import Path

import tilewright as tw
from tilewright._core.plots import INK, new_figure, style


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--goals", type=int, nargs="+", default=[16, 32, 64, 128, 256, 512, 1024, 0], help="0: none")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    tw.solve("2048:rows=2,columns=2", threads=1)  # compiles the kernels
    labels, states, seconds = [], [], []
    for goal in chosen.goals:
        began = time.process_time()
        table = tw.solve(chosen.game, goal=goal or None, threads=1)
        labels.append(f"to {goal}" if goal else "score")
        states.append(table.canonical_states)
        seconds.append(time.process_time() - began)
        print(f"| {labels[-1]} | {states[-1]:,} | {seconds[-1]:.2f} | {table.bytes:,} |", flush=True)
    figure = new_figure(7.0, 4.2)
    axes = style(figure.add_subplot())
    axes.loglog(states, seconds, "o-", color="#0072b2")
    for label, x, y in zip(labels, states, seconds, strict=True):
        axes.annotate(label, (x, y), textcoords="offset points", xytext=(6, -12), color=INK, fontsize=9)
    axes.set_xlabel("canonical states", color=INK)
    axes.set_ylabel("processor time, seconds", color=INK)
    figure.savefig(chosen.out, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
