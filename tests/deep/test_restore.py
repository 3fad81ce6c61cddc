"""Checkpoints of deep networks with impossible content: refused in one line, however right the checksum is."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.deep.small import AFTERSTATE, small
from tilewright._core import memory
from tilewright.deep.afterstate import AfterstateLearner
from tilewright.deep.dqn import DqnLearner
from tilewright.deep.learner import Learner
from tilewright.deep.session import DeepProgress, load_progress, save_progress
from tilewright.deep.vecenv import FinishedGame
from tilewright.errors import FileError, UsageError
from tilewright.training.run_folder import RunFolder
from tilewright.training.session import open_session

DQN = small(buffer_size=640, learning_starts=64)
THREES = small(game="threes:rows=2,columns=2,start_tiles=2", buffer_size=640, learning_starts=64)
TD = AFTERSTATE.replace(buffer_size=640, learning_starts=64)
Tensors = dict[str, NDArray[Any]]
Saved = tuple[Learner, Tensors, dict[str, Any]]


def saved(learner: Learner) -> Saved:
    """A learner that has made some gradient steps, and its checkpoint."""
    for _ in range(4):
        learner.learn(0.1)
    assert learner.pop_losses()
    tensors = {name: np.array(array) for name, array in learner.tensors().items()}
    return learner, tensors, copy.deepcopy(dict(learner.counters()))


@pytest.fixture(scope="module")
def dqn() -> Saved:
    return saved(DqnLearner(DQN))


@pytest.fixture(scope="module")
def threes() -> Saved:
    return saved(DqnLearner(THREES))


@pytest.fixture(scope="module")
def td() -> Saved:
    return saved(AfterstateLearner(TD))


def refusal(checkpoint: Saved, change: Callable[[Tensors, dict[str, Any]], object]) -> str:
    """What a learner says of its checkpoint after a change; as it was, it is restored."""
    learner, tensors, counters = checkpoint
    learner.restore(tensors, counters)
    tensors = {name: array.copy() for name, array in tensors.items()}
    counters = copy.deepcopy(counters)
    change(tensors, counters)
    with pytest.raises(FileError) as refused:
        learner.restore(tensors, counters)
    return str(refused.value)


def put(name: str, value: Any, place: Any = 0) -> Callable[[Tensors, dict[str, Any]], None]:
    def change(tensors: Tensors, counters: dict[str, Any]) -> None:
        tensors[name].reshape(-1)[place] = value

    return change


def count(name: str, value: object) -> Callable[[Tensors, dict[str, Any]], None]:
    return lambda tensors, counters: counters.update({name: value})


def retype(name: str, dtype: type) -> Callable[[Tensors, dict[str, Any]], None]:
    return lambda tensors, counters: tensors.update({name: tensors[name].astype(dtype)})


WEIGHT = "network.state_head.0.weight"
BOTH = [
    (put(WEIGHT, np.nan), f"the weights {WEIGHT} are not finite numbers of 32 bits"),
    (put(WEIGHT.replace("network", "target"), np.inf), "are not finite numbers of 32 bits"),
    (retype(WEIGHT, np.float64), "are not finite numbers of 32 bits"),
    (put("adam.exp_avg.state_head.0.bias", np.nan), "adam.exp_avg.state_head.0.bias is impossible"),
    (put("adam.exp_avg_sq.state_head.0.bias", -1), "adam.exp_avg_sq.state_head.0.bias is impossible"),
    (put("adam.step.state_head.0.bias", -1), "adam.step.state_head.0.bias is impossible"),
    (retype("adam.step.state_head.0.bias", np.int64), "adam.step.state_head.0.bias is missing or has another size"),
    (put("games.cells", 0x1111), "a game has a board that is none of 2048:rows=2,columns=2"),
    (put("games.extra", 1), "a game has a board that is none of 2048:rows=2,columns=2"),
    (put("games.streams", 0, slice(0, 2)), "a game has no random stream"),
    (put("games.scores", -1), "a game has an impossible score"),
    (count("steps", 7), "contradict each other"),
    (count("steps", 2**80), "its counter steps is not a whole number"),
    (count("generator", None), "the state of its random generator is not valid"),
    (count("generator", {"bit_generator": "PCG64"}), "the state of its random generator is not valid"),
]


@pytest.mark.parametrize(("change", "message"), BOTH)
@pytest.mark.parametrize("algorithm", ["dqn", "td"])
def test_what_no_training_can_have_written_is_refused(
    algorithm: str, change: Any, message: str, request: pytest.FixtureRequest
) -> None:
    assert message in refusal(request.getfixturevalue(algorithm), change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("buffer.actions", 4), "the replay buffer has impossible actions"),
        (put("buffer.actions", -1), "the replay buffer has impossible actions"),
        (put("buffer.rewards", np.nan), "the replay buffer has rewards that are not finite numbers"),
        (put("buffer.dones", 2), "the replay buffer has impossible ends of episodes"),
        (put("buffer.observations", 18), "the replay buffer has grids that are not boards of 2048"),
        (put("buffer.next_observations", 255), "the replay buffer has grids that are not boards of 2048"),
        (put("buffer.counters", 40), "the replay buffer has a position that it cannot have"),
        (put("buffer.counters", -1), "the replay buffer has a position that it cannot have"),
        (put("buffer.counters", 2, 1), "the replay buffer has a position that it cannot have"),
        (put("buffer.counters", 1), "the replay buffer has impossible priorities"),
        (put("buffer.priorities", np.nan, 1), "the replay buffer has impossible priorities"),
        (put("buffer.priorities", -1.0, -1), "the replay buffer has impossible priorities"),
        (put("buffer.priorities", 1e9, 1), "the priorities of the replay buffer do not add up"),
        (put("buffer.priorities", 0.0, slice(None)), "the replay buffer has impossible priorities"),
        (put("buffer.max_priority", np.inf), "the replay buffer has impossible priorities"),
        (put("buffer.max_priority", 0.0), "the replay buffer has impossible priorities"),
        (put("games.invalid_moves", 10**6), "a game has more invalid moves than moves"),
        (put("games.done", 2), "a game has an impossible flag"),
        (put("games.action_masks", 255), "a game has an impossible flag"),
        (count("rounds", 3), "its counters and its replay buffer contradict each other"),
        (count("updates", -1), "its counter updates is not a whole number"),
    ],
)
def test_an_impossible_replay_buffer_of_dqn_is_refused(dqn: Saved, change: Any, message: str) -> None:
    assert message in refusal(dqn, change)


def test_a_hint_that_does_not_exist_is_refused(threes: Saved) -> None:
    assert "not boards of threes" in refusal(threes, put("buffer.observations", 5, 5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("buffer.afterstates", 18), "the replay buffer has grids that are not boards of 2048"),
        (put("buffer.next_states", 0x1111), "the replay buffer has impossible states"),
        (put("buffer.spawn_rewards", np.nan), "the replay buffer has impossible rewards"),
        (put("buffer.spawn_rewards", -1), "the replay buffer has impossible rewards"),
    ],
)
def test_an_impossible_replay_buffer_of_afterstates_is_refused(td: Saved, change: Any, message: str) -> None:
    assert message in refusal(td, change)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"moves": 1}, "1 moves, but"),
        ({"games": -1}, "games is -1"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"finished": [FinishedGame(4, 99)]}, r"a finished game is \[4, 99\]"),
        ({"finished": [[4.5, 3]]}, r"a finished game is \[4.5, 3\]"),
        ({"finished": [[4]]}, r"a finished game is \[4\]"),
        ({"finished": [FinishedGame(4, 3)] * 5}, "not a list, or are too many"),
        ({"finished": [FinishedGame(4, 3)]}, "more games wait for their row than were played"),
        ({"finished": {"4": 3}}, "not a list, or are too many"),
        ({"losses": [1.0]}, r"the losses are \[1.0\]"),
        ({"losses": [float("nan"), 1]}, "the losses are"),
        ({"losses": "none"}, "the losses are 'none'"),
    ],
)
def test_an_impossible_progress_is_refused(dqn: Saved, changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    learner, tensors, counters = dqn
    learner.restore(tensors, counters)
    folder, progress = RunFolder(tmp_path), DeepProgress(moves=learner.steps)
    save_progress(folder, learner, progress)
    assert load_progress(folder, learner) == progress
    for name, value in changes.items():
        setattr(progress, name, value)
    save_progress(folder, learner, progress)
    with pytest.raises(FileError, match=rf"checkpoint.safetensors: its progress is damaged: .*{message}"):
        load_progress(folder, learner)


def test_a_buffer_that_does_not_fit_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10**9)
    with pytest.raises(UsageError, match=r"buffer_size = 1,000,000,000: the replay buffer takes 80.0 GB of memory"):
        open_session(small(buffer_size=10**9), tmp_path)
