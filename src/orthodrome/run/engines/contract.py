"""The interface of the engines, which carry all chains of a run forward.

Both engines return `(state, Kept)` with NumPy rows (chain, draw, ...) of the chains of this process, use the same keys,
and are driven, saved and resumed alike.
"""

from __future__ import annotations

from typing import Any, Protocol

from orthodrome.run.loop import Kept

BUFFER_BYTES = 16_000_000
"""The draws of one chunk, of all chains, take about this much memory; a row that is larger makes a chunk of its own."""
LONGEST_BUFFER = 8192
"""The largest number of draws in one chunk: more would make no difference to the cost of a chunk."""


class Engine(Protocol):
    """The interface of an engine: it places the sampler and the states, and carries all chains forward."""

    @property
    def length(self) -> int:
        """The largest number of draws in one chunk."""
        ...

    @property
    def libraries(self) -> tuple[str, ...]:
        """The libraries, beside JAX and NumPy, on whose versions the draws depend."""
        ...

    def place(self, state: Any) -> Any:
        """Put a fresh state where the chains run."""
        ...

    def join(self, state: Any) -> Any:
        """Put a state of the chains of this process, read from disk, where they run."""
        ...

    def own(self, state: Any) -> Any:
        """Return the state of the chains of this process, as NumPy arrays."""
        ...

    def place_sampler(self, sampler: Any) -> Any:
        """Put a sampler where the chains run."""
        ...

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        """Carry all chains forward by `count` draws; the state that is passed in must not be used again."""
        ...

    def program(self, sampler: Any, state: Any) -> str:
        """Return a text that identifies what `advance` runs, for the fingerprint."""
        ...


def buffer_length(bytes_per_draw: int) -> int:
    """Return the number of draws in a chunk: a power of two, so that runs of different lengths share a program."""
    rows = max(1, min(LONGEST_BUFFER, BUFFER_BYTES // max(1, bytes_per_draw)))
    return 1 << (rows.bit_length() - 1)
