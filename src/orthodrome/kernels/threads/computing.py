"""The number of threads of the kernels: numba's is set, that of linear algebra, whose matrices are small, is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
from threadpoolctl import threadpool_limits

from orthodrome.core.machine import usable_cores
from orthodrome.kernels.threads.choice import FastestThreads, choice
from orthodrome.kernels.threads.starting import number_of_threads


@contextmanager
def computing(n_jobs: int | None) -> Iterator[None]:
    """Run kernels in the block on `n_jobs` threads (None: one or all cores, whichever is faster); results do not
    depend on it."""
    before = number_of_threads()
    token = choice.set(FastestThreads() if n_jobs is None else None)
    wanted = usable_cores() if n_jobs is None else n_jobs
    numba.set_num_threads(max(1, min(wanted, numba.config.NUMBA_NUM_THREADS)))
    try:
        with threadpool_limits(1, "blas"):
            yield
    finally:
        choice.reset(token)
        numba.set_num_threads(before)
