"""How much memory there is, so that what is too large is refused before it is taken."""

import os
from pathlib import Path

from tilewright.errors import UsageError

__all__ = ["available_memory", "check_memory", "format_bytes"]

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_CGROUP_FILES = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def available_memory() -> int | None:
    """Return the bytes that this process can still take without swapping; None where the system does not say."""
    found = [room for room in (_free_memory(), _free_in_container()) if room is not None]
    return min(found, default=None)


def _free_memory() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return 1024 * int(lines["MemAvailable"].split()[0])
    except (KeyError, OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # macOS and Windows
        return None


def _free_in_container() -> int | None:
    """Return what is left of the limit of a container, if it has one."""
    for limit, used in _CGROUP_FILES:
        try:
            return max(0, int((_CGROUP / limit).read_text()) - int((_CGROUP / used).read_text()))
        except (OSError, ValueError):  # another version, or "max": no limit
            continue
    return None


def check_memory(needed: int, what: str, error: type[UsageError] = UsageError) -> None:
    """Raise `error` if `what` takes more memory than there is.

    Args:
        needed: The number of bytes that it takes.
        what: What the message begins with, such as `the network`.
        error: The class to raise.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise error(f"{what} takes {format_bytes(needed)} of memory; {format_bytes(available)} are available")


def format_bytes(count: int) -> str:
    """Write a number of bytes for a message.

    >>> format_bytes(512), format_bytes(3_200_000), format_bytes(7 * 10**12)
    ('512 bytes', '3.2 MB', '7,000.0 GB')
    """
    if count < 1_000_000:
        return f"{count:,} bytes"
    return f"{count / 1e6:,.1f} MB" if count < 1_000_000_000 else f"{count / 1e9:,.1f} GB"
