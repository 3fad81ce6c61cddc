"""Devices: names, what is refused, and networks that mix no devices. No accelerator is needed."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.deep.small import AFTERSTATE, make_small_network, small
from tilewright import ConfigError, SpecError, UsageError, make_agent, make_game
from tilewright.deep import learner as learner_module
from tilewright.deep import network as network_module
from tilewright.deep.config import DeepConfig
from tilewright.deep.devices import autocast_type, find_device, is_device_name, send
from tilewright.deep.model import DeepModel
from tilewright.deep.network import NetworkConfig, make_network
from tilewright.deep.session import LEARNERS
from tilewright.training.session import open_session

META = torch.device("meta")


@pytest.fixture
def two_cuda_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.fixture
def only_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:01", "cuda:-1", "CUDA", "cpu:0", "", 3, "cuda:1\n", "meta"])
def test_other_names_are_refused(name: Any) -> None:
    assert not is_device_name(name)
    complaint = re.escape("must be auto, cpu, cuda, cuda:N or mps")
    with pytest.raises(UsageError, match=complaint):
        find_device(name)
    with pytest.raises(ConfigError, match=rf"device = .*{complaint}|device .* text"):
        small(device=name)


@pytest.mark.usefixtures("two_cuda_devices")
def test_a_device_is_found_by_its_name() -> None:
    assert [str(find_device(name)) for name in ("cpu", "cuda", "cuda:1", "auto")] == ["cpu", "cuda", "cuda:1", "cuda"]
    with pytest.raises(
        UsageError, match="device='cuda:2': PyTorch finds no such device here; there is: cpu, cuda:0, cuda:1"
    ):
        find_device("cuda:2")


@pytest.mark.usefixtures("only_the_processor")
def test_without_an_accelerator_auto_is_the_processor() -> None:
    assert find_device("auto") == torch.device("cpu")
    for name in ("cuda", "cuda:1", "mps"):
        with pytest.raises(UsageError, match=f"device='{name}': PyTorch finds no such device here; there is: cpu$"):
            find_device(name)


def test_apples_accelerator_is_found(only_the_processor: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert find_device("auto") == torch.device("mps")
    assert autocast_type(find_device("mps")) == torch.float16


@pytest.mark.usefixtures("only_the_processor")
@pytest.mark.parametrize("config", [small(device="cuda"), AFTERSTATE], ids=["dqn", "afterstate"])
def test_a_training_on_a_device_that_is_not_there_is_refused(config: DeepConfig, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="device='cuda': PyTorch finds no such device here"):
        open_session(dataclasses.replace(config, device="cuda"), tmp_path / "run")


@pytest.mark.usefixtures("only_the_processor")
def test_an_agent_on_a_device_that_is_not_there_is_refused() -> None:
    model = DeepModel(make_small_network(algorithm="dqn"))
    board = model.config.game.start(seed=1)
    agent = make_agent("dqn", model=model, device="cuda")
    with pytest.raises(UsageError, match="device='cuda': PyTorch finds no such device here"):
        agent.values(board)
    with pytest.raises(SpecError, match=re.escape("option device=gpu: must be auto, cpu, cuda, cuda:N or mps")):
        make_agent("dqn:device=gpu")
    assert make_agent("dqn", model=model, device="auto").values(board) == make_agent("dqn", model=model).values(board)


NETWORKS = [
    NetworkConfig(make_game("2048"), "dqn", "cnn_5l_4", "onehot"),
    NetworkConfig(make_game("threes"), "dqn", "small", "onehot", dueling=False),
    NetworkConfig(make_game("2048"), "afterstate", "lines", "scaled"),
    NetworkConfig(make_game("2048"), "dqn", "mlp", "grid"),
]


@pytest.mark.parametrize("config", NETWORKS, ids=lambda config: config.architecture)
def test_a_network_uses_the_device_of_its_weights_alone(config: NetworkConfig) -> None:
    network = make_network(config, 1, META)
    assert network.device == META
    rows = config.game.rows + config.game.has_hints
    outputs = network(send(np.zeros((32, rows, 4), np.uint8), META))
    assert outputs.device == META
    assert outputs.shape == (32, 4 if config.algorithm == "dqn" else 1)
    outputs.sum().backward()
    assert all(weight.grad is not None and weight.grad.device == META for weight in network.parameters())
    with pytest.raises((RuntimeError, NotImplementedError)):  # so a tensor of the processor would have been noticed
        network(torch.zeros((32, rows, 4), dtype=torch.uint8))


def test_weights_are_the_same_on_every_device() -> None:
    drawn = make_network(NETWORKS[1], 5)
    moved = DeepModel(drawn).on(torch.device("cpu"))
    assert moved.network is drawn
    on_meta = DeepModel(drawn).on(META)
    assert on_meta.network is not drawn
    assert drawn.device == torch.device("cpu")
    assert all(weight.device == torch.device("cpu") for weight in drawn.parameters())


@pytest.mark.parametrize("config", [small(total_steps=600), AFTERSTATE], ids=["dqn", "afterstate"])
def test_boards_are_bytes_when_they_are_sent(config: DeepConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[np.dtype[Any]] = []

    def spy(array: np.ndarray, device: torch.device) -> torch.Tensor:
        if array.ndim == 3:
            sent.append(array.dtype)
        return send(array, device)

    for module in (learner_module, network_module):
        monkeypatch.setattr(module, "send", spy)
    learner = LEARNERS[config.algorithm](config)
    while not learner.pop_losses():
        learner.learn(0.0)
    assert set(sent) == {np.dtype(np.uint8)}
