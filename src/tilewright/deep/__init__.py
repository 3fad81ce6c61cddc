"""Deep networks: learning and playing with PyTorch. The only place that imports it.

This package needs PyTorch and Stable-Baselines3: `pip install tilewright[deep]`.
"""

from tilewright.errors import MissingExtraError

try:
    import stable_baselines3  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        f"deep networks need PyTorch and Stable-Baselines3 ({error}): pip install 'tilewright[deep]'"
    ) from None
