"""The number of draws in a chunk: as many as take about half a second, measured as the run goes on.

Processes that run together wait for the slowest of them at the end of a chunk. Their chunks take two seconds: delays
that come and go at random add up less than proportionally, and are waited for less often.
"""

from __future__ import annotations

import time

SECONDS = 0.5
"""The time of a chunk: short enough for progress and Ctrl-C, long enough that the work between chunks costs nothing."""
SECONDS_TOGETHER = 2.0
"""The same where processes run together."""
GROWTH = 32
"""The largest factor from one chunk to the next: draws may take longer as the warm-up goes on."""


class Pace:
    """The length of the next chunk; the first chunk is one draw, because it also includes the compilation."""

    def __init__(self, longest: int, processes: int = 1) -> None:
        self.longest, self.count, self.chunks = longest, 1, 0
        self.seconds = SECONDS if processes == 1 else SECONDS_TOGETHER
        self.began = 0.0

    def start(self) -> None:
        """Start the clock of a chunk."""
        self.began = time.monotonic()

    def microseconds(self) -> int:
        """Return the time since the chunk began."""
        return round(1e6 * (time.monotonic() - self.began))

    def learn(self, count: int, microseconds: int) -> None:
        """Set the length of the next chunk from the time of one of `count` draws (of the slowest process)."""
        elapsed = max(1, microseconds) / 1e6
        self.chunks += 1
        if self.chunks > 1 or elapsed < self.seconds / 10:
            self.count = max(1, min(self.longest, GROWTH * count, int(count * self.seconds / elapsed)))
