"""Searches that end when nobody waits for them, or when their time is up."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tilewright.agents.base import Player
from tilewright.errors import UsageError

__all__ = ["Search", "TooSlowError"]


class TooSlowError(UsageError):
    """A search took longer than the server allows."""


class Search:
    """The work of one request, one socket or one job, which any thread can stop at any time.

    See `Player.stop` for when the work then ends.
    """

    def __init__(self, max_seconds: float) -> None:
        """Allow this many seconds for each call of `using`."""
        self._max_seconds = max_seconds
        self._player: Player | None = None
        self._began: float | None = None  # when the search of the player was first seen to have begun
        self._is_stopped = False
        self._lock = threading.Lock()

    @contextmanager
    def using(self, player: Player) -> Iterator[None]:
        """Work with a player; the player of a search that was stopped raises SearchStoppedError from then on."""
        with self._lock:
            player.reset_begun()
            self._player, self._began = player, None
            if self._is_stopped:
                player.stop()
        try:
            yield
        finally:
            with self._lock:
                self._player = self._began = None

    def stop(self) -> None:
        """End the work that is under way, and any that begins later."""
        with self._lock:
            self._is_stopped = True
            if self._player is not None:
                self._player.stop()

    def check_time(self) -> None:
        """Notice the time; to be called now and then while the work is under way.

        Raises:
            TooSlowError: The time is up; the work is stopped.
        """
        with self._lock:
            if self._player is None or not self._player.has_begun:
                return
            now = time.monotonic()
            self._began = now if self._began is None else self._began
            is_late, agent = now - self._began > self._max_seconds, self._player.agent.name
        if is_late:
            self.stop()
            raise TooSlowError(
                f"agent {agent}: no move within {self._max_seconds:g} seconds, the limit here; search less deeply"
            )
