"""Architectures: the layers of the paper, counted by hand."""

import pytest

from tests.deep.small import PAPER, make_small_network
from tilewright import UsageError
from tilewright.deep.architectures import ARCHITECTURES, find_architecture


def weights_of_layers(inputs: int, *sizes: int) -> int:
    """The number of weights and biases of fully connected layers."""
    return sum((before + 1) * after for before, after in zip((inputs, *sizes), sizes, strict=False))


def test_the_networks_have_the_weights_of_the_paper() -> None:
    five = [(2 * 2 * 16 + 1) * 222] + 4 * [(2 * 2 * 222 + 1) * 222]
    four = [(4 * 4 * 16 + 1) * 222, *five[1:]]
    flat = 16 * 222
    alternate = [
        (4 * 4 * 16 + 1) * 128,
        (3 * 3 * 128 + 1) * 128,
        (2 * 2 * 128 + 1) * 256,
        (2 * 2 * 256 + 1) * 256,
        (2 * 2 * 256 + 1) * 512,
    ]
    head = weights_of_layers
    expected = {
        "mlp": head(256, 512, 512, 512, 1) + head(256, 512, 512, 512, 4),
        "cnn_5l": sum(five) + head(flat, 256, 64, 64, 1) + head(flat, 4),
        "cnn_5l_4": sum(four) + head(flat, 512, 128, 1) + head(flat, 4),
        "cnn_5l_4_v2": sum(four) + head(flat, 256, 64, 64, 1) + head(flat, 4),
        "cnn_5l_4_fc": sum(four) + head(flat, 512, 128, 1) + head(flat, 512, 128, 4),
        "cnn_alt": sum(alternate) + head(512, 512, 128, 1) + head(512, 4),
        "cnn_alt_fc": sum(alternate) + head(512, 512, 128, 1) + head(512, 512, 128, 4),
    }
    found = {name: sum(weight.numel() for weight in make_small_network(name).parameters()) for name in PAPER}
    assert found == expected


@pytest.mark.parametrize("layers", [2, 3, 4, 6, 7, 8])
def test_the_networks_of_table_1_are_there(layers: int) -> None:
    channels = {2: 436, 3: 312, 4: 256, 6: 200, 7: 182, 8: 168}[layers]
    found = find_architecture(f"cnn_{layers}l")
    assert [(one.channels, one.kernel_size) for one in found.convolutions] == [(channels, 2)] * layers


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(UsageError, match=r"architecture 'cnn5' \(did you mean 'cnn_.*'\?\); allowed: mlp, cnn_5l"):
        find_architecture("cnn5")
    assert set(PAPER) <= set(ARCHITECTURES)
