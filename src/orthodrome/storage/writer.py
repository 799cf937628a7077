"""Blocks of draws are written behind the run, in order, by one thread that mostly waits for the disk.

Nothing is promised of a block until `settle` has returned: then it is on the disk, and its name in its folder. A block
that could not be written is an error of the next call.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from orthodrome.errors import CheckpointError
from orthodrome.storage import files

MOST_WAITING = 64
"""Files that may wait to be written: on a slow disk the run waits, and memory does not grow."""


class Writer:
    """One thread, started with the first file."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="orthodrome-writer")
        self.waiting: deque[Future[None]] = deque()
        self.folders: set[Path] = set()

    def write(self, path: Path, content: memoryview) -> None:
        """Soon."""
        self._wait(MOST_WAITING - 1)
        self.folders.add(path.parent)
        self.waiting.append(self.thread.submit(_write, path, content))

    def settle(self) -> None:
        """Wait until everything written so far is on the disk."""
        self._wait(0)
        files.settle(self.folders)
        self.folders.clear()

    def close(self) -> None:
        """End the thread: what it has begun is written, what waits is dropped. Nothing is written after this."""
        self.thread.shutdown(wait=True, cancel_futures=True)

    def _wait(self, most: int) -> None:
        """Until at most so many files wait; and hear of those that are done."""
        while self.waiting and (len(self.waiting) > most or self.waiting[0].done()):
            self.waiting.popleft().result()


def _write(path: Path, content: memoryview) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(path, content)
        files.settle([path])
    except OSError as error:
        raise write_failure(path, error) from error


def write_failure(path: Path, error: OSError) -> CheckpointError:
    """Return the error of draws that cannot be written."""
    return CheckpointError(
        f"could not write draws to {path}: {error.strerror or error}; the last checkpoint, if any, is still valid: "
        "make room and call `sample` again"
    )
