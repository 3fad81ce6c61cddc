"""A disk that is full for a while, as the kernel of the system has it: no file of this process may grow."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["fill_disk", "free_disk", "full_disk"]

_, HARD = resource.getrlimit(resource.RLIMIT_FSIZE)


def fill_disk(limit: int = 0) -> None:
    """Let no file grow beyond a number of bytes. Python ignores the signal; writing is an error."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, HARD))


def free_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (HARD, HARD))


@contextmanager
def full_disk(limit: int = 0) -> Iterator[None]:
    fill_disk(limit)
    try:
        yield
    finally:
        free_disk()
