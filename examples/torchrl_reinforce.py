"""Train a policy with TorchRL on the native vector environment, by policy gradient on whole rollouts.

pip install torchrl
python examples/torchrl_reinforce.py --steps 20000
"""

import argparse

import torch
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torchrl.envs import GymWrapper
from torchrl.modules import OneHotCategorical
from torchrl.objectives import ReinforceLoss

from tilewright.envs.vector import BoardVectorEnv

N_ENVS, LENGTH = 16, 32


def main() -> None:
    """Train, and print the mean reward of a step in the first and in the last rollout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000, help="moves to train")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    # TorchRL resets boards itself, by `reset(options={"reset_mask": …})`; it prefers DISABLED to SAME_STEP.
    env = GymWrapper(BoardVectorEnv(N_ENVS, observation="onehot", reward="log2", penalty=1, autoreset_mode="DISABLED"))
    env.set_seed(0)
    network = nn.Sequential(nn.Flatten(-3), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 4))
    logits = TensorDictModule(lambda seen: network(seen.float()), in_keys=["observation"], out_keys=["logits"])
    choice = ProbabilisticTensorDictModule(
        in_keys=["logits"], out_keys=["action"], distribution_class=OneHotCategorical, return_log_prob=True
    )
    policy = ProbabilisticTensorDictSequential(logits, choice)
    value = nn.Sequential(nn.Flatten(-3), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1))
    critic = TensorDictModule(lambda seen: value(seen.float()), in_keys=["observation"], out_keys=["state_value"])
    loss = ReinforceLoss(policy, critic_network=critic)
    optimizer = torch.optim.Adam([*network.parameters(), *value.parameters()], 1e-3)
    rewards = []
    for _ in range(max(1, steps // (N_ENVS * LENGTH))):
        with torch.no_grad():
            rollout = env.rollout(LENGTH, policy, break_when_any_done=False)
        losses = loss(rollout)
        optimizer.zero_grad()
        (losses["loss_actor"] + losses["loss_value"]).backward()
        optimizer.step()
        rewards.append(rollout["next", "reward"].mean().item())
    print(f"after {steps:,} steps: mean reward of a step {rewards[-1]:.2f}, at first {rewards[0]:.2f}")


if __name__ == "__main__":
    main()
