"""Train DQN of Tianshou on 2048.

pip install tianshou
python examples/tianshou_dqn.py --steps 20000
"""

import argparse

import gymnasium
import torch
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.policy import DQNPolicy
from tianshou.utils.net.common import Net

N_ENVS, STEPS_A_ROUND = 8, 160


def main() -> None:
    """Train, and print the mean score of the games that have ended in the last rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000, help="moves to train")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    envs = DummyVectorEnv(
        [lambda: gymnasium.make("tilewright.envs:tilewright/2048-v1", observation="onehot", penalty=8)] * N_ENVS
    )
    network = Net((16, 4, 4), 4, hidden_sizes=[256, 256])
    policy = DQNPolicy(network, torch.optim.Adam(network.parameters(), 1e-3), estimation_step=3, target_update_freq=500)
    policy.set_eps(0.2)
    collector = Collector(policy, envs, VectorReplayBuffer(50_000, N_ENVS), exploration_noise=True)
    collector.reset()
    rewards: list[float] = []
    for _ in range(max(1, steps // STEPS_A_ROUND)):
        rewards += collector.collect(n_step=STEPS_A_ROUND)["rews"].tolist()
        for _ in range(STEPS_A_ROUND // 16):
            policy.update(64, collector.buffer)
    recent = rewards[-100:]
    mean = f"{sum(recent) / len(recent):,.0f}" if recent else "-"
    print(f"after {steps:,} steps: mean return {mean} of the last {len(recent)} games")


if __name__ == "__main__":
    main()
