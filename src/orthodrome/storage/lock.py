"""One run per folder: a lock that the operating system releases when the process ends, however it ends.

The lock is `flock` on a file that stays in the folder (on Windows: a locked byte of it); the presence of the file means
nothing, only the lock does, so a killed run leaves nothing to clean up. A child made by `fork` releases its copy at
once, so that it cannot keep the lock of a parent that died. Where the file system has no locks, a warning says that two
runs in the folder would not be noticed, and the run goes on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path

from orthodrome.errors import CheckpointError, OrthodromeWarning

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
"""The error numbers of a file system without locks."""
HELD = {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK, errno.EDEADLK}
"""The error numbers of a lock that another process holds."""
FAR_BYTE = 1 << 30
"""The byte that is locked on Windows, far beyond the text, since others cannot read a locked byte."""

_open: set[int] = set()


@contextlib.contextmanager
def locked(path: Path, folder: Path) -> Iterator[None]:
    """Hold the lock file `path` of a folder, or raise if another run holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    _open.add(descriptor)
    try:
        _take(descriptor, folder)
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        _open.discard(descriptor)
        os.close(descriptor)


def _take(descriptor: int, folder: Path) -> None:
    try:
        _lock(descriptor)
    except OSError as error:
        if error.errno in HELD:
            raise CheckpointError(
                f"another run is writing in {folder} ({_holder(descriptor)}); wait for its end, or choose another "
                "folder"
            ) from error
        if error.errno not in NO_LOCKS:
            raise
        text = f"the file system of {folder} has no locks: make sure that no other run writes in this folder"
        warnings.warn(text, OrthodromeWarning, stacklevel=2)


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        os.lseek(descriptor, FAR_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 200).decode(errors="replace") or "it has not identified itself"


def _give_back() -> None:
    for descriptor in _open:
        os.close(descriptor)
    _open.clear()


if "register_at_fork" in dir(os):
    os.register_at_fork(after_in_child=_give_back)
