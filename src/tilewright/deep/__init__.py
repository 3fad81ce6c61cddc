"""Deep networks on PyTorch: architectures, replay buffer, DQN, afterstate learning, and the agents that play them.

This package needs PyTorch and Stable-Baselines3: `pip install tilewright[deep]`. Only the modules `config` and
`architectures` work without them.
"""
