"""Starting numba's threads such that idle ones sleep.

By default OpenMP lets threads that have nothing to do spin. On a machine that is busy with something else as well this
makes two threads five times slower than one, and the search of a mixture's start took sixty times the processor
(measured); asleep they cost some microseconds per kernel. OpenMP reads its environment once, when the threads start.
"""

from __future__ import annotations

import os

import numba

_POLICY = "OMP_WAIT_POLICY"


def number_of_threads() -> int:
    """Return the current number of numba's threads; the first call starts them, to sleep while they are idle."""
    wanted = os.environ.get(_POLICY)
    os.environ[_POLICY] = wanted or "passive"
    try:
        return numba.get_num_threads()
    finally:
        if wanted is None:
            del os.environ[_POLICY]
