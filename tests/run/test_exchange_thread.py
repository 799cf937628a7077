"""The thread that carries exchanges interrupts no other; threads that compute or sleep elsewhere keep their policy."""

from __future__ import annotations

import os
import select
import threading

import pytest

from orthodrome.run.parallel.exchange_thread import TASKS, exchange_waits_its_turn

pytestmark = pytest.mark.skipif(
    not TASKS.exists() or "SCHED_BATCH" not in dir(os), reason="the system has no such policy"
)


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
