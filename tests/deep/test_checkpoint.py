"""Parts of checkpoints: restored as they were, and refused where they do not match."""

import numpy as np
import pytest
import torch

from tests.deep.small import make_small_network
from tilewright.deep.checkpoint import (
    generator_state,
    get_weights,
    optimizer_tensors,
    read_counter,
    restore_array,
    restore_generator,
    restore_optimizer,
    set_weights,
)
from tilewright.deep.learner import make_optimizer
from tilewright.errors import FileError


def test_weights_are_restored_by_name() -> None:
    network, other = make_small_network(), make_small_network(algorithm="dqn")
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(1.0)
    set_weights(other, get_weights(network, "network."), "network.")
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), other.parameters(), strict=True))


def test_weights_of_another_network_are_refused() -> None:
    with pytest.raises(
        FileError, match=r"the weights do not fit small: .* is missing, unexpected, or has another size"
    ):
        set_weights(make_small_network(), get_weights(make_small_network("lines")))


def test_an_optimizer_continues_as_if_it_had_not_stopped() -> None:
    """Two steps in a row, and two steps with a checkpoint between them, give the same weights."""
    grids = torch.arange(16, dtype=torch.uint8).reshape(1, 4, 4) % 12
    whole, parts = make_small_network(), make_small_network()
    optimizers = make_optimizer(whole, 1e-3), make_optimizer(parts, 1e-3)
    for step in range(2):
        for network, optimizer in zip((whole, parts), optimizers, strict=True):
            optimizer.zero_grad()
            network(grids).square().sum().backward()
            optimizer.step()
        if step == 0:
            saved = optimizer_tensors(optimizers[1], parts)
            optimizers = optimizers[0], make_optimizer(parts, 1e-3)
            restore_optimizer(optimizers[1], parts, saved)
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), parts.parameters(), strict=True))


def test_a_missing_moment_is_refused() -> None:
    network = make_small_network()
    optimizer = make_optimizer(network, 1e-3)
    saved = optimizer_tensors(optimizer, network)
    del saved["adam.exp_avg_sq.state_head.0.bias"]
    with pytest.raises(FileError, match=r"adam\.exp_avg_sq\.state_head\.0\.bias is missing"):
        restore_optimizer(optimizer, network, saved)


def test_an_array_is_restored_in_place_if_shape_and_type_match() -> None:
    array = np.zeros((2, 3), np.float32)
    restore_array(array, {"one": np.ones((2, 3), np.float32)}, "one")
    assert (array == 1).all()
    for wrong in (np.ones((3, 2), np.float32), np.ones((2, 3))):
        with pytest.raises(FileError, match="does not match the configuration: one is missing or has another size"):
            restore_array(array, {"one": wrong}, "one")


def test_a_generator_continues_where_it_was() -> None:
    generator, other = np.random.default_rng(3), np.random.default_rng(4)
    generator.random(5)
    restore_generator(other, generator_state(generator))
    assert np.array_equal(generator.random(5), other.random(5))
    for wrong in (
        None,
        {},
        {"bit_generator": "MT19937"},
        {"bit_generator": "PCG64", "state": {"state": "x", "inc": 1}},
    ):
        with pytest.raises(FileError, match="the state of its random generator is not valid"):
            restore_generator(other, wrong)


@pytest.mark.parametrize("wrong", [None, "7", 7.5, True, -1])
def test_a_counter_is_a_whole_number(wrong: object) -> None:
    assert read_counter({"steps": 7}, "steps") == 7
    with pytest.raises(FileError, match="its counter steps is not a whole number"):
        read_counter({"steps": wrong}, "steps")
