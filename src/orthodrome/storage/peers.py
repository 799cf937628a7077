"""The processes that write one store together, as storage sees them: each has its own chains, the first commits.

Storage asks no more of them than this interface; `run.parallel` has the one of several processes, and here is the one
of a process that is alone.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Peers(Protocol):
    """The processes of one run. A failure of one becomes an error of all at the next `meet`."""

    @property
    def process(self) -> int:
        """The number of this process, from 0."""
        ...

    @property
    def processes(self) -> int:
        """The number of processes."""
        ...

    def meet(self, *numbers: int) -> np.ndarray:
        """Exchange a few whole numbers: (process, number); raise if another process has failed."""
        ...

    def gather(self, values: Any) -> np.ndarray:
        """Return the arrays of all processes, which have one shape, stacked; only right after a `meet`."""
        ...

    def texts(self, text: str) -> list[str]:
        """Return the texts of all processes; only right after a `meet`."""
        ...


class Alone:
    """The interface of several processes for one: nothing is exchanged."""

    process, processes = 0, 1

    def meet(self, *numbers: int) -> np.ndarray:
        """Return the numbers of this process."""
        return np.array([numbers], np.int64)

    def gather(self, values: Any) -> np.ndarray:
        """Return the values of this process."""
        return np.asarray(values)[None]

    def texts(self, text: str) -> list[str]:
        """Return the text of this process."""
        return [text]


ALONE = Alone()
