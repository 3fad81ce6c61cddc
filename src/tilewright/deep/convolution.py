"""Convolutions on small boards, computed without padding.

On a board of 4x4 cells, a padded 2x2 convolution multiplies zeros in a quarter of its products. Here, outputs whose
kernels are cut off by the border in the same way are computed by one matrix product with the rest of the kernel. Cells
beyond the border are never stored or multiplied. With many boards and channels, `winograd` needs even fewer products.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from tilewright.deep.architectures import Convolution
from tilewright.deep.winograd import SavedTensors, find_winograd
from tilewright.errors import UsageError

__all__ = ["BoardConvolution"]

WINOGRAD_MIN_BATCH = 16  # with fewer boards, transforming the weights takes longer than the products that it saves


class Segment(NamedTuple):
    """Neighbouring outputs along one axis for which the border cuts off the same part of the kernel."""

    outputs: slice
    kernel: slice  # the part of the kernel that lies on the board
    start: int  # the first cell that the first output reads

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""
        return int(self.outputs.stop - self.outputs.start)

    @property
    def kernel_size(self) -> int:
        """The size of the part of the kernel that lies on the board."""
        return int(self.kernel.stop - self.kernel.start)

    def cells(self, offset: int, stride: int) -> slice:
        """Return the cells that the outputs multiply by the kernel's element `offset`, counted from `kernel.start`."""
        first = self.start + offset
        return slice(first, first + (self.num_outputs - 1) * stride + 1, stride)


class BoardConvolution(nn.Module):
    """A convolution followed by a rectifier, with channels in the last dimension.

    The padding is TensorFlow's "same": of an odd number of rows or columns, the larger half is at the bottom or right.

    Attributes:
        shape: The rows and columns of the output.
        weight: float32[kernel_size, kernel_size, in_channels, out_channels].
        bias: float32[out_channels].
    """

    def __init__(self, in_channels: int, shape: tuple[int, int], layer: Convolution) -> None:
        """Make the layer with weights from PyTorch's global generator.

        Args:
            in_channels: The number of input channels.
            shape: The rows and columns of the input.
            layer: The kernel, the stride and the number of output channels.

        Raises:
            UsageError: The kernel does not fit on the board.
        """
        super().__init__()
        rows, columns = (list(_segments(length, layer)) for length in shape)
        self.shape = (sum(segment.num_outputs for segment in rows), sum(segment.num_outputs for segment in columns))
        if min(self.shape) < 1:
            raise UsageError(f"a board of {shape[0]}x{shape[1]} cells is too small for this architecture")
        self.segments = list(itertools.product(rows, columns))
        self.stride = layer.stride
        self.winograd = find_winograd(shape, in_channels, layer)
        bound = 1 / math.sqrt(layer.kernel_size * layer.kernel_size * in_channels)
        weight = torch.empty(layer.kernel_size, layer.kernel_size, in_channels, layer.channels)
        self.weight = nn.Parameter(weight.uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(layer.channels).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Map [batch, rows, columns, in_channels] to [batch, *shape, out_channels]."""
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        kind = x.device.type
        if kind != "meta" and torch.is_autocast_enabled(kind):
            dtype = torch.get_autocast_dtype(kind)
            x, weight, bias = x.to(dtype), weight.to(dtype), bias.to(dtype)
        elif self.winograd is not None and kind == "cpu" and len(x) >= WINOGRAD_MIN_BATCH:
            return self.winograd(x, weight, bias)
        found: Tensor = _DirectConvolution.apply(x.contiguous(), weight, bias, self)  # type: ignore[no-untyped-call]
        return found


def _segments(length: int, layer: Convolution) -> Iterator[Segment]:
    """Split the outputs along an axis of `length` cells into segments."""
    size, stride = layer.kernel_size, layer.stride
    before, after = ((size - 1) // 2, size // 2) if layer.padded else (0, 0)
    starts = range(-before, length + after - size + 1, stride)
    visible = [(max(0, -start), min(size, length - start)) for start in starts]
    for (first, end), group in itertools.groupby(range(len(visible)), key=visible.__getitem__):
        outputs = list(group)
        yield Segment(slice(outputs[0], outputs[-1] + 1), slice(first, end), starts[outputs[0]] + first)


class _Context(SavedTensors, Protocol):
    """What the forward pass leaves for the backward pass."""

    layer: BoardConvolution
    input_shape: torch.Size


class _DirectConvolution(torch.autograd.Function):
    """One matrix product for each pair of a segment of rows and a segment of columns."""

    @staticmethod
    def forward(ctx: _Context, x: Tensor, weight: Tensor, bias: Tensor, layer: BoardConvolution) -> Tensor:
        batch, height, width, in_channels = x.shape
        out_channels, stride = weight.shape[-1], layer.stride
        strides = (
            height * width * in_channels,
            stride * width * in_channels,
            stride * in_channels,
            width * in_channels,
            1,
        )
        out = x.new_empty(batch, *layer.shape, out_channels)
        patches = []
        for rows, columns in layer.segments:
            sizes = (batch, rows.num_outputs, columns.num_outputs, rows.kernel_size, columns.kernel_size * in_channels)
            windows = x.as_strided(sizes, strides, (rows.start * width + columns.start) * in_channels)
            patch = windows.reshape(-1, rows.kernel_size * columns.kernel_size * in_channels)
            values = torch.addmm(bias, patch, weight[rows.kernel, columns.kernel].reshape(-1, out_channels))
            out[:, rows.outputs, columns.outputs] = values.view(*sizes[:3], out_channels)
            patches.append(patch)
        out.relu_()
        ctx.layer, ctx.input_shape = layer, x.shape
        ctx.save_for_backward(weight, out, *patches)
        return out

    @staticmethod
    def backward(ctx: _Context, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, out, *patches = ctx.saved_tensors
        in_channels, out_channels = weight.shape[-2:]
        stride = ctx.layer.stride
        grad_out = torch.ops.aten.threshold_backward(gradients[0], out, 0)
        grad_weight = torch.zeros_like(weight)
        grad_x = grad_out.new_zeros(ctx.input_shape) if ctx.needs_input_grad[0] else None
        for (rows, columns), patch in zip(ctx.layer.segments, patches, strict=True):
            kernel = weight[rows.kernel, columns.kernel]
            grad_block = grad_out[:, rows.outputs, columns.outputs]
            grad_rows = grad_block.reshape(-1, out_channels)
            grad_weight[rows.kernel, columns.kernel] += (patch.t() @ grad_rows).view(kernel.shape)
            if grad_x is None:
                continue
            grad_patch = (grad_rows @ kernel.reshape(-1, out_channels).t()).view(*grad_block.shape[:3], -1)
            offsets = itertools.product(range(rows.kernel_size), range(columns.kernel_size))
            for (i, j), grad_cells in zip(offsets, grad_patch.split(in_channels, dim=-1), strict=True):
                grad_x[:, rows.cells(i, stride), columns.cells(j, stride)] += grad_cells
        return grad_x, grad_weight, grad_out.sum(dim=(0, 1, 2)), None
