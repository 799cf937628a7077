"""Facts about the computer."""

from __future__ import annotations

import os

UNKNOWN_MEMORY = 1 << 33
"""The bytes of memory that are assumed if the machine does not report them."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if "sched_getaffinity" in dir(os) else os.cpu_count() or 1


def physical_memory() -> int:
    """Return the bytes of memory of this machine; where it does not say, what a small one has."""
    if "sysconf" in dir(os) and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return UNKNOWN_MEMORY
