"""Small training sessions: a 3x3 board, a network of 8,192 weights, some hundred games."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboardX.proto import event_pb2

from tilewright._core import parallel
from tilewright._core.files import read_tensors
from tilewright.training.callbacks import Callback, Callbacks
from tilewright.training.config import TrainingConfig
from tilewright.training.ntuple_session import NTupleSession
from tilewright.training.run_folder import RunFolder, TrainingPoint
from tilewright.training.session import TrainingSession, open_session

__all__ = [
    "ONLINE",
    "TINY",
    "StopAfter",
    "events_of",
    "learned",
    "purges_of",
    "rows_but_time",
    "time_by_games",
    "tiny",
    "train",
]

TINY = TrainingConfig(
    game="2048:rows=3,columns=3,win_tile=64",
    tuples=("012", "456"),
    lambda_=0.5,
    games=300,
    seed=5,
    curve_games=20,
    evaluate_games=10,
    evaluate_minutes=0,
)
ONLINE: dict[str, Any] = {"update": "online", "step_size": "fixed", "lambda_": 0.0, "alpha": 0.1}


def tiny(**changes: Any) -> TrainingConfig:
    return dataclasses.replace(TINY, **changes)


class StopAfter(Callback):
    """Stops a session after a number of games."""

    def __init__(self, games: int) -> None:
        self._games = games

    def on_games_end(self, session: TrainingSession) -> bool:
        return session.progress.games < self._games


def train(config: TrainingConfig, path: Path, *, resume: bool = False, callbacks: Callbacks = None) -> NTupleSession:
    """A session on one thread, which makes it repeatable, run to its end."""
    session = open_session(config, path, resume=resume, threads=1, callbacks=callbacks)
    session.run()
    return session


def time_by_games(session: NTupleSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every game of training take a second, whatever the machine: chunks have one game."""
    monkeypatch.setattr(parallel, "_CHUNK_SECONDS", 0.0)
    session.clock = lambda: session.progress.games


def learned(path: Path) -> dict[str, bytes]:
    """The bits of everything that learning changed, from the checkpoint."""
    return {
        name: np.asarray(tensor).tobytes() for name, tensor in read_tensors(RunFolder(path).checkpoint_file)[0].items()
    }


def rows_but_time(path: Path) -> list[TrainingPoint]:
    """The learning curve without its times, which no two runs share."""
    return [dataclasses.replace(point, seconds=0.0) for point in RunFolder(path).curve_points()]


def _events(path: Path) -> Iterator[Any]:
    """TensorBoard's records: a length, its check sum, that many bytes, their check sum."""
    for file in sorted(path.glob("events.out.tfevents.*"), key=lambda file: int(file.name.rpartition(".")[2])):
        content, index = file.read_bytes(), 0
        while index < len(content):
            length = int.from_bytes(content[index : index + 8], "little")
            assert index + 16 + length <= len(content), "a record is cut short"
            yield event_pb2.Event.FromString(content[index + 12 : index + 12 + length])
            index += 16 + length


def events_of(path: Path) -> dict[str, list[tuple[int, float]]]:
    """For every curve of a folder's TensorBoard events its steps and values."""
    found: dict[str, list[tuple[int, float]]] = {}
    for event in _events(path):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def purges_of(path: Path) -> list[int]:
    """The steps from which on earlier events are not valid any more."""
    return [event.step for event in _events(path) if event.HasField("session_log")]
