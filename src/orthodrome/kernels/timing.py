"""A profile: the seconds that parts of a computation took, counted while a stopwatch runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_running: ContextVar[dict[str, float] | None] = ContextVar("stopwatch", default=None)


@contextmanager
def stopwatch() -> Iterator[dict[str, float]]:
    """Count the seconds of every part that is timed inside the block."""
    seconds: dict[str, float] = {}
    token = _running.set(seconds)
    try:
        yield seconds
    finally:
        _running.reset(token)


def timed(part: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function and add its seconds to the part, if a stopwatch runs."""
    seconds = _running.get()
    if seconds is None:
        return function(*args)
    began = time.perf_counter()
    found = function(*args)
    seconds[part] = seconds.get(part, 0.0) + time.perf_counter() - began
    return found
