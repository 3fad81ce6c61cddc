"""Padded convolutions with fewer products: Winograd's minimal filtering.

Along one axis, n outputs of a kernel of k elements need n·k products if they are computed directly. The Toom-Cook
algorithm needs n + k - 1: the products of n + k - 1 linear combinations of the cells with as many linear combinations
of the kernel, which are the values of a polynomial at n + k - 1 points. In the notation of Lavin & Gray 2016,

    Y = Aᵀ [(G g) ⊙ (Bᵀ d)]

with the kernel g, the cells d and the outputs Y. For a padded 2x2 kernel on a board of 4x4 cells, both axes together
take 25 products for each pair of channels; a direct computation that leaves out the cells beyond the border takes 49.
The transforms Aᵀ, G and Bᵀ do not depend on boards and channels, so they cost little where there are many of both.
"""

import itertools
from collections import defaultdict
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tilewright.deep.architectures import Convolution

__all__ = ["SavedTensors", "Winograd", "find_winograd"]

# The number of points -> the finite ones; the last point is infinity. Other points that were tried round worse.
POINTS = {3: (0, -1), 4: (0, 1, -1), 5: (0, 0.5, -1, 2), 6: (0, 0.75, -0.75, 1.5, -1.5)}
MIN_CHANNELS = 64  # with fewer input channels, the transforms take longer than the products that they save

Matrix = NDArray[np.floating]


class AxisTransforms(NamedTuple):
    """The transforms of one axis of the board."""

    inputs: Matrix  # Bᵀ, [products, length]
    kernel: Matrix  # G, [points, kernel_size]
    point_of_product: list[int]  # the row of `kernel` that each product uses
    outputs: Matrix  # Aᵀ, [length, products]


def _axis_transforms(length: int, kernel_size: int) -> AxisTransforms:
    """Return the transforms for an axis of `length` cells.

    With a kernel of two elements, the last output reads the last cell and a cell beyond the border. It is computed by
    one direct product with the first element of the kernel, which is the value at the first point, 0.
    """
    direct = int(kernel_size == 2)
    num_outputs, padding = length - direct, (kernel_size - 1) // 2
    points = num_outputs + kernel_size - 1
    # Only the columns of cells on the board are kept; those of the padding would be multiplied by zeros.
    inputs = np.linalg.inv(_vandermonde(points, points)).T[:, padding : padding + length]
    outputs = _vandermonde(points, num_outputs).T
    if direct:
        inputs = np.vstack((inputs, np.eye(length)[-1]))
        outputs = np.block([[outputs, np.zeros((num_outputs, 1))], [np.zeros((1, points)), np.ones((1, 1))]])
    return AxisTransforms(inputs, _vandermonde(points, kernel_size), [*range(points), *[0] * direct], outputs)


def _vandermonde(points: int, terms: int) -> Matrix:
    """Return the matrix that maps the coefficients of a polynomial to its values; [points, terms].

    The value at infinity is the highest coefficient.
    """
    finite = np.vander(np.array(POINTS[points], dtype=np.float64), terms, increasing=True)
    return np.vstack((finite, np.eye(terms)[-1]))


def find_winograd(shape: tuple[int, int], in_channels: int, layer: Convolution) -> "Winograd | None":
    """Return the transforms for a layer, or None where a direct computation is better or the only one.

    Args:
        shape: The rows and columns of the board.
        in_channels: The number of input channels.
        layer: The layer.
    """
    size = layer.kernel_size
    has_points = all(length + (size - 1 if size > 2 else 0) in POINTS for length in shape)
    if not has_points or size < 2 or not layer.padded or layer.stride > 1 or in_channels < MIN_CHANNELS:
        return None
    return Winograd(shape, size)


