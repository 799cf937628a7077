"""The thread that carries exchanges interrupts no other; threads that compute or sleep elsewhere keep their policy."""

from __future__ import annotations

import os
import select
import threading
import time

import pytest

from orthodrome.run.parallel.exchange_thread import EPOLL, TASKS, exchange_waits_its_turn

pytestmark = pytest.mark.skipif(
    not TASKS.exists() or "SCHED_BATCH" not in dir(os), reason="the system has no such policy"
)


def wait_until_it_waits(thread: threading.Thread) -> None:
    """Return when a thread sleeps in `epoll_wait`, however busy the machine is; skip where the system hides it."""
    for _ in range(6_000):
        where = (TASKS / str(thread.native_id) / "wchan").read_text()
        if where in EPOLL:
            return
        time.sleep(0.01)
    pytest.skip(f"the system says that a thread which waits for a socket is in {where!r}")


def test_only_new_threads_that_wait_for_sockets_wait_their_turn() -> None:
    end, write = os.pipe()
    over = threading.Event()
    poll = select.epoll()
    poll.register(end, select.EPOLLIN)
    older, waiting = threading.Thread(target=poll.poll), threading.Thread(target=poll.poll)
    sleeping = threading.Thread(target=over.wait)
    older.start()
    try:
        with exchange_waits_its_turn():
            waiting.start()
            sleeping.start()
            wait_until_it_waits(waiting)
        policies = [os.sched_getscheduler(thread.native_id or 0) for thread in (older, waiting, sleeping)]
    finally:
        over.set()
        os.write(write, b".")
        for thread in (older, waiting, sleeping):
            thread.join()
        poll.close()
        os.close(end)
        os.close(write)
    assert policies == [os.SCHED_OTHER, os.SCHED_BATCH, os.SCHED_OTHER]
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
