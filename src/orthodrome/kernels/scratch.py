"""Scratch arrays for results that are used at once and then discarded, kept for the next call.

A new array of a few hundred kilobytes costs as much as filling it, since the system hands out its pages one by one.
Each thread has its own.
"""

from __future__ import annotations

import threading

import numpy as np

_held = threading.local()


def scratch(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array with arbitrary content, the same as in this thread's last call of equal shape and dtype."""
    array: np.ndarray | None = _held.__dict__.get("array")
    if array is None or array.shape != shape or array.dtype != dtype:
        _held.array = array = np.empty(shape, dtype)
    return array
