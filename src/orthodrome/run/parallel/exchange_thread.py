"""The thread that moves JAX's exchanges between processes does not interrupt the threads that compute.

Gloo, which carries the collectives of CPUs, has one thread of its own that waits for events of its sockets. While
another thread holds the lock of a connection, that thread does not sleep until the lock is free: it asks again and
again. Woken on the core of the holder, it takes the core away from it for a whole time slice, and an exchange of a few
bytes takes 3 to 8 ms instead of 0.1 to 0.3 (two processes, each with one core; measured by `perf` and by the clock).
Under Linux's policy `SCHED_BATCH` a thread that wakes up does not interrupt the one that runs. It keeps its full share
of a core that other programs use too, unlike under `SCHED_IDLE`, with which an exchange beside a busy program took 0.1
s. Where the system has no such policy, or does not show its threads, nothing is changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TASKS = Path("/proc/self/task")
EPOLL = ("do_epoll_wait", "ep_poll")
"""The kernel's function in which a thread waits for events of sockets, by its names in versions of Linux."""
PATIENCE = 0.5
"""Seconds within which a new thread is taken to have reached the call in which it waits."""


@contextmanager
def exchange_waits_its_turn() -> Iterator[None]:
    """Let the threads that the block starts, and that wait for sockets, interrupt no other."""
    before = _threads()
    yield
    if not before or "sched_setscheduler" not in dir(os):
        return
    until = time.monotonic() + PATIENCE
    while not (found := [thread for thread in _threads() - before if _waits_for_sockets(thread)]):
        if time.monotonic() > until:
            return
        time.sleep(0.01)
    for thread in found:
        with suppress(OSError):  # the thread has ended, or the system forbids it
            os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))


def _threads() -> set[int]:
    """Return the numbers of this process's threads; none where the system does not show them."""
    with suppress(OSError):
        return {int(name) for name in os.listdir(TASKS)}
    return set()


def _waits_for_sockets(thread: int) -> bool:
    """Return whether a thread sleeps in `epoll_wait`."""
    with suppress(OSError):
        return (TASKS / str(thread) / "wchan").read_text() in EPOLL
    return False
