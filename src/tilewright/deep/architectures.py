"""Architectures of deep networks by name. This module needs no PyTorch.

The `mlp` and `cnn_…` networks are those of Bouhoula, Castro & Centa, "Reinforcement Learning on 2048" (sections V.B and
V.C, figures 8 and 9, and their published program). In their dueling networks only the state value has hidden layers;
in the networks whose name ends in `_fc`, the action values have them, too. The `kondo_…` networks are those of Kondo &
Matsuzaki 2019: 2x2 convolutions and one dense layer. `lines`, `tuples` and `small` are lighter networks of our own.
"""

from dataclasses import dataclass

from tilewright._core.checks import check_choice

__all__ = ["ARCHITECTURES", "Architecture", "Convolution", "find_architecture"]


@dataclass(frozen=True)
class Convolution:
    """A convolutional layer with a square kernel.

    Attributes:
        channels: The number of output channels.
        kernel_size: The height and width of the kernel, in cells.
        stride: The distance between neighbouring outputs, in cells.
        padded: Whether the input is padded so that the output has the size of the input ("same" padding).
    """

    channels: int
    kernel_size: int
    stride: int = 1
    padded: bool = True


@dataclass(frozen=True)
class Architecture:
    """The layers of a network: a trunk that reads the board, then a head of hidden layers and an output layer.

    Attributes:
        hidden_sizes: The sizes of the hidden layers of a head.
        convolutions: The convolutional layers of the trunk.
        line_channels: The channels of a layer that reads whole rows and columns with shared weights; 0 for no such
            layer.
        tuple_channels: The channels of a layer that looks up a vector for every row, column and 2x2 square, with shared
            weights; 0 for no such layer.
        action_hidden: Whether the head of the action values has the hidden layers, too. Without them it is one linear
            layer.
    """

    hidden_sizes: tuple[int, ...]
    convolutions: tuple[Convolution, ...] = ()
    line_channels: int = 0
    tuple_channels: int = 0
    action_hidden: bool = False


def _convolutions(layers: int, channels: int, first_size: int = 2) -> tuple[Convolution, ...]:
    """Return 2x2 convolutions, the first with kernels of another size."""
    return (Convolution(channels, first_size), *(Convolution(channels, 2) for _ in range(layers - 1)))


_ALTERNATE = (
    Convolution(128, 4),
    Convolution(128, 3),
    Convolution(256, 2, stride=2, padded=False),
    Convolution(256, 2),
    Convolution(512, 2, padded=False),
)
_KONDO = {2: 436, 3: 312, 4: 256, 5: 224, 6: 200, 7: 182, 8: 168}  # layers -> channels
_TABLE_1 = {2: 436, 3: 312, 4: 256, 6: 200, 7: 182, 8: 168}  # layers -> channels; cnn_5l has 222

ARCHITECTURES = {
    "mlp": Architecture((512, 512, 512), action_hidden=True),
    "cnn_5l": Architecture((256, 64, 64), _convolutions(5, 222)),
    "cnn_5l_4": Architecture((512, 128), _convolutions(5, 222, first_size=4)),
    "cnn_5l_4_v2": Architecture((256, 64, 64), _convolutions(5, 222, first_size=4)),
    "cnn_5l_4_fc": Architecture((512, 128), _convolutions(5, 222, first_size=4), action_hidden=True),
    "cnn_alt": Architecture((512, 128), _ALTERNATE),
    "cnn_alt_fc": Architecture((512, 128), _ALTERNATE, action_hidden=True),
    **{f"cnn_{n}l": Architecture((256, 64, 64), _convolutions(n, channels)) for n, channels in _TABLE_1.items()},
    **{f"kondo_{n}l": Architecture((), _convolutions(n, channels)) for n, channels in _KONDO.items()},
    "lines": Architecture((256,), line_channels=256, action_hidden=True),
    "tuples": Architecture((64, 32), tuple_channels=32, action_hidden=True),
    "small": Architecture((64, 64), action_hidden=True),
}


def find_architecture(name: str) -> Architecture:
    """Return the architecture of that name.

    Raises:
        UsageError: There is no such architecture.

    >>> find_architecture("small").hidden_sizes
    (64, 64)
    """
    check_choice(f"architecture {name!r}", name, ARCHITECTURES)
    return ARCHITECTURES[name]
