"""Writing games to a file while they are played, so that a crash loses nothing that was finished."""

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tilewright.errors import FileError
from tilewright.games.episode import Episode
from tilewright.play.recording import Recording, head_text, is_ours, move_text, tail_text

__all__ = ["EpisodeRecorder", "GamesRecorder", "recording_of"]


def recording_of(episode: Episode, agent: str) -> Recording:
    """The game as it stands."""
    turns = episode.history
    return Recording(
        game=episode.game,
        agent=agent,
        seed=episode.seed,
        number=episode.number,
        states=(*(turn.board.state for turn in turns), episode.board.state),
        actions=tuple(turn.action for turn in turns),
        scores=(*(turn.score for turn in turns), episode.score),
    )


class _RecordFile:
    """A file of recorded games, open for writing; an existing file of another kind is never touched."""

    def __init__(self, path: Path, *, anew: bool) -> None:
        self.path = path
        try:
            _check_is_ours(path, anew)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("wb" if anew or not path.exists() else "r+b", buffering=0)
            self._end = self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise self._cannot(error) from None

    def _cannot(self, error: OSError) -> FileError:
        return FileError(f"{self.path}: cannot be written: {error.strerror or error}")

    def _write(self, text: str, at: int) -> int:
        """Write `text` and let the file end there; returns where that is."""
        data = memoryview(text.encode())
        try:
            self._file.seek(at)
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
            end = at + len(data)
            if end < self._end:
                self._file.truncate(end)
        except OSError as error:
            raise self._cannot(error) from None
        self._end = end
        return end

    def close(self) -> None:
        try:
            if self._file.seekable():
                os.fsync(self._file.fileno())
        except OSError:
            pass  # a pipe or a device has nothing to sync
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_is_ours(path: Path, anew: bool) -> None:
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        if not is_ours(file.read(100)):
            raise FileError(f"{path}: is no file of recorded games, and is left as it is")
        file.seek(-1, os.SEEK_END)
        if not anew and file.read() != b"\n":
            raise FileError(f"{path}: its last line is cut off, so that no game can follow")


class GamesRecorder(_RecordFile):
    """Takes the games of an evaluation in any order, from any thread, and writes them in theirs."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, anew=True)
        self._lock = threading.Lock()
        self._next = 0
        self._waiting: dict[int, str] = {}

    def add(self, recording: Recording) -> None:
        line = recording.line() + "\n"
        with self._lock:
            self._waiting[recording.number] = line
            while self._next in self._waiting:
                self._write(self._waiting.pop(self._next), self._end)
                self._next += 1


class EpisodeRecorder(_RecordFile):
    """Follows one game after another behind what the file holds already; the file is whole after every move.

    The last line is the game being played. A move replaces the end of the line, from the last move on, by the new move
    and a new end, in one small write; taking moves back shortens it. A game without moves leaves no line.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, anew=False)
        self.begin()

    def begin(self) -> None:
        """Another game follows."""
        self._start = self._end
        self._ends: list[int] = []  # where the head and each move end

    def update(self, episode: Episode, agent: str) -> None:
        """Bring the file up to date after a move was made or taken back."""
        turns = episode.history
        del self._ends[len(turns) + 1 :]
        if not turns:
            self._ends.clear()
            self._write("", self._start)
            return
        at = self._ends[-1] if self._ends else self._start
        pieces = []
        if not self._ends:
            pieces.append(head_text(episode.game, episode.seed, episode.number, turns[0].board.state))
            self._ends.append(at + len(pieces[0]))
        for i in range(len(self._ends) - 1, len(turns)):
            then = turns[i + 1] if i + 1 < len(turns) else episode
            entry = move_text(episode.game, turns[i].action, then.board.state, then.score)
            pieces.append(f", {entry}" if i else entry)
            self._ends.append(self._ends[-1] + len(pieces[-1]))
        self._write("".join(pieces) + tail_text(agent, episode.score, episode.is_over) + "\n", at)
