"""Train DQN of Stable-Baselines3 on 2048.

python examples/train_dqn.py --steps 50000
"""

import argparse

import gymnasium
from stable_baselines3 import DQN
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

ENVIRONMENT = "tilewright.envs:tilewright/2048-v1"  # Gymnasium imports the module before the colon


def main() -> None:
    """Train, then play 20 games for their score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000, help="moves to train")
    steps = parser.parse_args().steps
    env = gymnasium.make(ENVIRONMENT, observation="onehot", reward="log2", penalty=1)
    model = DQN("MlpPolicy", env, buffer_size=100_000, learning_starts=min(1000, steps // 2), seed=0, device="cpu")
    model.learn(steps)
    # The greedy policy repeats an invalid move for ever; the environment truncates the episode after 100 of them.
    test = Monitor(gymnasium.make(ENVIRONMENT, observation="onehot"))
    mean, deviation = evaluate_policy(model, test, n_eval_episodes=20, deterministic=True)
    print(f"after {steps:,} steps: mean score {mean:,.0f} (standard deviation {deviation:,.0f}) in 20 games")


if __name__ == "__main__":
    main()
