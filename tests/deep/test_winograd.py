"""Winograd's convolutions: those of PyTorch with fewer products, also after the weights have changed."""

import pytest
import torch

from tests.deep.test_convolution import padded_convolution
from tilewright.deep.architectures import Convolution
from tilewright.deep.convolution import BoardConvolution
from tilewright.deep.winograd import MIN_CHANNELS, find_winograd


@pytest.mark.parametrize("shape", [(4, 4), (3, 4), (3, 3)])
@pytest.mark.parametrize("layer", [Convolution(70, 2), Convolution(70, 3)])
def test_it_is_the_convolution_of_pytorch(layer: Convolution, shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    ours = BoardConvolution(MIN_CHANNELS, shape, layer)
    assert ours.winograd is not None
    x = torch.randn(20, *shape, MIN_CHANNELS, requires_grad=True)
    inputs = [x, ours.weight, ours.bias]
    for _ in range(2):  # the second time with other weights
        expected = padded_convolution(x, ours.weight, ours.bias, layer)
        with torch.inference_mode():
            torch.testing.assert_close(ours(x), expected, rtol=1e-5, atol=1e-5)
        # Near 0, rounding decides on which side of the rectifier an output is.
        grad = (expected > 1e-4).float() * torch.randn(expected.shape)
        found, wanted = (torch.autograd.grad((out * grad).sum(), inputs) for out in (ours(x), expected))
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
        ours.weight.data.mul_(-1.1)  # as Stable-Baselines3 does, unseen by PyTorch's count of changes


@pytest.mark.parametrize(("layer", "products"), [(Convolution(70, 2), 25), (Convolution(70, 3), 36)])
def test_it_needs_fewer_products(layer: Convolution, products: int) -> None:
    found = find_winograd((4, 4), MIN_CHANNELS, layer)
    assert found is not None
    assert len(found.input_transform) == found.output_transform.shape[1] == products
    assert len(found.kernel_transform) <= products


@pytest.mark.parametrize(
    ("channels", "layer"),
    [
        (MIN_CHANNELS - 1, Convolution(70, 2)),
        (MIN_CHANNELS, Convolution(70, 1)),
        (MIN_CHANNELS, Convolution(70, 4)),
        (MIN_CHANNELS, Convolution(70, 2, stride=2)),
        (MIN_CHANNELS, Convolution(70, 2, padded=False)),
    ],
)
def test_other_layers_are_computed_directly(channels: int, layer: Convolution) -> None:
    assert find_winograd((4, 4), channels, layer) is None
