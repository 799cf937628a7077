"""One thread or all of them: whichever draws faster, tried now and then.

A draw of the topics is dozens of kernels of some ten to a hundred microseconds. On a machine where waking a thread
takes as long, two threads are half as fast as one; with more topics or words they are faster. The numbers that are
drawn do not depend on it, so a clock may decide.
"""

from __future__ import annotations

import time
from typing import Any

import numba

EVERY, TRIALS, FIRST = 256, 8, 2
"""Draws from one trial to the next, draws of a trial, and draws at the start that may compile."""


class FastestThreads:
    """An engine whose draws are made with the number of threads that has been fastest of late."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.draws, self.best = engine, 0, 0
        self.seconds_of: dict[int, float] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def draw(self, state: Any, tune: float) -> Any:
        """A draw of the engine, timed if it is part of a trial."""
        most = numba.get_num_threads()
        turn = self.draws % EVERY - (FIRST if self.draws < EVERY else 0)
        trying = 0 <= turn < TRIALS
        if turn == 0:
            self.seconds_of.clear()
        threads = (1, most)[turn % 2] if trying else self.best or most
        began = time.perf_counter()
        numba.set_num_threads(min(threads, most))
        try:
            return self.engine.draw(state, tune)
        finally:
            numba.set_num_threads(most)
            self.draws += 1
            if trying:
                self._learn(threads, time.perf_counter() - began)

    def _learn(self, threads: int, seconds: float) -> None:
        self.seconds_of[threads] = min(seconds, self.seconds_of.get(threads, seconds))
        self.best = min(self.seconds_of, key=self.seconds_of.__getitem__)
