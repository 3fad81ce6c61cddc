"""Locks on open files. The system releases them when the file is closed, also by the end of a process."""

import os

__all__ = ["lock_descriptor"]

_LOCKED_BYTE = 1 << 30  # Windows locks bytes, and those that others shall read must be free


def lock_descriptor(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False if another one holds the lock.

    Some network file systems have no locks; there the answer is always True.
    """
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
