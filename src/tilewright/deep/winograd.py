"""Padded convolutions by fewer products, as Toom and Cook multiply polynomials and Winograd showed for filters.

Along a side of n cells, the n outputs of a square of k places are sums of n·k products. They can be had from n + k - 1
of them: values of a polynomial of the places at as many points, each times a sum of cells; the outputs are sums of
these. For both sides of a board of 4x4 cells and squares of 2x2 that is 25 products for every pair of channels, where
without the cells beyond the border there are still 49. The sums are the same for all boards and channels; where there
are many of both, they cost little.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tilewright.networks.architectures import Convolution

__all__ = ["Winograd", "find_winograd"]

# For so many products, the points besides infinity: of those tried, they cost the fewest digits, about half a decimal.
POINTS = {4: (0, 1, -1), 5: (0, 0.5, -1, 2), 6: (0, 0.75, -0.75, 1.5, -1.5)}
FEWEST_PLANES = 64  # with fewer, the sums take longer than the products that they save


def find_winograd(shape: tuple[int, int], planes: int, layer: Convolution) -> "Winograd | None":
    """The way to compute a layer, or None if that is better done directly."""
    known = all(length + layer.size - 1 in POINTS for length in shape)
    if not known or not layer.padded or layer.stride > 1 or planes < FEWEST_PLANES:
        return None
    return Winograd(shape, layer.size)


class Winograd:
    """What is summed before the products and after them, for one layer."""

    def __init__(self, shape: tuple[int, int], size: int) -> None:
        sides = (_along(length, size) for length in shape)
        both = [torch.from_numpy(np.kron(*pair)).float() for pair in zip(*sides, strict=True)]
        self.cells, self.places, self.outputs = both  # [products, cells], [products, places], [outputs, products]
        self._last: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Convolution and rectifier: [batch, height, width, planes], [size, size, planes, channels], [channels]."""
        found: Tensor = _Convolve.apply(x, weight, bias, self)  # type: ignore[no-untyped-call]
        return found

    def at_points(self, weight: Tensor) -> Tensor:
        """[products, planes, channels]; kept until the weights are others, as those of a target network seldom are."""
        last = self._last
        if last is None or not torch.equal(last[0], weight):
            with torch.inference_mode(False), torch.no_grad():  # for learning, too, even if it is asked for in play
                values = (self.places @ weight.view(self.places.shape[1], -1)).view(-1, *weight.shape[2:])
                self._last = last = weight.clone(), values
        return last[1]


def _along(length: int, size: int) -> tuple[NDArray[Any], ...]:
    """The sums of one side: those that multiply polynomials of `length` and `size` terms, transposed."""
    products, before = length + size - 1, (size - 1) // 2
    all_cells = np.linalg.inv(_values(products, products)).T
    on_board = all_cells[:, before : before + length]  # beyond the border there are zeros
    return on_board, _values(products, size), _values(products, length).T


def _values(products: int, terms: int) -> NDArray[Any]:
    """[products, terms]: takes the terms of a polynomial to its values; that at infinity is its highest term."""
    finite = np.vander(np.array(POINTS[products], dtype=np.float64), terms, increasing=True)
    return np.vstack((finite, np.eye(terms)[-1]))


class _Convolve(torch.autograd.Function):
    """Cells first, boards second: then a sum of cells is a product of two matrices."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, way: Winograd) -> Tensor:
        batch, height, width, planes = x.shape
        left = (way.cells @ _cells_first(x)).view(-1, batch, planes)
        right = way.at_points(weight)
        sums = way.outputs @ torch.bmm(left, right).flatten(1)
        out = (_boards_first(sums, batch) + bias).relu_().view(batch, height, width, -1)
        ctx.way = way
        ctx.save_for_backward(weight, left, right, out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, left, right, out = ctx.saved_tensors
        way, batch = ctx.way, len(out)
        gradient = torch.ops.aten.threshold_backward(gradients[0], out, 0)
        of_products = (way.outputs.t() @ _cells_first(gradient)).view(len(right), batch, -1)
        of_right = torch.bmm(left.transpose(1, 2), of_products)
        of_weight = (way.places.t() @ of_right.flatten(1)).view(weight.shape)
        of_x = None
        if ctx.needs_input_grad[0]:
            of_left = torch.bmm(of_products, right.transpose(1, 2))
            of_x = _boards_first(way.cells.t() @ of_left.flatten(1), batch).view(*out.shape[:3], -1)
        return of_x, of_weight, gradient.sum(dim=(0, 1, 2)), None


def _cells_first(x: Tensor) -> Tensor:
    """[batch, height, width, planes] -> [cells, batch * planes]."""
    return x.flatten(1, 2).transpose(0, 1).flatten(1)


def _boards_first(x: Tensor, batch: int) -> Tensor:
    """[cells, batch * planes] -> [batch, cells, planes]."""
    return x.view(len(x), batch, -1).transpose(0, 1).contiguous()
