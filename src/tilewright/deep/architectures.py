"""Deep networks by name: what they are made of, without what runs them.

Those of Bouhoula, Castro & Centa, "Reinforcement Learning on 2048" (sections V.B and V.C, their figures 8 and 9 and
published program), and two lighter ones of ours: `lines` and `small`. The paper's dueling networks have a perceptron on
the state value alone; "_fc" has it on the action values, too.
"""

from dataclasses import dataclass

from tilewright._core.registry import did_you_mean
from tilewright.errors import UsageError

__all__ = ["ARCHITECTURES", "Architecture", "Convolution", "find_architecture"]


@dataclass(frozen=True)
class Convolution:
    """A layer whose `channels` see squares of `size` x `size` cells; `padded` keeps the board's size."""

    channels: int
    size: int
    stride: int = 1
    padded: bool = True


@dataclass(frozen=True)
class Architecture:
    """Layers that see the board, then a perceptron with layers of the sizes `head`, and one output a value."""

    head: tuple[int, ...]
    convolutions: tuple[Convolution, ...] = ()
    lines: int = 0  # channels of a layer that sees whole rows and whole columns, with the same weights for all
    both: bool = False  # dueling: the perceptron is before the action values, too


def _square(layers: int, channels: int, first: int = 2) -> tuple[Convolution, ...]:
    return (Convolution(channels, first), *(Convolution(channels, 2) for _ in range(layers - 1)))


_ALTERNATE = (
    Convolution(128, 4),
    Convolution(128, 3),
    Convolution(256, 2, stride=2, padded=False),
    Convolution(256, 2),
    Convolution(512, 2, padded=False),
)
_TABLE_1 = {2: 436, 3: 312, 4: 256, 6: 200, 7: 182, 8: 168}  # layers -> channels; 5: 222 is cnn_5l

ARCHITECTURES = {
    "mlp": Architecture((512, 512, 512), both=True),
    "cnn_5l": Architecture((256, 64, 64), _square(5, 222)),
    "cnn_5l_4": Architecture((512, 128), _square(5, 222, first=4)),
    "cnn_5l_4_v2": Architecture((256, 64, 64), _square(5, 222, first=4)),
    "cnn_5l_4_fc": Architecture((512, 128), _square(5, 222, first=4), both=True),
    "cnn_alt": Architecture((512, 128), _ALTERNATE),
    "cnn_alt_fc": Architecture((512, 128), _ALTERNATE, both=True),
    **{f"cnn_{n}l": Architecture((256, 64, 64), _square(n, channels)) for n, channels in _TABLE_1.items()},
    "lines": Architecture((256,), lines=256, both=True),
    "small": Architecture((64, 64), both=True),
}


def find_architecture(name: str) -> Architecture:
    if name not in ARCHITECTURES:
        hint = did_you_mean(name, ARCHITECTURES)
        raise UsageError(f"there is no architecture {name!r}{hint}; there are: {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[name]
