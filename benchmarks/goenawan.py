"""Goenawan, Tao & Wu 2020, tables 2 to 5: Monte Carlo by playouts, theirs beside ours.

    python benchmarks/goenawan.py                                   all 26 rows; Ctrl-C and start again to go on
    python benchmarks/goenawan.py --rollouts 50 --values score --games 100

The paper describes 2048, but its program (github.com/nathgoh/CS238-2048) played something else: a new tile is a 4 with
probability 1/2, a game begins with one tile, a merged tile may merge again in the same move, and the tile after a
tried move is drawn once for all playouts of that move. The first set plays by exactly that, the second by the true
rules with a new tile for every playout.

The intervals of the paper's means come from the games that its authors published with the program. Those of one row
(sum, 500 rollouts) are missing: the deviation of the row before it is taken.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright import evaluate, make_agent, make_game
from tilewright.cli.output import announce_compilation, progress_bar
from tilewright.intervals import Estimate, rate_of, student_point

GAMES = 100  # of the paper, each row


@dataclass(frozen=True)
class Paper:
    """A row of the paper's tables: mean score, games that reached 2048, deviation of the scores, time it took."""

    mean: float
    wins: int
    deviation: float
    time: str

    @property
    def score(self) -> Estimate:
        margin = student_point(GAMES - 1) * self.deviation / GAMES**0.5
        return Estimate(self.mean, self.mean - margin, self.mean + margin)


RANDOM = Paper(942.72, 0, 466.91, "< 1 s")
PAPER: dict[tuple[str, int], Paper] = {
    ("score", 50): Paper(12_647.12, 13, 6_155, "4 h 8 min"),
    ("score", 100): Paper(15_205.16, 27, 7_266, "9 h 28 min"),
    ("score", 250): Paper(17_516.60, 34, 8_191, "26 h 28 min"),
    ("score", 500): Paper(18_740.40, 42, 7_566, "2 d 8 h 33 min"),
    ("sum", 50): Paper(13_037.76, 11, 5_470, "6 h 18 min"),
    ("sum", 100): Paper(14_763.96, 19, 6_048, "14 h 22 min"),
    ("sum", 250): Paper(18_022.88, 36, 7_385, "1 d 16 h 58 min"),
    ("sum", 500): Paper(19_107.28, 43, 7_385, "3 d 8 h 3 min"),
    ("largest", 50): Paper(11_552.04, 12, 6_651, "8 h 59 min"),
    ("largest", 100): Paper(11_839.96, 16, 7_630, "20 h 40 min"),
    ("largest", 250): Paper(14_054.12, 19, 8_960, "2 d 9 h 31 min"),
    ("largest", 500): Paper(14_471.96, 22, 8_521, "1 d 21 h 36 min"),
}


@dataclass(frozen=True)
class Rules:
    title: str
    game: str
    spawn: str


RULES = {
    "authors": Rules("The authors' rules", "2048:four=0.5,start_tiles=1,cascade=true", "shared"),
    "true": Rules("The true rules", "2048", "fresh"),
}


@dataclass(frozen=True)
class Row:
    rules: str
    label: str
    agent: str
    paper: Paper

    @property
    def key(self) -> str:
        return f"{self.agent} on {RULES[self.rules].game}"


def rows(rules: str, values: list[str], rollouts: list[int]) -> Iterator[Row]:
    yield Row(rules, "random", "random", RANDOM)
    for (value, count), paper in PAPER.items():
        if value in values and count in rollouts:
            agent = f"montecarlo:rollouts={count},value={value},spawn={RULES[rules].spawn}"
            yield Row(rules, f"{value}, {count} rollouts", agent, paper)


def play(row: Row, games: int, seed: int, threads: int | None) -> dict[str, Any]:
    with progress_bar(f"{row.rules}: {row.label}", games) as progress:
        game = make_game(RULES[row.rules].game)
        return evaluate(
            make_agent(row.agent), game, games=games, seed=seed, threads=threads, progress=progress
        ).to_json()


def overlap(ours: Estimate, theirs: Estimate) -> str:
    known = None not in (ours.low, ours.high, theirs.low, theirs.high)
    apart = known and (ours.low > theirs.high or theirs.low > ours.high)  # type: ignore[operator]
    return "no" if apart else "yes"


def table(rules: str, played: list[tuple[Row, dict[str, Any]]]) -> Iterator[str]:
    """The rows as Markdown, ours beside the paper's."""
    yield f"**{RULES[rules].title}** (`{RULES[rules].game}`, {RULES[rules].spawn} spawn)\n"
    yield "| playouts | mean score | paper | overlap | 2048 % | paper | overlap | seconds | paper |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for row, found in played:
        score = Estimate(found["score"]["mean"], *(found["score"]["ci95"] or (None, None)))
        wins = Estimate(found["win"]["rate"], *found["win"]["ci95"])
        paper_wins = rate_of(row.paper.wins, GAMES)
        cells = (
            row.label,
            _mean(score),
            _mean(row.paper.score),
            overlap(score, row.paper.score),
            _rate(wins),
            _rate(paper_wins),
            overlap(wins, paper_wins),
            f"{found['seconds']:,.1f}",
            row.paper.time,
        )
        yield f"| {' | '.join(cells)} |"
    yield f"\n{played[0][1]['games']} games a row, {sum(found['seconds'] for _, found in played):,.0f} s in all\n"


def _mean(estimate: Estimate) -> str:
    return f"{estimate.value:,.0f} ± {estimate.margin or 0:,.0f}"


def _rate(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.0f} ({100 * (estimate.low or 0):.0f}–{100 * (estimate.high or 0):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description="Monte Carlo by playouts: the paper's tables, theirs beside ours")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=list(RULES))
    parser.add_argument("--values", nargs="+", choices=["score", "sum", "largest"], default=["score", "sum", "largest"])
    parser.add_argument("--rollouts", nargs="+", type=int, choices=[50, 100, 250, 500], default=[50, 100, 250, 500])
    parser.add_argument("--games", type=int, default=GAMES, help="games of each row")
    parser.add_argument("--seed", type=int, default=2048)
    parser.add_argument("--threads", type=int, help="default: all processors")
    parser.add_argument("--out", type=Path, default=Path("goenawan.json"), help="finished rows, kept between runs")
    options = parser.parse_args()
    announce_compilation()
    kept: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    for rules in options.rules:
        played = []
        for row in rows(rules, options.values, options.rollouts):
            name = f"{row.key}, {options.games} games, seed {options.seed}"
            if name not in kept:
                kept[name] = play(row, options.games, options.seed, options.threads)
                part = options.out.with_suffix(".part")
                part.write_text(json.dumps(kept, indent=1))
                part.replace(options.out)
            played.append((row, kept[name]))
        print("\n".join(table(rules, played)), flush=True)


if __name__ == "__main__":
    main()
