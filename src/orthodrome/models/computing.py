"""How many threads the kernels use: numba's are set, the linear algebra's are kept at one (its matrices are small)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
from threadpoolctl import threadpool_limits

from orthodrome.parallel import usable_cores


@contextmanager
def computing(n_jobs: int | None) -> Iterator[None]:
    """Inside, kernels run on `n_jobs` threads (None: all cores); results do not depend on it."""
    before = numba.get_num_threads()
    wanted = usable_cores() if n_jobs is None else n_jobs
    numba.set_num_threads(max(1, min(wanted, numba.config.NUMBA_NUM_THREADS)))
    try:
        with threadpool_limits(1, "blas"):
            yield
    finally:
        numba.set_num_threads(before)