class Winograd:
    """The transforms of a layer for both axes.

    A product belongs to a pair of points, one for each axis. Products that have their pair in common have a factor in
    common, the transformed kernel. They are computed by one matrix product, and pairs with the same number of products
    by one batched matrix product.
    """

    def __init__(self, shape: tuple[int, int], kernel_size: int) -> None:
        """Compute the transforms for a padded kernel with stride 1.

        Args:
            shape: The rows and columns of the board.
            kernel_size: The rows and columns of the kernel.
        """
        rows, columns = (_axis_transforms(length, kernel_size) for length in shape)
        products_of: dict[tuple[int, int], list[int]] = defaultdict(list)  # pair of points -> products
        for product, pair in enumerate(itertools.product(rows.point_of_product, columns.point_of_product)):
            products_of[pair].append(product)
        pairs = sorted(products_of, key=lambda pair: len(products_of[pair]))
        self.groups: list[tuple[slice, slice]] = []  # products and pairs of each batched matrix product
        first = first_pair = 0
        for count, group in itertools.groupby(pairs, key=lambda pair: len(products_of[pair])):
            end_pair = first_pair + len(list(group))
            end = first + count * (end_pair - first_pair)
            self.groups.append((slice(first, end), slice(first_pair, end_pair)))
            first, first_pair = end, end_pair
        order = [product for pair in pairs for product in products_of[pair]]
        points = [row * len(columns.kernel) + column for row, column in pairs]
        self.input_transform = _tensor(np.kron(rows.inputs, columns.inputs)[order])  # [products, cells]
        self.kernel_transform = _tensor(np.kron(rows.kernel, columns.kernel)[points])  # [pairs, kernel elements]
        self.output_transform = _tensor(np.kron(rows.outputs, columns.outputs)[:, order])  # [outputs, products]
        self._cached: tuple[Tensor, Tensor] | None = None  # weights and their transform

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Compute the convolution and a rectifier.

        Args:
            x: float32[batch, rows, columns, in_channels].
            weight: float32[kernel_size, kernel_size, in_channels, out_channels].
            bias: float32[out_channels].

        Returns:
            float32[batch, rows, columns, out_channels].
        """
        found: Tensor = _WinogradConvolution.apply(x, weight, bias, self)  # type: ignore[no-untyped-call]
        return found

    def transform_kernel(self, weight: Tensor) -> Tensor:
        """Return the transformed kernel, [pairs, in_channels, out_channels].

        It is kept until the weights change, which those of a target network seldom do.
        """
        cached = self._cached
        if cached is None or not torch.equal(cached[0], weight):
            # The tensor must be usable for training even if it is first needed in inference mode.
            with torch.inference_mode(False), torch.no_grad():
                transform = self.kernel_transform
                values = (transform @ weight.view(transform.shape[1], -1)).view(-1, *weight.shape[2:])
                self._cached = cached = weight.clone(), values
        return cached[1]


def _tensor(values: Matrix) -> Tensor:
    return torch.from_numpy(values).float().contiguous()


class SavedTensors(Protocol):
    """The part of an `autograd.Function`'s context that PyTorch defines."""

    needs_input_grad: tuple[bool, ...]

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors of `save_for_backward`."""

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keep tensors for the backward pass."""


class _Context(SavedTensors, Protocol):
    """What the forward pass leaves for the backward pass."""

    winograd: Winograd


class _WinogradConvolution(torch.autograd.Function):
    """The convolution and its gradients. Cells come first, so that each transform is one matrix product."""

    @staticmethod
    def forward(ctx: _Context, x: Tensor, weight: Tensor, bias: Tensor, winograd: Winograd) -> Tensor:
        batch, height, width, in_channels = x.shape
        kernel = winograd.transform_kernel(weight)
        inputs = (winograd.input_transform @ _cells_first(x)).view(-1, batch, in_channels)
        products = inputs.new_empty(*inputs.shape[:2], weight.shape[-1])
        for group, pairs in winograd.groups:
            factor = kernel[pairs]
            torch.bmm(_by_pair(inputs, group, factor), factor, out=_by_pair(products, group, factor))
        sums = winograd.output_transform @ products.flatten(1)
        out = (_boards_first(sums, batch) + bias).relu_().view(batch, height, width, -1)
        ctx.winograd = winograd
        ctx.save_for_backward(weight, inputs, kernel, out)
        return out

    @staticmethod
    def backward(ctx: _Context, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, inputs, kernel, out = ctx.saved_tensors
        winograd, batch = ctx.winograd, len(out)
        grad_out = torch.ops.aten.threshold_backward(gradients[0], out, 0)
        grad_products = (winograd.output_transform.t() @ _cells_first(grad_out)).view(len(inputs), batch, -1)
        grad_kernel, grad_inputs = torch.empty_like(kernel), torch.empty_like(inputs)
        for group, pairs in winograd.groups:
            factor = kernel[pairs]
            grad_group = _by_pair(grad_products, group, factor)
            torch.bmm(_by_pair(inputs, group, factor).transpose(1, 2), grad_group, out=grad_kernel[pairs])
            if ctx.needs_input_grad[0]:
                torch.bmm(grad_group, factor.transpose(1, 2), out=_by_pair(grad_inputs, group, factor))
        grad_weight = (winograd.kernel_transform.t() @ grad_kernel.flatten(1)).view(weight.shape)
        grad_x = None
        if ctx.needs_input_grad[0]:
            grad_cells = winograd.input_transform.t() @ grad_inputs.flatten(1)
            grad_x = _boards_first(grad_cells, batch).view(*out.shape[:3], -1)
        return grad_x, grad_weight, grad_out.sum(dim=(0, 1, 2)), None


def _by_pair(x: Tensor, group: slice, factor: Tensor) -> Tensor:
    """View [products, batch, channels] as [pairs, products of a pair * batch, channels] for one group."""
    return x[group].view(len(factor), -1, x.shape[-1])


def _cells_first(x: Tensor) -> Tensor:
    """[batch, height, width, channels] -> [cells, batch * channels]."""
    return x.flatten(1, 2).transpose(0, 1).flatten(1)


def _boards_first(x: Tensor, batch: int) -> Tensor:
    """[cells, batch * channels] -> [batch, cells, channels]."""
    return x.view(len(x), batch, -1).transpose(0, 1).contiguous()
