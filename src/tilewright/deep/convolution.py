"""A convolution for small boards: matrix products over the cells that are there.

On a board of 4x4 cells the squares that reach over its border are many: of the products of a padded 2x2 convolution a
quarter is with zeros. Outputs that see the same part of the square are one product, with the weights of that part; the
cells beyond the border appear nowhere. Where boards and channels are many, `winograd` needs fewer products still.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tilewright.deep.architectures import Convolution
from tilewright.deep.winograd import find_winograd
from tilewright.errors import UsageError

__all__ = ["BoardConvolution"]

FEWEST_BOARDS = 16  # with fewer, transforming the weights takes longer than the products that it saves


class Stretch(NamedTuple):
    """Neighbouring outputs along one side of the board, which all see the same part of the square."""

    outputs: slice
    square: slice  # the part that they see
    start: int  # the first cell that the first of them sees

    @property
    def length(self) -> int:
        return int(self.outputs.stop - self.outputs.start)

    @property
    def size(self) -> int:
        return int(self.square.stop - self.square.start)

    def cells(self, place: int, stride: int) -> slice:
        """What all of them see at one place of that part."""
        first = self.start + place
        return slice(first, first + (self.length - 1) * stride + 1, stride)


class BoardConvolution(nn.Module):
    """A convolution and a rectifier; [batch, height, width, planes] in, [batch, height, width, channels] out.

    Padding is that of TensorFlow's "same": the odd row goes to the bottom, the odd column to the right. The weights
    are [size, size, planes, channels].
    """

    def __init__(self, planes: int, shape: tuple[int, int], layer: Convolution) -> None:
        super().__init__()
        sides = [list(_stretches(length, layer)) for length in shape]
        self.shape = tuple(sum(stretch.length for stretch in side) for side in sides)
        if min(self.shape) < 1:
            raise UsageError(f"a board of {shape[0]}x{shape[1]} cells is too small for this architecture")
        self.parts = list(itertools.product(*sides))
        self.stride = layer.stride
        self.winograd = find_winograd(shape, planes, layer)
        bound = 1 / math.sqrt(layer.size * layer.size * planes)
        weight = torch.empty(layer.size, layer.size, planes, layer.channels)
        self.weight = nn.Parameter(weight.uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(layer.channels).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if torch.is_autocast_enabled("cpu"):
            kind = torch.get_autocast_dtype("cpu")
            x, weight, bias = x.to(kind), weight.to(kind), bias.to(kind)
        elif self.winograd is not None and len(x) >= FEWEST_BOARDS:
            return self.winograd(x, weight, bias)
        found: Tensor = _Products.apply(x.contiguous(), weight, bias, self)  # type: ignore[no-untyped-call]
        return found


def _stretches(length: int, layer: Convolution) -> Iterator[Stretch]:
    """The stretches of a side of `length` cells."""
    size, stride = layer.size, layer.stride
    before, after = ((size - 1) // 2, size // 2) if layer.padded else (0, 0)
    starts = range(-before, length + after - size + 1, stride)
    parts = [(max(0, -start), min(size, length - start)) for start in starts]
    for (first, end), group in itertools.groupby(range(len(parts)), key=parts.__getitem__):
        outputs = list(group)
        yield Stretch(slice(outputs[0], outputs[-1] + 1), slice(first, end), starts[outputs[0]] + first)


class _Products(torch.autograd.Function):
    """One product for every stretch of rows with every stretch of columns."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, layer: BoardConvolution) -> Tensor:
        batch, height, width, planes = x.shape
        channels, stride = weight.shape[-1], layer.stride
        steps = (height * width * planes, stride * width * planes, stride * planes, width * planes, 1)
        out = x.new_empty(batch, *layer.shape, channels)
        seen = []
        for rows, columns in layer.parts:
            sizes = (batch, rows.length, columns.length, rows.size, columns.size * planes)
            cells = x.as_strided(sizes, steps, (rows.start * width + columns.start) * planes)
            flat = cells.reshape(-1, rows.size * columns.size * planes)
            values = torch.addmm(bias, flat, weight[rows.square, columns.square].reshape(-1, channels))
            out[:, rows.outputs, columns.outputs] = values.view(*sizes[:3], channels)
            seen.append(flat)
        out.relu_()
        ctx.layer, ctx.sizes = layer, x.shape
        ctx.save_for_backward(weight, out, *seen)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, out, *seen = ctx.saved_tensors
        planes, channels = weight.shape[-2:]
        stride = ctx.layer.stride
        gradient = torch.ops.aten.threshold_backward(gradients[0], out, 0)
        of_weight = torch.zeros_like(weight)
        of_x = gradient.new_zeros(ctx.sizes) if ctx.needs_input_grad[0] else None
        for (rows, columns), flat in zip(ctx.layer.parts, seen, strict=True):
            part = weight[rows.square, columns.square]
            piece = gradient[:, rows.outputs, columns.outputs]
            mine = piece.reshape(-1, channels)
            of_weight[rows.square, columns.square] += (flat.t() @ mine).view(part.shape)
            if of_x is None:
                continue
            back = (mine @ part.reshape(-1, channels).t()).view(*piece.shape[:3], -1)
            places = itertools.product(range(rows.size), range(columns.size))
            for (i, j), one in zip(places, back.split(planes, dim=-1), strict=True):
                of_x[:, rows.cells(i, stride), columns.cells(j, stride)] += one
        return of_x, of_weight, gradient.sum(dim=(0, 1, 2)), None
