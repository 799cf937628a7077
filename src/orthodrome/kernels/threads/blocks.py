"""Blocks of work on several threads, each by one call of a compiled function that lets go of the interpreter.

numba's own parallel loops compile what is inside them three more times: as the loop's kernel, with its wrapper, and
with the function around it. For the loops with the largest bodies this was most of the time until a first fit, and
some twenty microseconds for a call of a block are nothing beside its milliseconds. Which thread takes which block is
left to chance, so no result may depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numba

from orthodrome.kernels.threads.starting import number_of_threads


@cache
def _helpers() -> ThreadPoolExecutor:
    """Return the threads beside the caller's; they sleep while they have nothing to do."""
    return ThreadPoolExecutor(max(1, numba.config.NUMBA_NUM_THREADS - 1), thread_name_prefix="orthodrome-blocks")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not survive a fork


def over_blocks(function: Callable[..., Any], blocks: int, *args: Any) -> None:
    """Call `function(block, thread, *args)` for every block, on at most as many threads as numba would use.

    thread: a number from 0 on that no two calls have at the same time
    """
    threads, left = min(number_of_threads(), blocks), iter(range(blocks))

    def work(thread: int) -> None:
        for block in left:  # whoever is free takes the next one
            function(block, thread, *args)

    others = [_helpers().submit(work, thread) for thread in range(1, threads)]
    try:
        work(0)
    finally:
        for other in others:
            other.result()
