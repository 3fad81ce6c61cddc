"""How long moves take under a time limit: the 99th percentile against the limit, along whole games.

python benchmarks/move_times.py expectimax:model=runs/minute/model.safetensors
python benchmarks/move_times.py minimax --limits 10 50 200 --moves 300
"""

import argparse
import time

import numpy as np

from tilewright import Episode, make_agent, make_game


def move_times(spec: str, moves: int, seed: int) -> np.ndarray:
    """Milliseconds of each of so many moves, from game after game."""
    agent, game = make_agent(spec), make_game("2048")
    times: list[float] = []
    number = 0
    while len(times) < moves:
        episode = Episode(game, seed, number)
        agent.move(episode.board)  # loads or compiles the kernel
        while not episode.is_over and len(times) < moves:
            began = time.perf_counter()
            action = agent.move(episode.board, episode.stream)
            times.append(1000 * (time.perf_counter() - began))
            episode.move(action)
        number += 1
    return np.array(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", help="an agent that takes ms=…")
    parser.add_argument("--limits", type=float, nargs="+", default=[10, 50, 200], help="milliseconds")
    parser.add_argument("--moves", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("limit, ms   median      99 %       most   99 % / limit")
    for limit in given.limits:
        spec = f"{given.agent}{',' if ':' in given.agent else ':'}ms={limit:g}"
        times = move_times(spec, given.moves, given.seed)
        late = np.percentile(times, 99)
        print(f"{limit:9g} {np.median(times):8.1f} {late:9.1f} {times.max():10.1f} {late / limit:14.2f}", flush=True)


if __name__ == "__main__":
    main()
