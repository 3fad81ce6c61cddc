"""A trainer of the package and its plain twin, both beginning with the same random weights."""

from typing import Any

import numpy as np

from tests.learning.plain import Plain
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

# Three tuples, and no two look-ups of a board at one place.
PLAIN_NETWORK: dict[str, Any] = {
    "game": "2048:rows=3,columns=3",
    "tuples": ("0124", "456", "89a"),
    "symmetric": False,
}
THREES_NETWORK: dict[str, Any] = {
    "game": "threes",
    "tuples": ("0123", "4567", "048c"),
    "features": ("hint", "mergeable_pairs"),
}


def twins(seed: int = 0, **options: Any) -> tuple[Trainer, Plain]:
    """Random weights: with zeros all moves would be equal, and rounding would decide between them."""
    trainer = Trainer(TrainingConfig(**{**PLAIN_NETWORK, "games": 1, "seed": seed, "alpha": 0.5, **options}))
    trainer.weights[:] = np.random.default_rng(seed).uniform(0, 40, len(trainer.weights))
    config = trainer.config
    plain = Plain(
        trainer.game,
        trainer.architecture,
        trainer.weights.copy(),
        config.value_function,
        config.step_size,
        float(trainer.alpha[0]),
    )
    return trainer, plain


def assert_same_weights(trainer: Trainer, plain: Plain, before: Any) -> None:
    """To the rounding of 32-bit floats; what was learned is far more than that."""
    moved = np.abs(plain.weights - before)
    assert moved.max() > 1
    np.testing.assert_allclose(trainer.weights, plain.weights, rtol=1e-5, atol=1e-4)
    if plain.step_size == "tc":
        np.testing.assert_allclose(trainer.sums[0::2], plain.sums, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(trainer.sums[1::2], plain.sizes, rtol=1e-4, atol=1e-3)
