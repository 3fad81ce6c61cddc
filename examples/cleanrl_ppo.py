"""PPO with masks in one file, in the manner of CleanRL, on Gymnasium's interface of vector environments.

python examples/cleanrl_ppo.py --steps 500000
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

N_ENVS, N_STEPS, EPOCHS, MINIBATCHES = 64, 64, 4, 4
GAMMA, GAE_LAMBDA, CLIP, ENTROPY, VALUE = 0.997, 0.95, 0.2, 0.01, 0.5
LEARNING_RATE, MAX_GRADIENT = 5e-4, 0.5


class Agent(nn.Module):
    """A policy and a value on one trunk."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Flatten(), nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.policy, self.value = nn.Linear(256, actions), nn.Linear(256, 1)

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        features = self.trunk(observations.float())
        logits = self.policy(features).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits), self.value(features).squeeze(-1)


def main() -> None:
    """Train and print the mean score of the games that have ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500_000, help="moves to train")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    envs = gymnasium.make_vec(
        "tilewright.envs:tilewright/2048-v1", N_ENVS, observation="onehot", reward="log2", autoreset_mode="SAME_STEP"
    )
    agent = Agent(int(np.prod(envs.single_observation_space.shape or ())), 4)
    optimizer = torch.optim.Adam(agent.parameters(), LEARNING_RATE, eps=1e-5)
    observations, info = envs.reset(seed=0)
    scores: list[int] = []
    began = time.perf_counter()
    for _ in range(max(1, steps // (N_ENVS * N_STEPS))):
        rollout, observations, info, found = collect(agent, envs, observations, info)
        scores += found
        learn(agent, optimizer, *rollout)
    speed = steps / (time.perf_counter() - began)
    recent = f"{np.mean(scores[-100:]):,.0f}" if scores else "-"
    print(f"after {steps:,} steps: mean score {recent} of the last {len(scores[-100:])} games, {speed:,.0f} steps/s")


@torch.no_grad()
def collect(
    agent: Agent, envs: gymnasium.vector.VectorEnv, observations: np.ndarray, info: dict[str, Any]
) -> tuple[tuple[Tensor, ...], np.ndarray, dict[str, Any], list[int]]:
    """Play `N_STEPS` steps; return the rollout, the last observations, their information and the finished scores."""
    shape = (N_STEPS, N_ENVS)
    seen = torch.zeros((*shape, *observations.shape[1:]), dtype=torch.uint8)
    masks = torch.zeros((*shape, 4), dtype=torch.int8)
    actions, chances, values = (
        torch.zeros(shape, dtype=torch.long),
        torch.zeros(shape),
        torch.zeros((N_STEPS + 1, N_ENVS)),
    )
    rewards, goes_on, scores = torch.zeros(shape), torch.zeros(shape), []
    for t in range(N_STEPS):
        seen[t], masks[t] = torch.as_tensor(observations), torch.as_tensor(info["action_mask"])
        policy, values[t] = agent(seen[t], masks[t])
        actions[t] = policy.sample()
        chances[t] = policy.log_prob(actions[t])
        observations, reward, terminated, truncated, info = envs.step(actions[t].numpy())
        ended = terminated | truncated
        rewards[t], goes_on[t] = torch.as_tensor(reward), torch.as_tensor(1.0 - ended)
        if ended.any():
            scores += info["final_info"]["score"][ended].tolist()
    values[N_STEPS] = agent(torch.as_tensor(observations), torch.as_tensor(info["action_mask"]))[1]
    advantages, last = torch.zeros(shape), torch.zeros(N_ENVS)
    for t in reversed(range(N_STEPS)):
        error = rewards[t] + GAMMA * goes_on[t] * values[t + 1] - values[t]
        last = advantages[t] = error + GAMMA * GAE_LAMBDA * goes_on[t] * last
    returns = advantages + values[:-1]
    rollout = tuple(one.flatten(0, 1) for one in (seen, masks, actions, chances, advantages, returns))
    return rollout, observations, info, scores


def learn(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    seen: Tensor,
    masks: Tensor,
    actions: Tensor,
    chances: Tensor,
    advantages: Tensor,
    returns: Tensor,
) -> None:
    """Update the networks from one rollout."""
    for _ in range(EPOCHS):
        for part in torch.randperm(len(actions)).chunk(MINIBATCHES):
            policy, values = agent(seen[part], masks[part])
            ratio = (policy.log_prob(actions[part]) - chances[part]).exp()
            advantage = (advantages[part] - advantages[part].mean()) / (advantages[part].std() + 1e-8)
            gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            error = nn.functional.mse_loss(values, returns[part])
            loss = VALUE * error - gain - ENTROPY * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()


if __name__ == "__main__":
    main()
