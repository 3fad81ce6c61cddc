"""Convolutions on boards: those of PyTorch, padded at the bottom and the right, with their gradients."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tilewright.deep.architectures import Convolution
from tilewright.deep.convolution import WINOGRAD_MIN_BATCH, BoardConvolution

__all__ = ["padded_convolution"]


def padded_convolution(x: Tensor, weight: Tensor, bias: Tensor, layer: Convolution) -> Tensor:
    """The layer by PyTorch's own convolution of a padded board."""
    size = layer.kernel_size
    before, after = ((size - 1) // 2, size // 2) if layer.padded else (0, 0)
    padded = F.pad(x.permute(0, 3, 1, 2), (before, after, before, after))
    out = F.relu(F.conv2d(padded, weight.permute(3, 2, 0, 1), bias, stride=layer.stride))
    return out.permute(0, 2, 3, 1)


@pytest.mark.parametrize("shape", [(4, 4), (3, 4)])
@pytest.mark.parametrize(
    "layer",
    [
        Convolution(7, 2),
        Convolution(7, 3),
        Convolution(7, 4),
        Convolution(7, 3, 2),
        Convolution(7, 2, 2, False),
        Convolution(7, 2, 1, False),
    ],
)
def test_it_is_the_convolution_of_pytorch(layer: Convolution, shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    ours = BoardConvolution(3, shape, layer)
    x = torch.randn(5, *shape, 3, requires_grad=True)
    inputs = [x, ours.weight, ours.bias]
    expected = padded_convolution(x, ours.weight, ours.bias, layer)
    torch.testing.assert_close(ours(x), expected)
    assert ours.shape == expected.shape[1:3]
    grad = torch.randn(expected.shape)
    found, wanted = (torch.autograd.grad((out * grad).sum(), inputs) for out in (ours(x), expected))
    torch.testing.assert_close(found, wanted)


def test_bfloat16_is_as_exact_as_its_digits() -> None:
    torch.manual_seed(0)
    layer = Convolution(7, 2)
    ours, x = BoardConvolution(3, (4, 4), layer), torch.randn(WINOGRAD_MIN_BATCH, 4, 4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        found = ours(x)
    assert found.dtype == torch.bfloat16
    expected = padded_convolution(x, ours.weight, ours.bias, layer)
    torch.testing.assert_close(found.float(), expected, rtol=0.05, atol=0.05)
