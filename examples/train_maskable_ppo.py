"""Train MaskablePPO of sb3-contrib on 64 boards of 2048 that one kernel call moves.

pip install sb3-contrib
python examples/train_maskable_ppo.py --steps 200000
"""

import argparse

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from tilewright.deep.vecenv import BoardVecEnv
from tilewright.envs.options import EnvOptions

GAMES = 20


def main() -> None:
    """Train, then play games with legal moves only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000, help="moves to train")
    steps = parser.parse_args().steps
    envs = VecMonitor(BoardVecEnv(EnvOptions("2048", observation="onehot", reward="log2"), 64))
    model = MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=512, seed=0, device="cpu").learn(steps)
    scores = play(model)
    print(f"after {steps:,} steps: mean score {scores.mean():,.0f} in {len(scores)} games without an invalid move")


def play(model: MaskablePPO) -> np.ndarray:
    """Play one game on each of `GAMES` boards and return the scores."""
    envs = BoardVecEnv(EnvOptions("2048", observation="onehot"), GAMES, seed=1)
    observations, running, scores = envs.reset(), np.ones(GAMES, bool), np.zeros(GAMES)
    while running.any():
        actions, _ = model.predict(observations, action_masks=envs.action_masks, deterministic=True)
        if not envs.action_masks[np.arange(GAMES), actions].all():
            raise ValueError("an invalid move in spite of the masks")
        envs.step_async(actions)
        observations, rewards, dones, _ = envs.step_wait()
        scores += rewards * running
        running &= ~dones
    return scores


if __name__ == "__main__":
    main()
