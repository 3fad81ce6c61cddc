"""The networks: layers as their definition says, values by their heads, inputs as the environments give them."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tilewright import UsageError, make_game
from tilewright.deep.architectures import ARCHITECTURES, Convolution, find_architecture
from tilewright.deep.convolution import BoardConvolution
from tilewright.deep.network import BoardNetwork, NetworkPlan, make_network
from tilewright.envs.single import BoardEnv

OF_THE_PAPER = ["mlp", "cnn_5l", "cnn_5l_4", "cnn_5l_4_v2", "cnn_5l_4_fc", "cnn_alt", "cnn_alt_fc"]


def network(architecture: str = "small", game: str = "2048", **changes: Any) -> BoardNetwork:
    options: dict[str, Any] = {"kind": "dqn", "encoding": "onehot", "dueling": True, **changes}
    return make_network(NetworkPlan(make_game(game), architecture=architecture, **options), seed=1)


def grids(count: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(12, size=(count, 4, 4), dtype=np.uint8))


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
def test_a_convolution_is_that_of_pytorch_padded_at_the_bottom_and_the_right(
    layer: Convolution, shape: tuple[int, int]
) -> None:
    torch.manual_seed(0)
    ours = BoardConvolution(3, shape, layer)
    x = torch.randn(5, *shape, 3, requires_grad=True)
    before, after = ((layer.size - 1) // 2, layer.size // 2) if layer.padded else (0, 0)
    padded = F.pad(x.permute(0, 3, 1, 2), (before, after, before, after))
    theirs = F.relu(F.conv2d(padded, ours.weight.permute(3, 2, 0, 1), ours.bias, stride=layer.stride))
    theirs = theirs.permute(0, 2, 3, 1)
    torch.testing.assert_close(ours(x), theirs)
    weights, inputs = torch.randn(theirs.shape), [x, ours.weight, ours.bias]
    mine, wanted = (torch.autograd.grad((one * weights).sum(), inputs) for one in (ours(x), theirs))
    torch.testing.assert_close(mine, wanted)


@pytest.mark.parametrize("shape", [(4, 4), (3, 4)])
@pytest.mark.parametrize("layer", [Convolution(70, 2), Convolution(70, 3)])
def test_with_many_channels_fewer_products_give_the_same(layer: Convolution, shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    ours, plain = (BoardConvolution(64, shape, layer) for _ in range(2))
    assert ours.winograd is not None
    plain.winograd = None
    x = torch.randn(20, *shape, 64, requires_grad=True)
    for _ in range(2):  # the second time with other weights
        plain.load_state_dict(ours.state_dict())
        with torch.inference_mode():
            torch.testing.assert_close(ours(x), plain(x), rtol=1e-5, atol=1e-5)
        away = (plain(x) > 1e-4).float() * torch.randn(20, *shape, 70)  # from the kink, where rounding decides
        mine, wanted = (
            torch.autograd.grad((layer(x) * away).sum(), [x, layer.weight, layer.bias]) for layer in (ours, plain)
        )
        torch.testing.assert_close(mine, wanted, rtol=1e-4, atol=1e-4)
        ours.weight.data.mul_(-1.1)  # as Stable-Baselines3 does, unseen by PyTorch's count of changes


def test_the_layers_are_those_of_the_paper() -> None:
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

    def head(inputs: int, *sizes: int) -> int:
        return sum((a + 1) * b for a, b in zip((inputs, *sizes), sizes, strict=False))

    expected = {
        "mlp": head(256, 512, 512, 512, 1) + head(256, 512, 512, 512, 4),
        "cnn_5l": sum(five) + head(flat, 256, 64, 64, 1) + head(flat, 4),
        "cnn_5l_4": sum(four) + head(flat, 512, 128, 1) + head(flat, 4),
        "cnn_5l_4_v2": sum(four) + head(flat, 256, 64, 64, 1) + head(flat, 4),
        "cnn_5l_4_fc": sum(four) + head(flat, 512, 128, 1) + head(flat, 512, 128, 4),
        "cnn_alt": sum(alternate) + head(512, 512, 128, 1) + head(512, 4),
        "cnn_alt_fc": sum(alternate) + head(512, 512, 128, 1) + head(512, 512, 128, 4),
    }
    found = {name: sum(weight.numel() for weight in network(name).parameters()) for name in OF_THE_PAPER}
    assert found == expected


@pytest.mark.parametrize("layers", [2, 3, 4, 6, 7, 8])
def test_the_sweep_of_table_1_is_there(layers: int) -> None:
    channels = {2: 436, 3: 312, 4: 256, 6: 200, 7: 182, 8: 168}[layers]
    found = find_architecture(f"cnn_{layers}l")
    assert [(one.channels, one.size) for one in found.convolutions] == [(channels, 2)] * layers


@pytest.mark.parametrize("kind", ["dqn", "afterstate"])
@pytest.mark.parametrize("game", ["2048", "threes"])
@pytest.mark.parametrize("encoding", ["onehot", "grid"])
def test_every_input_gives_as_many_values_as_asked_for(kind: str, game: str, encoding: str) -> None:
    env = BoardEnv(game)
    seen = torch.from_numpy(np.stack([env.reset(seed=seed)[0] for seed in range(3)]))
    for architecture in ("small", "lines", "cnn_alt"):
        values = network(architecture, game, kind=kind, encoding=encoding)(seen)
        assert values.shape == (3, 4 if kind == "dqn" else 1)
        assert values.dtype == torch.float32


def test_the_input_is_the_one_hot_observation() -> None:
    for seed in range(5):
        env, plain = BoardEnv("2048", observation="onehot"), BoardEnv("2048")
        planes, seen = env.reset(seed=seed)[0], plain.reset(seed=seed)[0]
        encoded = network().encode(torch.from_numpy(seen)[None])[0]
        assert np.array_equal(encoded.permute(2, 0, 1).numpy(), planes)


def test_a_hint_is_seen_in_every_cell() -> None:
    seen = torch.zeros(1, 5, 4, dtype=torch.uint8)
    seen[0, 4] = 3
    encoded = network(game="threes").encode(seen)[0]
    assert encoded.shape == (4, 4, 16 + 5)
    assert (encoded[..., 16:] == torch.tensor([0.0, 0, 0, 1, 0])).all()
    assert (network(game="threes", encoding="grid").encode(seen)[0, ..., 1] == 3).all()


def _bias(head: torch.nn.Sequential) -> torch.Tensor:
    last = head[-1]
    assert isinstance(last, torch.nn.Linear)
    return last.bias


def test_dueling_heads_add_a_value_of_the_board_to_differences_between_actions() -> None:
    dueling = network()
    before = dueling(grids(20))
    assert dueling.action is not None
    assert dueling.state is not None
    with torch.no_grad():
        _bias(dueling.action).add_(100.0)  # a shift of all four actions is no difference between them
    assert torch.allclose(dueling(grids(20)), before, atol=1e-4)
    with torch.no_grad():
        _bias(dueling.state).add_(100.0)
    assert torch.allclose(dueling(grids(20)), before + 100, atol=1e-4)
    plain = network(dueling=False)
    assert plain.state is None


def test_the_same_seed_gives_the_same_weights_and_touches_no_generator() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, second = network(), network()
    assert torch.rand(1) == expected
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="1x1 cells is too small"):
        network("cnn_alt", "2048:rows=2,columns=2")
    with pytest.raises(UsageError, match="2x3 cells is not square"):
        network("lines", "2048:rows=2,columns=3")
    with pytest.raises(
        UsageError, match=r"there is no architecture 'cnn5' \(did you mean .*\); there are: mlp, cnn_5l"
    ):
        find_architecture("cnn5")
    assert set(OF_THE_PAPER) <= set(ARCHITECTURES)
