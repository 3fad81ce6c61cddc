"""A tree search on the interface of the environment alone: every tile that may come is tried and weighed.

python examples/expectimax_on_env.py --moves 100
"""

import argparse
import copy

import numpy as np

from tilewright.envs.single import BoardEnv


def main() -> None:
    """Play some moves, each with the highest expected reward of two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=100, help="moves to play")
    moves = parser.parse_args().moves
    env = BoardEnv("2048")  # gymnasium.make(…).unwrapped
    _, info = env.reset(seed=1)
    for _ in range(moves):
        legal = np.flatnonzero(env.action_masks())
        _, _, terminated, _, info = env.step(max(legal, key=lambda action: expected_reward(env, action)))
        if terminated:
            break
    print(f"score {info['score']:,}, largest tile {info['largest']}\n{env.board}")


def expected_reward(env: BoardEnv, action: np.int64) -> float:
    """The reward of a move and of the best move after it, expected over all new tiles."""
    total = 0.0
    for board, probability in env.outcomes(int(action)):
        twin = copy.deepcopy(env)
        twin.set_next_board(board)
        _, reward, terminated, _, _ = twin.step(action)
        total += probability * (float(reward) + (0.0 if terminated else best_reward(twin)))
    return total


def best_reward(env: BoardEnv) -> float:
    """The largest reward that one move has now."""
    return max(env.game.slide(env.board, move)[1] for move in env.game.legal(env.board))


if __name__ == "__main__":
    main()
