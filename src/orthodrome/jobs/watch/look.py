"""How a run stands, from the events in its folder: running, stalled, ended, or gone without a word.

A run that does not write is stalled if its process still lives and has been silent for `PATIENCE` times as long as its
longest chunk so far took (and ten seconds at least). Whether a process lives can be asked on its own host only; of runs
elsewhere the silence alone is told.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from pathlib import Path
from typing import Any, NamedTuple

from orthodrome.storage.events import STOP, EventReader

PATIENCE, SHORTEST = 5.0, 10.0
"""How many times its longest gap a run may be silent, and the fewest seconds after which it is called stalled."""
WORDS = {
    "running": "running",
    "stalled": "stalled: its process lives, but nothing has come for {silent}",
    "silent": "on {host}: the last word came {silent} ago",
    "gone": "ended without a word (killed?): resume it, and it goes on from its last commit",
    "finished": "finished",
    "drawn": "running: the draws of this run are complete, the results of the fit are not",
    "without results": "ended after its last draw, before its results were written: resume it",
    "interrupted": "stopped in order: resume it, and it goes on",
    "diverged": "ended: a position became non-finite",
    "failed": "ended by an error, which it told where it was started",
    "waiting": "nothing has been written yet",
}
OVER = ("finished", "interrupted", "diverged", "failed", "gone", "without results")


class RunLook(NamedTuple):
    """How a run stands.

    state: a key of `WORDS`; words: the same in words; begin: the last event of its kind; chunks: of its phase
    asked: whether it has been asked to stop
    """

    state: str
    words: str
    begin: dict[str, Any]
    chunks: list[dict[str, Any]]
    asked: bool

    @property
    def last(self) -> dict[str, Any]:
        """The newest counts."""
        return self.chunks[-1] if self.chunks else self.begin

    @property
    def over(self) -> bool:
        """Whether nothing more will come from this process."""
        return self.state in OVER

    @property
    def can_stop(self) -> bool:
        """Whether there is a run that would hear the request to stop."""
        return not self.over and self.state not in ("waiting", "drawn")


def look(folder: Path, now: float | None = None, reader: EventReader | None = None) -> RunLook:
    """Return how the run in a folder stands; now: the time, for tests; reader: of one who looks again and again."""
    events, asked = (reader or EventReader(folder)).read(), (folder / STOP).exists()
    begins = [k for k, event in enumerate(events) if event["event"] == "begin"]
    if not begins:
        return RunLook("waiting", WORDS["waiting"], {}, [], asked)
    begin, since = events[begins[-1]], events[begins[-1] :]
    chunks = [event for event in since if event["event"] == "chunk"]
    silent = (time.time() if now is None else now) - since[-1]["time"]
    state = state_of(begin, since, silent)
    words = WORDS.get(state, f"ended: {state}").format(silent=clock(silent), host=begin.get("host", "another host"))
    return RunLook(state, words, begin, chunks, asked)


def state_of(begin: dict[str, Any], events: list[dict[str, Any]], silent: float) -> str:
    """Return the state of a run from the events since it last began."""
    if events[-1]["event"] == "end":
        reason = str(events[-1].get("reason", "finished"))
        return "finished" if reason.startswith("Stop(") else reason if reason in WORDS else "finished"
    gaps = [later["time"] - one["time"] for one, later in itertools.pairwise(events)]
    late = silent > max(SHORTEST, PATIENCE * max(gaps, default=0.0))
    if begin.get("host") != socket.gethostname():
        return "silent" if late else "running"
    if not lives(begin.get("process")):
        return "gone"
    return "stalled" if late else "running"


def lives(process: Any) -> bool:
    """Return whether a process of this host lives."""
    if not isinstance(process, int) or process <= 0:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _zombie(process)


def _zombie(process: int) -> bool:
    """Return whether a process has ended and only waits for its parent to notice (where the system tells)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def clock(seconds: float) -> str:
    """Return a duration in words."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def figures(seen: RunLook) -> list[tuple[str, str]]:
    """Return the figures of a run by name, as texts."""
    last = seen.last
    if not last:
        return []
    done, planned, rate = int(last.get("done", 0)), int(last.get("planned", 0)), float(last.get("rate", 0.0))
    rows = [("phase", f"{last.get('phase', '')} {done:,} of {planned:,}")]
    if rate > 0:
        unit = "draws" if last.get("phase") == "draws" else "transitions"
        rows.append(("rate", f"{rate:,.3g} {unit} per second of each chain"))
        if not seen.over and done < planned:
            rows.append(("time left of this phase", clock((planned - done) / rate)))
    names = {"acceptance": "acceptance", "temperature": "temperature", "ess": "effective draws so far (a quick look)"}
    names |= {"log_perplexity": "log-perplexity", "perplexity": "perplexity", "score": "log predictive density"}
    rows += [(text, f"{last[name]:,.4g}") for name, text in names.items() if isinstance(last.get(name), int | float)]
    rows.append(("divergences", f"{int(last.get('divergences', 0)):,}"))
    return rows
