"""Recording games to files: complete after every game or move, and never with a part of one."""

import contextlib
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from tilewright._core.appending import PATIENCE, write_patiently
from tilewright._core.descriptors import lock_descriptor
from tilewright._core.folders import make_folders
from tilewright._core.inputs import shown
from tilewright._core.outputs import check_output, is_full, write_error
from tilewright.errors import FileError
from tilewright.games.episode import Episode
from tilewright.play.recording import RECORDING, Recording, as_path, head_text, move_text, tail_text

__all__ = ["EpisodeRecorder", "GamesRecorder"]

_MOST_UNWRITTEN = 1 << 28  # bytes of games that are kept in memory while the disk is full
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class _RecordFile:
    """A file of recorded games, open for writing, and locked. An existing file of another kind is not changed."""

    def __init__(self, path: Path | str, *, overwrite: bool, force: bool = False) -> None:
        self.path = as_path(path)
        target = check_output(path, RECORDING, force=force)
        try:
            make_folders(target.parent)
            self._file = os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | _BINARY, 0o666), "r+b", buffering=0)
        except OSError as error:
            raise write_error(self.path, error) from error
        try:
            if not lock_descriptor(self._file.fileno()):
                raise FileError(f"{shown(self.path)}: cannot be written: another process is recording games there")
            self._end = self._start_at(overwrite)
        except OSError as error:
            self._file.close()
            raise write_error(self.path, error) from error
        except FileError:
            self._file.close()
            raise

    def _start_at(self, overwrite: bool) -> int:
        """Empty the file, or check that a game can follow; return its end."""
        if overwrite:
            self._file.truncate(0)
            return 0
        end = self._file.seek(0, os.SEEK_END)
        if end:
            self._file.seek(-1, os.SEEK_END)
            if self._file.read() != b"\n":
                raise FileError(f"{shown(self.path)}: its last line is cut off, so that no game can follow")
        return end

    def _write(self, data: bytes, at: int) -> None:
        """Write at a position, and cut the file off behind it.

        Raises:
            OSError: Not everything could be written; the file may have the beginning of it.
        """
        rest = memoryview(data)
        self._file.seek(at)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        if at + len(data) < self._end:
            self._file.truncate(at + len(data))
        self._end = at + len(data)

    def close(self) -> None:
        """Write everything to the disk, and close the file."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise write_error(self.path, error) from error
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class GamesRecorder(_RecordFile):
    """Writes the games of an evaluation to a file in the order of their numbers, replacing an earlier file.

    A game is written as soon as it and all games before it are finished. Threads may add games in any order. Games that
    do not fit on a full disk are kept in memory, and written later; the file never has a part of a game.

    Args:
        path: The file; earlier recorded games are replaced.
        force: Whether to replace an existing file of another kind.

    Raises:
        FileError: The file cannot be written, or is of another kind.
    """

    def __init__(self, path: Path | str, *, force: bool = False) -> None:
        super().__init__(path, overwrite=True, force=force)
        self._lock = threading.Lock()
        self._next, self._written = 0, 0
        self._waiting: dict[int, str] = {}  # finished games whose turn has not come
        self._unwritten: list[bytes] = []  # games that could not be written

    def add(self, recording: Recording) -> None:
        """Add a finished game; any thread may call this.

        Raises:
            FileError: The file cannot be written, and that is more than a disk that is full for a while.
        """
        line = recording.to_line() + "\n"
        with self._lock:
            self._waiting[recording.number] = line
            while self._next in self._waiting:
                self._unwritten.append(self._waiting.pop(self._next).encode())
                self._next += 1
            try:
                self._write_games()
            except FileError as error:
                if not is_full(error) or sum(map(len, self._unwritten)) > _MOST_UNWRITTEN:
                    raise self._incomplete(error) from error.__cause__

    def _write_games(self) -> None:
        if not self._unwritten:
            return
        end = self._end
        try:
            self._write(b"".join(self._unwritten), end)
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(end)
            raise write_error(self.path, error) from error
        self._written += len(self._unwritten)
        self._unwritten.clear()

    def _incomplete(self, error: FileError) -> FileError:
        """The error for a file that lacks games."""
        kept = {0: "no game", 1: "the first game"}.get(self._written, f"the first {self._written:,} games")
        return FileError(f"{error}; the file has {kept}")

    def close(self) -> None:
        """Write the games that are left, waiting a while for room, and close the file.

        Those are games that could not be written before, and games behind one that was never finished.

        Raises:
            FileError: Some games could not be written.
        """
        self._unwritten += [self._waiting.pop(number).encode() for number in sorted(self._waiting)]
        try:
            write_patiently(self._write_games, lambda: PATIENCE)
        except FileError as error:
            self._file.close()
            raise self._incomplete(error) from error.__cause__
        super().close()


class EpisodeRecorder(_RecordFile):
    """Adds games to a file while they are played. The file is complete after every move.

    The last line is the current game. A move replaces the end of the line, after the move before it, in one small
    write. Undoing moves shortens the line. A game without moves leaves no line. What does not fit on a full disk is
    left out, and written with the next move; the file then has the game up to an earlier move.
    """

    def __init__(self, path: Path | str) -> None:
        super().__init__(path, overwrite=False)
        self.start_game()

    def start_game(self) -> None:
        """Keep the current game as it is, and begin the next line."""
        self._start = self._end
        self._ends: list[int] = []  # the positions in the file behind the head and behind each move

    def update(self, episode: Episode, agent: str) -> None:
        """Update the file after moves were made or undone.

        Args:
            episode: The current game.
            agent: Who has played so far.

        Raises:
            FileError: The file cannot be written now. It is as it was before, and the next call writes what is missing.
        """
        turns = episode.history
        ends = self._ends[: len(turns) + 1] if turns else []
        at = ends[-1] if ends else self._start
        pieces = []
        if turns and not ends:
            pieces.append(head_text(episode.game, episode.seed, episode.number, turns[0].board.state))
            ends.append(at + len(pieces[0]))
        for i in range(max(0, len(ends) - 1), len(turns)):
            then = turns[i + 1] if i + 1 < len(turns) else episode
            entry = move_text(episode.game, turns[i].action, then.board.state, then.score)
            pieces.append(f", {entry}" if i else entry)
            ends.append(ends[-1] + len(pieces[-1]))
        if turns:
            pieces.append(tail_text(agent, episode.score, episode.is_over) + "\n")
        self._replace("".join(pieces).encode(), at)
        self._ends = ends

    def _replace(self, data: bytes, at: int) -> None:
        """Write the end of the line, or leave the file as it was."""
        end, before = self._end, b""
        try:
            self._file.seek(at)
            before = self._file.read(end - at)
            self._write(data, at)
        except OSError as error:
            self._end = 1 << 62  # whatever was written is cut off
            try:
                self._write(before, at)
            except OSError:
                self._file.truncate(self._start)  # the game is in memory, and its line is written again
                self._end, self._ends = self._start, []
            raise write_error(self.path, error) from error
