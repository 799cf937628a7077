"""Looking at a run again and again: a fit may draw twice, and it is not finished before its results are written.

    fit/state              the plain run
    fit/state-tempered     the tempered run that follows if the chains of the plain one are in different modes

The one that was written last is looked at, whichever of these folders is named.
"""

from __future__ import annotations

import socket
from pathlib import Path

from orthodrome.jobs.fit_folder import RESULTS
from orthodrome.jobs.run_folder import check_run_folder
from orthodrome.jobs.watch.look import WORDS, RunLook, lives, look
from orthodrome.storage import ownership
from orthodrome.storage.events import EVENTS, EventReader
from orthodrome.storage.ownership import tempered_folder


def events_folder(folder: Path) -> Path:
    """Return the folder whose events are the newest: of a run, in that of a fit, or of the tempered run beside one."""
    plain = [folder, folder / "state"]
    check_run_folder(folder, plain)
    every = [*plain, *map(tempered_folder, plain)]
    places = [place for place in every if (place / ownership.MARKER).is_file()]
    return max(reversed(places), key=last_written)


def last_written(place: Path) -> float:
    """Return when the last event of a run was written; a run without events comes before all others."""
    try:
        return (place / EVENTS).stat().st_mtime
    except OSError:
        return float("-inf")


class Follower:
    """One who looks at a run again and again, and parses only what is new.

    folder: of a fit or of a run
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = events_folder(folder)
        self.reader = EventReader(self.place)

    def look(self, now: float | None = None) -> RunLook:
        """Return how the run stands; now: the time, for tests."""
        if (place := events_folder(self.folder)) != self.place:
            self.place, self.reader = place, EventReader(place)
        seen = look(self.place, now, self.reader)
        if seen.state != "finished" or not self._without_results() or seen.begin.get("host") != socket.gethostname():
            return seen
        state = "drawn" if lives(seen.begin.get("process")) else "without results"
        return seen._replace(state=state, words=WORDS[state])

    def _without_results(self) -> bool:
        """Return whether the folder is that of a fit whose results are not all written."""
        inside = self.place.parent == self.folder and (self.folder / ownership.MARKER).is_file()
        return inside and not (self.folder / RESULTS).is_file()
