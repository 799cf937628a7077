"""Arrays that a kernel only reads.

Whether an array may be written to is a part of its type in numba, so a kernel that is called with arrays in memory and
with arrays mapped from a file, which may not be written to, is compiled twice: for a kernel as large as the sweep over
tokens or the Cox-Ingersoll-Ross transition that takes seconds. Given `only_read(array)` it is compiled once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def only_read(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array that cannot be written to; nothing is copied."""
    view: NDArray[Any] = np.asarray(array).view()
    view.flags.writeable = False
    return view
