"""Blocks of work are each done once, on no more threads than are asked for, and a failure is not lost."""

from __future__ import annotations

import threading
import time

import numba
import pytest

from orthodrome.kernels.threads.blocks import over_blocks
from orthodrome.kernels.threads.computing import computing


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("blocks", [0, 1, 23])
def test_every_block_is_done_once(blocks: int, n_jobs: int) -> None:
    seen: list[tuple[int, int, str]] = []
    busy: set[int] = set()

    def work(block: int, thread: int, word: str) -> None:
        assert thread not in busy, "two calls with one number of a thread at a time"
        busy.add(thread)
        time.sleep(0.001)
        seen.append((block, threading.get_ident(), word))
        busy.remove(thread)

    with computing(n_jobs):
        most = numba.get_num_threads()
        over_blocks(work, blocks, "word")
    assert sorted(block for block, _, _ in seen) == list(range(blocks))
    assert {word for _, _, word in seen} <= {"word"}
    assert len({ident for _, ident, _ in seen}) <= most


@pytest.mark.parametrize("bad", [0, 7])
def test_a_block_that_fails_fails_the_call_when_all_have_ended(bad: int) -> None:
    running: set[int] = set()

    def work(block: int, thread: int) -> None:
        running.add(thread)
        time.sleep(0.001)
        running.remove(thread)
        if block == bad:
            raise ValueError(f"block {block}")

    with pytest.raises(ValueError, match=f"block {bad}"):
        over_blocks(work, 9)
    assert not running
