"""Networks: values by their heads, inputs as the environments make them."""

import numpy as np
import pytest
import torch

from tests.deep.small import make_small_network
from tilewright import UsageError
from tilewright.deep.network import LineLayer
from tilewright.envs.single import BoardEnv


def random_grids(count: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).integers(12, size=(count, 4, 4), dtype=np.uint8))


@pytest.mark.parametrize("algorithm", ["dqn", "afterstate"])
@pytest.mark.parametrize("game", ["2048", "threes"])
@pytest.mark.parametrize("encoding", ["onehot", "grid", "scaled"])
def test_every_encoding_gives_four_action_values_or_one_afterstate_value(
    algorithm: str, game: str, encoding: str
) -> None:
    env = BoardEnv(game)
    seen = torch.from_numpy(np.stack([env.reset(seed=seed)[0] for seed in range(3)]))
    for architecture in ("small", "lines", "cnn_alt"):
        values = make_small_network(architecture, game, algorithm=algorithm, encoding=encoding)(seen)
        assert values.shape == (3, 4 if algorithm == "dqn" else 1)
        assert values.dtype == torch.float32


def test_the_input_is_the_one_hot_observation() -> None:
    for seed in range(5):
        env, plain = BoardEnv("2048", observation="onehot"), BoardEnv("2048")
        planes, grid = env.reset(seed=seed)[0], plain.reset(seed=seed)[0]
        encoded = make_small_network().encode(torch.from_numpy(grid)[None])[0]
        assert np.array_equal(encoded.permute(2, 0, 1).numpy(), planes)


def test_the_hint_is_encoded_in_every_cell() -> None:
    grid = torch.zeros(1, 5, 4, dtype=torch.uint8)
    grid[0, 4] = 3
    encoded = make_small_network(game="threes").encode(grid)[0]
    assert encoded.shape == (4, 4, 16 + 5)
    assert (encoded[..., 16:] == torch.tensor([0.0, 0, 0, 1, 0])).all()
    assert (make_small_network(game="threes", encoding="grid").encode(grid)[0, ..., 1] == 3).all()


def test_scaled_exponents_are_sixteenths() -> None:
    grids = random_grids(3)
    assert torch.equal(make_small_network(encoding="scaled").encode(grids)[..., 0], grids.float() / 16)


@pytest.mark.parametrize("lookahead", [1, 2])
def test_a_network_that_looks_ahead_sees_the_boards_after_every_move(lookahead: int) -> None:
    env, plain = BoardEnv("2048", observation=f"lookahead{lookahead}"), BoardEnv("2048")
    seen = np.stack([env.reset(seed=seed)[0] for seed in range(3)])
    grids = torch.from_numpy(np.stack([plain.reset(seed=seed)[0] for seed in range(3)]))
    exponents = make_small_network(encoding="grid", lookahead=lookahead)
    assert np.array_equal(exponents.encode(grids).permute(0, 3, 1, 2).numpy(), seen)
    planes = make_small_network(lookahead=lookahead).encode(grids)
    assert planes.shape == (3, 4, 4, 16 * seen.shape[1])
    assert (planes.sum(dim=-1) == seen.shape[1]).all()  # one plane a board and cell


def test_a_line_layer_reads_rows_and_columns_with_the_same_weights() -> None:
    torch.manual_seed(0)
    layer, x = LineLayer(3, (4, 4), 5), torch.randn(2, 4, 4, 3)
    found = layer(x)
    assert found.shape == (2, 8, 5)
    for i in range(4):
        for line, output in ((x[:, i], found[:, i]), (x[:, :, i], found[:, 4 + i])):
            torch.testing.assert_close(output, torch.relu(layer.linear(line.reshape(2, -1))))


def _bias(head: torch.nn.Sequential) -> torch.Tensor:
    last = head[-1]
    assert isinstance(last, torch.nn.Linear)
    return last.bias


def test_dueling_heads_add_the_state_value_to_the_advantages() -> None:
    dueling, grids = make_small_network(), random_grids(20)
    before = dueling(grids)
    assert dueling.action_head is not None
    assert dueling.state_head is not None
    with torch.no_grad():
        _bias(dueling.action_head).add_(100.0)  # advantages are relative to their mean
    assert torch.allclose(dueling(grids), before, atol=1e-4)
    with torch.no_grad():
        _bias(dueling.state_head).add_(100.0)
    assert torch.allclose(dueling(grids), before + 100, atol=1e-4)
    assert make_small_network(dueling=False).state_head is None


def test_the_same_seed_gives_the_same_weights_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, second = make_small_network(), make_small_network()
    assert torch.rand(1) == expected
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_a_board_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="1x1 cells is too small"):
        make_small_network("cnn_alt", "2048:rows=2,columns=2")
    with pytest.raises(UsageError, match="2x3 cells is not square"):
        make_small_network("lines", "2048:rows=2,columns=3")
