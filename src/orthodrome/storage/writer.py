"""A background thread that writes blocks of draws in order, so that the run does not wait for the disk.

Nothing is guaranteed about a block until `settle` has returned: then it is on the disk, and its name in its folder. If
a block could not be written, the next call raises.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from orthodrome.errors import CheckpointError
from orthodrome.storage import files

MOST_WAITING = 64
"""The largest number of files that wait to be written: on a slow disk the run waits, and memory does not grow."""


class Writer:
    """A queue of files to write and one thread that writes them, started with the first file."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="orthodrome-writer")
        self.waiting: deque[Future[None]] = deque()
        self.folders: set[Path] = set()

    def write(self, path: Path, content: memoryview) -> None:
        """Queue a file for writing, and wait while too many are queued."""
        self._wait(MOST_WAITING - 1)
        self.folders.add(path.parent)
        self.waiting.append(self.thread.submit(_write, path, content))

    def settle(self) -> None:
        """Wait until everything queued so far is on the disk."""
        self._wait(0)
        files.settle(self.folders)
        self.folders.clear()

    def close(self) -> None:
        """End the thread: files that it has begun are finished, queued ones are dropped, and nothing is written
        after this."""
        self.thread.shutdown(wait=True, cancel_futures=True)

    def _wait(self, most: int) -> None:
        """Wait until at most `most` files are queued, and raise the error of any that failed."""
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
    """Return the error for draws that cannot be written."""
    return CheckpointError(
        f"could not write draws to {path}: {error.strerror or error}; the last checkpoint, if any, is still valid: "
        "make room and call `sample` again"
    )
