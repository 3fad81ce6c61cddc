"""Players of 2048 on small boards in per cent of perfect play.

    python benchmarks/exact_players.py 2x2 2x3 --games 1000 10000 100000

Boards are solved, players that draw no random numbers are valued exactly, all others by playing. One line of Markdown
for each player, one column for each number of training games.
"""

import argparse
import itertools
import tempfile
from pathlib import Path
from typing import Any

import tilewright as tw

TUPLES = {
    "2x2": ("0145", "01"),
    "2x3": ("0145", "012", "04"),
    "3x2": ("0145", "048", "01"),
    "2x4": ("012345", "012456", "0145", "0123"),
    "3x3": ("012456", "124569", "0145", "012"),
}
STEP_SIZES = {"fixed": 0.1, "tc": 1.0}
SEARCHERS = ("minimax:depth=2", "heuristic:depth=1", "heuristic:depth=2", "heuristic:depth=3")
SAMPLED = ("random", "greedy", "montecarlo:rollouts=50", "montecarlo:rollouts=500")


def percent(agent: tw.Agent | str, table: tw.ExactTable, games: int, exactly: bool) -> str:
    """The player's value in per cent of perfect, exact where that is possible."""
    if exactly:
        return f"{tw.evaluate_exactly(agent, table.game, threads=1).percent_of(table):.3f}"
    result = tw.evaluate(agent, table.game, games=games, seed=1, threads=1)
    margin = result.score.margin or 0.0
    return f"{100 * result.score.value / table.value:.2f} ± {100 * margin / table.value:.2f}"


def trained(board: str, games: int, folder: str, **keys: Any) -> tw.Model:
    """Train a network, and return its model."""
    rows, columns = board.split("x")
    config = tw.TrainingConfig(
        game=f"2048:rows={rows},columns={columns}", tuples=TUPLES[board], games=games, evaluate_minutes=0.0, **keys
    )
    name = "-".join(map(str, (board, games, *keys.values())))
    return tw.train(config, seed=1, threads=1, out=Path(folder) / name).model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="+", choices=TUPLES)
    parser.add_argument("--games", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="of training")
    parser.add_argument("--evaluation-games", type=int, default=10_000, help="of players that are sampled")
    parser.add_argument("--sample", action="store_true", help="sample all players, on boards too large to be exact")
    chosen = parser.parse_args()
    for board in chosen.boards:
        rows, columns = board.split("x")
        table = tw.solve(f"2048:rows={rows},columns={columns}", threads=1)
        counted = f"{table.canonical_states:,} canonical states"
        print(f"\n{board}: perfect play scores {table.value:,.4f} ({counted})\n", flush=True)
        for agent in (*SAMPLED, *SEARCHERS):
            exactly = agent in SEARCHERS and not chosen.sample
            games = chosen.evaluation_games if "500" not in agent else chosen.evaluation_games // 10
            print(f"| `{agent}` | {percent(agent, table, games, exactly)} |", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for value_function, step_size in itertools.product(("afterstate", "state", "action"), STEP_SIZES):
                keys = {"value_function": value_function, "step_size": step_size, "alpha": STEP_SIZES[step_size]}
                symmetric = value_function != "action"  # a symmetric board has other actions
                models = [
                    trained(board, games, folder, update="backward", lambda_=0.5, symmetric=symmetric, **keys)
                    for games in chosen.games
                ]
                agents = [tw.make_agent("ntuple", model=model) for model in models]
                found = [percent(agent, table, chosen.evaluation_games, not chosen.sample) for agent in agents]
                print(f"| {value_function}, {step_size} | {' | '.join(found)} |", flush=True)
                if (value_function, step_size) == ("afterstate", "tc"):
                    for depth in (2, 3):
                        agents = [tw.make_agent("expectimax", depth=depth, model=model) for model in models]
                        found = [percent(agent, table, chosen.evaluation_games, not chosen.sample) for agent in agents]
                        print(f"| … expectimax of {depth} plies | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
