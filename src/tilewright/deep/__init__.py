"""Deep networks on PyTorch: architectures, replay buffer, DQN, afterstate learning and the agents that play them.

Needs PyTorch and Stable-Baselines3: `pip install tilewright[deep]`. Only `config` and `architectures` work without.
"""
