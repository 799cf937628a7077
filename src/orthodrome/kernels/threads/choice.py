"""One thread or all of them: whichever is faster, measured now and then.

A draw of the topics is dozens of kernels of some ten to a hundred microseconds. On a machine where waking a thread
takes as long, two threads are half as fast as one; with more topics or words they are faster. The numbers that are
drawn do not depend on it, so a clock may decide. `computing(None)` makes the choice for everything called inside.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numba

EVERY, TRIALS, FIRST = 256, 8, 2
"""Calls from one trial to the next, calls of a trial, and calls at the start that may compile."""
CLEARLY = 1.05
"""How much faster one thread must be than all: to change their number takes some ten microseconds, there and back."""


class FastestThreads:
    """A caller of functions that uses the number of threads that was fastest in the latest trial."""

    def __init__(self) -> None:
        self.calls, self.best, self.most = 0, 0, 0
        self.seconds_of: dict[int, float] = {}

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function, timed if the call is part of a trial."""
        most = self.most = self.most or numba.get_num_threads()
        turn = self.calls % EVERY - (FIRST if self.calls < EVERY else 0)
        trying = 0 <= turn < TRIALS
        if turn == 0:
            self.seconds_of.clear()
        threads = (1, most)[turn % 2] if trying else self.best or most
        began = time.perf_counter()
        if threads != most:
            numba.set_num_threads(threads)
        try:
            return function(*args)
        finally:
            if threads != most:
                numba.set_num_threads(most)
            self.calls += 1
            if trying:
                self._learn(threads, time.perf_counter() - began)

    def _learn(self, threads: int, seconds: float) -> None:
        self.seconds_of[threads] = min(seconds, self.seconds_of.get(threads, seconds))
        self.best = min(self.seconds_of, key=lambda n: self.seconds_of[n] * (1.0 if n == self.most else CLEARLY))


choice: ContextVar[FastestThreads | None] = ContextVar("choice", default=None)
"""The choice of the surrounding `computing(None)`, if there is one."""


def on_fastest_threads(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function with the number of threads that the surrounding `computing` asks for, or that is fastest."""
    chosen = choice.get()
    return function(*args) if chosen is None else chosen.call(function, *args)
