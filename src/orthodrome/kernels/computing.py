"""The number of threads of the kernels: numba's is set, that of linear algebra is kept at one (its matrices are small).

Idle threads sleep. By default OpenMP lets them spin, which on a machine that is busy with something else as well makes
two threads five times slower than one (measured); asleep they cost some microseconds per kernel.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numba
from threadpoolctl import threadpool_limits

from orthodrome.core.machine import usable_cores
from orthodrome.kernels.thread_choice import FastestThreads, choice


def _threads() -> int:
    """Return the current number of numba's threads; the first call makes the pool, which reads the environment once."""
    wanted = os.environ.get("OMP_WAIT_POLICY")
    os.environ["OMP_WAIT_POLICY"] = wanted or "passive"
    try:
        return numba.get_num_threads()
    finally:
        if wanted is None:
            del os.environ["OMP_WAIT_POLICY"]


@contextmanager
def computing(n_jobs: int | None) -> Iterator[None]:
    """Run kernels in the block on `n_jobs` threads (None: one or all cores, whichever is faster); results do not
    depend on it."""
    before = _threads()
    token = choice.set(FastestThreads() if n_jobs is None else None)
    wanted = usable_cores() if n_jobs is None else n_jobs
    numba.set_num_threads(max(1, min(wanted, numba.config.NUMBA_NUM_THREADS)))
    try:
        with threadpool_limits(1, "blas"):
            yield
    finally:
        choice.reset(token)
        numba.set_num_threads(before)
