"""The journal of a run: one event a chunk in its folder, from which `orthodrome watch` shows the run as it goes on.

    {"event": "chunk", "time": ..., "phase": "draws", "done": 500, "planned": 1000, "rate": ..., "acceptance": ...,
     "temperature": ..., "divergences": 0, "ess": ..., "perplexity": ...}

A line costs some ten microseconds. In long runs a line stands for several chunks (`SHARE`), so that the file does not
grow without bound. ESS is a quick look at a few numbers of each draw, of at most `ROWS` draws, taken again when their
number has grown by half. If the folder cannot be written, the run says so once and goes on.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from orthodrome.run.loop import Kept
from orthodrome.run.progress import Progress
from orthodrome.run.stop import next_look
from orthodrome.storage.events import EventLog

SHARE = 1 / 2000
"""The share of the time since the start that passes between two lines at least."""
NUMBERS, ROWS = 16, 4096
"""The numbers of a draw that ESS is taken of, and the largest number of rows that are kept for it."""
MEASURES = {"acceptance_rate": "acceptance", "temperature": "temperature"}
NEWEST = {"log_perplexity": "log_perplexity", "perplexity": "perplexity", "score": "score"}
"""Statistics that are measured now and then: the newest value."""


class Journal:
    """What a run tells those who watch it; without a folder, nothing.

    folder: of the checkpoint or of the store; None: nobody can watch
    """

    def __init__(self, folder: Path | None, bar: Progress) -> None:
        self.bar = bar
        self.log: EventLog | None = None
        self.began, self.written = time.monotonic(), 0.0
        self.sums: dict[str, list[float]] = {}
        self.newest: dict[str, float] = {}
        self.divergences, self.seen, self.thin, self.looked, self.ess = 0, 0, 1, 0, float("nan")
        self.rows: list[np.ndarray] = []
        self.places: list[np.ndarray] = []
        self.open = False  # whether a beginning was told and no end
        if folder is not None:
            self._try(lambda: self._open(folder))

    def _open(self, folder: Path) -> None:
        self.log = EventLog(folder)

    def begin(self, phase: str, done: int, planned: int, about: dict[str, Any]) -> None:
        """Tell that a phase begins or goes on."""
        self.at_begin, self.phase_began = done, time.monotonic()
        self.divergences, self.sums, self.first = 0, {}, True
        who = {"process": os.getpid(), "host": socket.gethostname()}
        self._tell("begin", {"phase": phase, "done": done, "planned": planned} | who | about)

    def chunk(self, phase: str, done: int, planned: int, kept: Kept) -> None:
        """Tell what a chunk has brought, if it is time."""
        if self.log is None:
            return
        self._read(phase, kept)
        now = time.monotonic()
        if self.first:  # the first chunk holds the compilation: no rate from it
            self.first, self.at_begin, self.phase_began = False, done, now
        if now - self.written < SHARE * (now - self.began) and done < planned:
            return
        self.written = now
        elapsed = now - self.phase_began
        rate = (done - self.at_begin) / elapsed if elapsed > 0 else float("nan")
        means = {name: float(np.mean(values)) for name, values in self.sums.items()}
        found = {"rate": rate, **means, **self.newest, "ess": self._ess(phase, done, planned)}
        told = {name: float(f"{value:.6g}") for name, value in found.items() if np.isfinite(value)}
        counts = {"phase": phase, "done": done, "planned": planned, "divergences": self.divergences}
        self._tell("chunk", counts | told)
        self.sums = {}

    def tell(self, event: str, **about: Any) -> None:
        """Tell something else: a commit, or the end."""
        self._tell(event, about)

    def stop_wanted(self) -> bool:
        """Return whether somebody asked the run to stop."""
        return self.log is not None and self.log.stop_wanted()

    def close(self) -> None:
        """End the journal; a run that has not told its end is ended by an error."""
        if self.log is not None:
            if self.open:
                self._tell("end", {"reason": "failed"})
            self.log.close()
            self.log = None

    def _read(self, phase: str, kept: Kept) -> None:
        fields = kept.info._asdict()
        for name, label in MEASURES.items():
            if fields.get(name) is not None:
                self.sums.setdefault(label, []).append(float(np.mean(fields[name])))
        for name, label in NEWEST.items():
            if fields.get(name) is not None and np.isfinite(value := np.ravel(fields[name][0, -1])[0]):
                self.newest[label] = float(value)
        if phase == "draws":
            self.divergences += int(np.sum(fields["diverging"])) if fields.get("diverging") is not None else 0
            self._keep(kept)

    def _keep(self, kept: Kept) -> None:
        """Keep a few numbers of every so many draws; when there are too many rows, of half as many draws."""
        leaves = [leaf.reshape(*leaf.shape[:2], -1) for leaf in jax.tree.leaves(kept.position)]
        if not leaves:
            return
        count, each = leaves[0].shape[1], max(1, NUMBERS // len(leaves))
        mine = slice(-self.seen % self.thin, None, self.thin)
        self.seen += count
        if not self.places:  # the same in every chunk
            sizes = [leaf.shape[2] for leaf in leaves[:NUMBERS]]
            self.places = [np.linspace(0, size - 1, min(each, size)).astype(int) for size in sizes]
        some = [np.asarray(leaf[:, mine][..., at], np.float32) for leaf, at in zip(leaves, self.places, strict=False)]
        self.rows.append(np.concatenate(some, axis=2))
        if sum(part.shape[1] for part in self.rows) > ROWS:
            self.rows, self.thin = [np.concatenate(self.rows, axis=1)[:, ::2]], 2 * self.thin

    def _ess(self, phase: str, done: int, planned: int) -> float:
        if phase != "draws" or not self.rows or done < min(planned, next_look(self.looked)):
            return self.ess
        from orthodrome.diagnostics.convergence import least
        from orthodrome.diagnostics.quick import quick_ess

        self.looked = done
        rows = np.concatenate(self.rows, axis=1)
        self.ess = least(quick_ess(rows)) if rows.shape[1] >= 8 else float("nan")
        return self.ess

    def _tell(self, event: str, about: dict[str, Any]) -> None:
        self.open = event != "end" and (self.open or event == "begin")
        if (log := self.log) is not None:
            self._try(lambda: log.append({"event": event, "time": round(time.time(), 3)} | about))

    def _try(self, write: Any) -> None:
        try:
            write()
        except OSError as error:
            self.bar.say(f"this run cannot be watched: {error.strerror or error}")
            self.log = None
