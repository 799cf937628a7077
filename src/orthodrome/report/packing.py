"""Numbers in a page: short decimal texts for few of them, base64 of whole numbers for many.

    packed:  value = low + step * code,     code = 0 .. 2^bits - 2,     the largest code: missing

so that 800,000 numbers take a megabyte, and the page decodes them in milliseconds. A picture of a few hundred points
does not show more than eight or sixteen bits.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

DIGITS = 5
"""Significant digits of a number that is written as a text."""
KINDS = {8: "u1", 16: "<u2"}


def packed(values: Any, bits: int = 16) -> dict[str, Any]:
    """Return an array of numbers as base64 of whole numbers of 8 or 16 bits between its extremes.

    values: any shape; what is not finite is missing
    """
    array = np.asarray(values, float)
    known = np.isfinite(array)
    low, high = (float(array[known].min()), float(array[known].max())) if known.any() else (0.0, 0.0)
    top = 2**bits - 2
    step = (high - low) / top
    # halves before the difference: the range of two extreme numbers may overflow
    scaled = np.where(known, array / 2 - low / 2, 0.0) / (step / 2 if step > 0 else 1.0)
    codes = np.where(known, np.rint(scaled), top + 1).astype(KINDS[bits])
    return _content(codes, bits) | {"low": low, "step": step if math.isfinite(step) else 0.0}


def packed_codes(values: Any, bits: int = 16) -> dict[str, Any]:
    """Return whole numbers, none of them negative, as base64."""
    array = np.asarray(values)
    if array.size and (array.min() < 0 or array.max() > 2**bits - 2):
        raise ValueError(f"codes are from 0 to {2**bits - 2}, not {array.min()} to {array.max()}")
    return _content(array.astype(KINDS[bits]), bits) | {"low": 0, "step": 1}


def _content(codes: np.ndarray, bits: int) -> dict[str, Any]:
    text = base64.b64encode(np.ascontiguousarray(codes).tobytes()).decode("ascii")
    return {"packed": text, "bits": bits, "shape": list(codes.shape)}


def plain(value: Any) -> Any:
    """Return a tree of dicts, lists, texts and numbers as JSON has them: rounded, and None for what is not finite."""
    if isinstance(value, dict):
        return value if "packed" in value else {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value if value is None else str(value)
