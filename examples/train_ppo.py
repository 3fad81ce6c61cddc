"""Train PPO of Stable-Baselines3 on 2048 in about a minute.

python examples/train_ppo.py --steps 50000
"""

import argparse

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

import tilewright.envs  # noqa: F401  (registers the environments)

OPTIONS = {"observation": "onehot", "reward": "log2", "penalty": 1, "end_fraction": 0.1}


def main() -> None:
    """Train, then play 20 games for their score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000, help="moves to train")
    steps = parser.parse_args().steps
    envs = make_vec_env("tilewright/2048-v1", n_envs=16, seed=0, env_kwargs=OPTIONS)
    model = PPO("MlpPolicy", envs, n_steps=128, batch_size=256, seed=0, device="cpu").learn(steps)
    test = Monitor(gymnasium.make("tilewright/2048-v1", observation="onehot", end_fraction=0.1))
    test.reset(seed=1)  # the games that follow are the same every time
    mean, deviation = evaluate_policy(model, test, n_eval_episodes=20, deterministic=False)
    print(f"after {steps:,} steps: mean score {mean:,.0f} (standard deviation {deviation:,.0f}) in 20 games")


if __name__ == "__main__":
    main()
