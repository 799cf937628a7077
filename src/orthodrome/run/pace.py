"""How many draws to ask for at once: about half a second's worth, found as the run goes."""

from __future__ import annotations

import time

SECONDS = 0.5
GROWTH = 8


class Pace:
    """The next chunk's length; the first chunk is one draw, because it also holds the compilation."""

    def __init__(self, longest: int) -> None:
        self.longest, self.count, self.chunks = longest, 1, 0
        self.began = 0.0

    def start(self) -> None:
        """A chunk begins."""
        self.began = time.monotonic()

    def stop(self, count: int) -> None:
        """A chunk of `count` draws is over."""
        elapsed = max(time.monotonic() - self.began, 1e-6)
        self.chunks += 1
        if self.chunks > 1 or elapsed < SECONDS / 10:
            self.count = max(1, min(self.longest, GROWTH * count, int(count * SECONDS / elapsed)))
