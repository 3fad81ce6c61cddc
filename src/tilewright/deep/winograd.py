"""Padded convolutions by fewer products, as Toom and Cook multiply polynomials and Winograd showed for filters.

Along a side of the board, n outputs of a square of k places are sums of n·k products. They can be had from n + k - 1 of
them: values of a polynomial of the places at as many points, each times a sum of cells; the outputs are sums of these.
For both sides of a board of 4x4 cells and squares of 2x2 that is 25 products for every pair of channels, where without
the cells beyond the border there are still 49. The sums are the same for all boards and channels; where there are many
of both, they cost little.
"""

import itertools
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tilewright.deep.architectures import Convolution

__all__ = ["Winograd", "find_winograd"]

# So many values of a polynomial are taken at these points and at infinity; others that were tried cost more digits.
POINTS = {3: (0, -1), 4: (0, 1, -1), 5: (0, 0.5, -1, 2), 6: (0, 0.75, -0.75, 1.5, -1.5)}
FEWEST_PLANES = 64  # with fewer, the sums take longer than the products that they save


class Side(NamedTuple):
    """The sums of one side of a board."""

    cells: NDArray[Any]  # [products, length]: of the cells, one factor of each product
    places: NDArray[Any]  # [points, size]: of the square's places, the other
    point: list[int]  # which of these each product has
    outputs: NDArray[Any]  # [length, products]


def _side(length: int, size: int) -> Side:
    """A square of two cells sees a zero from the last cell on: that output is one product, with the first place."""
    last = int(size == 2)
    inner, before = length - last, (size - 1) // 2
    points = inner + size - 1
    cells = np.linalg.inv(_values(points, points)).T[:, before : before + length]  # beyond the border there are zeros
    outputs = _values(points, inner).T
    if last:
        cells = np.vstack((cells, np.eye(length)[-1]))
        outputs = np.block([[outputs, np.zeros((inner, 1))], [np.zeros((1, points)), np.ones((1, 1))]])
    return Side(cells, _values(points, size), [*range(points), *[0] * last], outputs)


def _values(points: int, options: int) -> NDArray[Any]:
    """[points, terms]: takes the terms of a polynomial to its values; that at infinity is its highest term."""
    finite = np.vander(np.array(POINTS[points], dtype=np.float64), options, increasing=True)
    return np.vstack((finite, np.eye(options)[-1]))


def find_winograd(shape: tuple[int, int], planes: int, layer: Convolution) -> "Winograd | None":
    """The way to compute a layer, or None if that is better done directly."""
    known = all(length + (layer.size - 1 if layer.size > 2 else 0) in POINTS for length in shape)
    if not known or layer.size < 2 or not layer.padded or layer.stride > 1 or planes < FEWEST_PLANES:
        return None
    return Winograd(shape, layer.size)


class Winograd:
    """The sums before the products and after them, and which products have the same factor, for one layer."""

    def __init__(self, shape: tuple[int, int], size: int) -> None:
        rows, columns = (_side(length, size) for length in shape)
        shared: dict[tuple[int, int], list[int]] = defaultdict(list)  # the products that each pair of points has
        for product, pair in enumerate(itertools.product(rows.point, columns.point)):
            shared[pair].append(product)
        pairs = sorted(shared, key=lambda pair: len(shared[pair]))
        self.parts: list[tuple[slice, slice]] = []  # products and their pairs, those together that have as many
        first = first_pair = 0
        for count, some in itertools.groupby(pairs, key=lambda pair: len(shared[pair])):
            end_pair = first_pair + len(list(some))
            end = first + count * (end_pair - first_pair)
            self.parts.append((slice(first, end), slice(first_pair, end_pair)))
            first, first_pair = end, end_pair
        order = [product for pair in pairs for product in shared[pair]]
        points = [row * len(columns.places) + column for row, column in pairs]
        self.cells = _tensor(np.kron(rows.cells, columns.cells)[order])  # [products, cells]
        self.places = _tensor(np.kron(rows.places, columns.places)[points])  # [pairs, places]
        self.outputs = _tensor(np.kron(rows.outputs, columns.outputs)[:, order])  # [outputs, products]
        self._last: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Convolution and rectifier: [batch, height, width, planes], [size, size, planes, channels], [channels]."""
        found: Tensor = _Convolve.apply(x, weight, bias, self)  # type: ignore[no-untyped-call]
        return found

    def at_points(self, weight: Tensor) -> Tensor:
        """[pairs, planes, channels]; kept until the weights are others, as those of a target network seldom are."""
        last = self._last
        if last is None or not torch.equal(last[0], weight):
            with torch.inference_mode(False), torch.no_grad():  # for learning, too, even if it is asked for in play
                values = (self.places @ weight.view(self.places.shape[1], -1)).view(-1, *weight.shape[2:])
                self._last = last = weight.clone(), values
        return last[1]


def _tensor(values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(values).float().contiguous()


class _Convolve(torch.autograd.Function):
    """Cells first, boards second: then a sum of cells is a product of two matrices."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, way: Winograd) -> Tensor:
        batch, height, width, planes = x.shape
        right = way.at_points(weight)
        left = (way.cells @ _cells_first(x)).view(-1, batch, planes)
        both = left.new_empty(*left.shape[:2], weight.shape[-1])
        for products, pairs in way.parts:
            factor = right[pairs]
            torch.bmm(_by_pair(left, products, factor), factor, out=_by_pair(both, products, factor))
        sums = way.outputs @ both.flatten(1)
        out = (_boards_first(sums, batch) + bias).relu_().view(batch, height, width, -1)
        ctx.way = way
        ctx.save_for_backward(weight, left, right, out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, left, right, out = ctx.saved_tensors
        way, batch = ctx.way, len(out)
        gradient = torch.ops.aten.threshold_backward(gradients[0], out, 0)
        of_both = (way.outputs.t() @ _cells_first(gradient)).view(len(left), batch, -1)
        of_right, of_left = torch.empty_like(right), torch.empty_like(left)
        for products, pairs in way.parts:
            factor = right[pairs]
            mine = _by_pair(of_both, products, factor)
            torch.bmm(_by_pair(left, products, factor).transpose(1, 2), mine, out=of_right[pairs])
            if ctx.needs_input_grad[0]:
                torch.bmm(mine, factor.transpose(1, 2), out=_by_pair(of_left, products, factor))
        of_weight = (way.places.t() @ of_right.flatten(1)).view(weight.shape)
        of_x = None
        if ctx.needs_input_grad[0]:
            of_x = _boards_first(way.cells.t() @ of_left.flatten(1), batch).view(*out.shape[:3], -1)
        return of_x, of_weight, gradient.sum(dim=(0, 1, 2)), None


def _by_pair(x: Tensor, products: slice, factor: Tensor) -> Tensor:
    """[pairs, products of a pair * batch, planes]."""
    return x[products].view(len(factor), -1, x.shape[-1])


def _cells_first(x: Tensor) -> Tensor:
    """[batch, height, width, planes] -> [cells, batch * planes]."""
    return x.flatten(1, 2).transpose(0, 1).flatten(1)


def _boards_first(x: Tensor, batch: int) -> Tensor:
    """[cells, batch * planes] -> [batch, cells, planes]."""
    return x.view(len(x), batch, -1).transpose(0, 1).contiguous()
