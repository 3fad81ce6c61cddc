"""How often a player makes the next large tile from late boards, where players differ most.

    python benchmarks/late_games.py heuristic:prune=0.02 heuristic:prune=0.02,endgames=L3-512.table --games 40

The packaged model plays games at two plies until the sum of the tiles reaches `--sum`: 24,700 is a 16384, an 8192 and a
little more. Every player goes on from the same boards with the same random numbers, until the sum reaches `--goal` or
the game is over. Games that end before `--sum` give no board; other boards are then used again, which the intervals do
not take into account.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray

import tilewright as tw
from tilewright._core.jit import Int, kernel
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import Rules, State, spawn, start, tile_sum
from tilewright.play.statistics import rate_of
from tilewright.rng import Key, Stream, new_stream, seed_stream, stream_key

u64 = np.uint64


@kernel
def play_to_sum(
    rules: Rules,
    policy: Policy,
    key: Key,
    stream: Stream,
    cells: NDArray[np.uint64],
    goal: Int,
    moves: NDArray[np.int64],
) -> None:
    """Play on from every board, or from the start where it is empty, until the sum of the tiles reaches `goal`.

    Args:
        cells: uint64[n], changed in place; a game that ends before has the board 0 afterwards.
        moves: int64[n], filled with the number of moves.
    """
    for i in range(len(cells)):
        seed_stream(stream, key, u64(i))
        state = State(cells[i], u64(0))
        moves[i] = 0
        if not state.cells:
            state, _reward = start(rules, stream)
        while tile_sum(rules, state) < goal:
            action, after, _reward = act(policy, rules, state, stream)
            if action == NO_ACTION:
                state = State(u64(0), u64(0))
                break
            state, _reward = spawn(rules, after, stream)
            moves[i] += 1
        cells[i] = state.cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--sum", type=int, default=24_700, help="of the tiles of the boards to begin with")
    parser.add_argument("--goal", type=int, default=32_768, help="the sum at which a game counts as a success")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    game = tw.make_game("2048")
    boards = np.zeros(chosen.games, np.uint64)
    policy = tw.make_agent("expectimax:depth=2").policy(game)
    play_to_sum(
        game.rules, policy, stream_key(chosen.seed), new_stream(), boards, chosen.sum, np.zeros(len(boards), np.int64)
    )
    boards = boards[boards > 0]
    if not len(boards):
        parser.error(f"none of {chosen.games} games of the packaged model reaches a sum of {chosen.sum:,}")
    print(f"{len(boards)} of {chosen.games} games of the packaged model reach a sum of {chosen.sum:,}", flush=True)
    for spec in chosen.agents:
        cells, moves = np.resize(boards, chosen.games), np.zeros(chosen.games, np.int64)
        policy, began = tw.make_agent(spec).policy(game), time.process_time()
        play_to_sum(game.rules, policy, stream_key(chosen.seed + 1), new_stream(), cells, chosen.goal, moves)
        speed = moves.sum() / (time.process_time() - began)
        reached = int((cells > 0).sum())
        _, low, high = rate_of(reached, chosen.games)
        result = f"{reached} of {chosen.games} make a sum of {chosen.goal:,} ({low:.0%} to {high:.0%})"
        print(f"{spec}: {result}, {speed:,.0f} moves per second of processor time", flush=True)


if __name__ == "__main__":
    main()
