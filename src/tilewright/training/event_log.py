"""The learning curve for TensorBoard.

Events are written by this thread, as they come. The writer of tensorboardX has a thread and a queue of its own: where
the disk is full the thread dies, and whoever adds to the queue waits for ever.
"""

import struct
import time
from dataclasses import asdict
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

from tilewright._core.appending import AppendedFile
from tilewright.training.run_folder import EvaluationPoint, TrainingPoint

if TYPE_CHECKING:
    from tensorboardX.proto.event_pb2 import Event

__all__ = ["EventLog"]

_VERSION = "brain.Event:2"  # of the format


class EventLog:
    """The events of one session; those of a resumed session replace the ones of games that it plays again.

    Args:
        folder: The run folder.
        games: Games since the start of the training.
    """

    def __init__(self, folder: Path, games: int) -> None:
        from tensorboardX.proto.event_pb2 import Event, SessionLog

        # The number in the name distinguishes sessions that start within the same second.
        name = f"events.out.tfevents.{int(time.time()):010d}.{gethostname()}.{games}"
        start = SessionLog(status=SessionLog.START)
        head = (
            Event(wall_time=time.time(), file_version=_VERSION),
            Event(wall_time=time.time(), step=games + 1, file_version=_VERSION),
            Event(wall_time=time.time(), step=games + 1, session_log=start),
        )
        self._file = AppendedFile(folder / name, b"".join(map(_record, head)))

    def add(self, point: TrainingPoint | EvaluationPoint) -> None:
        """Write a row as events, one for each column.

        Raises:
            FileError: The file cannot be written now; the events are kept in memory.
        """
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.summary import scalar

        group = "evaluation" if isinstance(point, EvaluationPoint) else "train"
        columns = {
            name: value
            for name, value in asdict(point).items()
            if name not in ("games", "seconds", "moves", "window", "evaluate_games")
        }
        events = [
            Event(wall_time=time.time(), step=point.games, summary=scalar(f"{group}/{name}", value))
            for name, value in columns.items()
        ]
        self._file.append(b"".join(map(_record, events)))

    def flush(self) -> None:
        """Write the events that could not be written before.

        Raises:
            FileError: The file cannot be written now; the events are kept in memory.
        """
        self._file.flush()


def _record(event: "Event") -> bytes:
    """An event as TensorBoard reads it: its length, a checksum, its content, a checksum."""
    from tensorboardX.record_writer import masked_crc32c

    content: bytes = event.SerializeToString()
    length = struct.pack("<Q", len(content))
    checksums = [struct.pack("<I", masked_crc32c(part)) for part in (length, content)]
    return length + checksums[0] + content + checksums[1]
