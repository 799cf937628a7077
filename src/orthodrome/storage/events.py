"""The events of a run as lines of JSON in its folder, and the one request that others may put there: to stop.

    folder/_orthodrome/events.jsonl    one line an event: begin, chunk, commit, end
    folder/_orthodrome/stop            somebody asks the run to stop in order; the run removes it

Lines are appended in one write and not flushed to the disk: they are for watching, and nothing depends on them. A kill
may leave the last line torn; the next run begins a new line, and a reader leaves out what is no JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from orthodrome.errors import BadInput
from orthodrome.storage import ownership

EVENTS = f"{ownership.PLACE}/events.jsonl"
STOP = f"{ownership.PLACE}/stop"
LONGEST = 8_000_000
"""The largest number of bytes, from the end of the file, that a reader looks at."""


class EventLog:
    """The events of the run in one folder, open for appending.

    folder: locked and marked as ours already
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / STOP).unlink(missing_ok=True)  # a request that came when nothing ran
        self.descriptor = os.open(folder / EVENTS, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        if torn(self.descriptor):
            os.write(self.descriptor, b"\n")

    def append(self, event: dict[str, Any]) -> None:
        """Append one event."""
        os.write(self.descriptor, (json.dumps(event, separators=(",", ":")) + "\n").encode("utf-8"))

    def stop_wanted(self) -> bool:
        """Return whether somebody asked the run to stop."""
        return (self.folder / STOP).exists()

    def close(self) -> None:
        """Close the file, and remove the request to stop, which has been followed or comes too late."""
        os.close(self.descriptor)
        with contextlib.suppress(OSError):
            (self.folder / STOP).unlink(missing_ok=True)


def torn(descriptor: int) -> bool:
    """Return whether the last line of an open file has no end."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


class EventReader:
    """The events of a folder as they come: a watcher that looks every second parses only what is new.

    folder: of a run; a file of events that was replaced or cut is read from its beginning
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / EVENTS
        self.file: tuple[int, int] | None = None
        self.at = 0
        self.events: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        """Return the events, oldest first, without torn or damaged lines; an empty list if there are none."""
        try:
            with open(self.path, "rb") as file:
                about = os.fstat(file.fileno())
                if (about.st_dev, about.st_ino) != self.file or about.st_size < self.at:
                    self.file, self.at = (about.st_dev, about.st_ino), max(0, about.st_size - LONGEST)
                    self.events = []
                file.seek(self.at)
                content = file.read()
        except FileNotFoundError:
            self.file, self.events = None, []
            return []
        whole = content.rfind(b"\n") + 1  # a line without its end is read again when it has one
        self.at += whole
        self.events += parsed(content[:whole])
        return list(self.events)


def parsed(content: bytes) -> list[dict[str, Any]]:
    """Return the events in lines of JSON."""
    found = []
    for line in content.split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            event = json.loads(line)
            if isinstance(event, dict) and isinstance(event.get("time"), int | float) and "event" in event:
                found.append(event)
    return found


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Return the events of a folder, oldest first, without torn or damaged lines; an empty list if there are none."""
    return EventReader(folder).read()


def ask_to_stop(folder: Path) -> None:
    """Ask the run in a folder to stop in order after its next chunk, with everything committed."""
    try:
        (folder / STOP).touch()
    except OSError as error:
        raise BadInput(f"cannot ask the run in {folder} to stop: {error.strerror or error}") from error
