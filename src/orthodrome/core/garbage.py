"""Python's collector of cyclic garbage, paused while many objects are made that stay, as when programs are traced.

Tracing and lowering make hundreds of thousands of small objects, nearly all of which stay, and the collector looks at
all objects of the process again and again as their number grows: a fifth of the time from a cold start to the draws.
Cycles that become garbage meanwhile are collected afterwards.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collected_later() -> Iterator[None]:
    """Pause the collector of cyclic garbage; afterwards it is on if it was on before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
