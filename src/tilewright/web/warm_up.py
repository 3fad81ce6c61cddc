"""The first seconds of a server: kernels are loaded, or compiled if they are not in the cache."""

import asyncio
import threading
import time

from numba.core import event

from tilewright.web.schemas import JsonObject

__all__ = ["WarmUpStatus"]

_POLL_SECONDS = 0.02
_ABOUT_SECONDS = 8.0  # that the kernels of the first answer take to compile on one core of a laptop


class WarmUpStatus(event.Listener):  # type: ignore[misc]  # numba is not typed
    """Whether the kernels of the first answers are there; it listens to Numba's compiler until they are."""

    def __init__(self) -> None:
        """Begin to count."""
        self._began = time.monotonic()
        self._is_loading = threading.Event()
        self._is_ready = threading.Event()
        self._compiles = threading.Event()

    def __enter__(self) -> "WarmUpStatus":
        """Listen while the kernels are loaded."""
        event.register("numba:compile", self)
        self._is_loading.set()
        return self

    def __exit__(self, *_: object) -> None:
        """The kernels are there."""
        event.unregister("numba:compile", self)
        self._is_ready.set()
        self._is_loading.clear()

    def on_start(self, _: event.Event) -> None:
        """A kernel is compiled."""
        self._compiles.set()

    def on_end(self, _: event.Event) -> None:
        """A kernel is compiled; others may follow."""

    async def until_loaded(self) -> None:
        """Wait while kernels are loaded: a search has a low priority, and would hold up everybody if it loaded them."""
        while self._is_loading.is_set():
            await asyncio.sleep(_POLL_SECONDS)

    def to_json(self) -> JsonObject:
        """Return the fields of `StatusAnswer`."""
        is_ready = self._is_ready.is_set()
        return {
            "ready": is_ready,
            "compiling": self._compiles.is_set() and not is_ready,
            "seconds": 0.0 if is_ready else time.monotonic() - self._began,
            "about": _ABOUT_SECONDS,
        }
