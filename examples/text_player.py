"""A player that reads and writes text, as a language model does, graded move by move. It needs no model.

python examples/text_player.py --moves 200
"""

import argparse
import re

import gymnasium
import numpy as np

PREFERENCE = ["left", "down", "right", "up"]


def main() -> None:
    """Compare two players by what their moves lose against the best one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=200, help="moves of each player")
    parser.add_argument("--teacher", default="ntuple", help="the agent that grades the moves")
    options = parser.parse_args()
    env = gymnasium.make("tilewright.envs:tilewright/2048-text-v0", teacher=options.teacher)
    choices = np.random.default_rng(0)
    for name, preference in (("corner", PREFERENCE), ("random", None)):
        regrets, agreed = [], 0
        observation, _ = env.reset(seed=1)
        for _ in range(options.moves):
            legal = re.findall(r"\w+", observation.rpartition("legal moves:")[2])
            move = str(choices.choice(legal)) if preference is None else min(legal, key=preference.index)
            observation, reward, terminated, truncated, info = env.step(f"I think the best move is {move}.")
            regrets.append(-float(reward))
            agreed += info["move"] == info["best"]
            if terminated or truncated:
                observation, _ = env.reset()
        mean, share = np.mean(regrets), agreed / options.moves
        print(f"{name}: loses {mean:,.1f} points a move against the best, which it finds in {share:.0%} of its moves")


if __name__ == "__main__":
    main()
