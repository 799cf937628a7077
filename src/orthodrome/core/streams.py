"""Output that does no harm: a reader that went away, a closed stream or a full disk never ends the work behind it.

`orthodrome topics fit ... | head -1` closes the pipe after a line; the fit goes on and its files are written. What
could not be printed for another reason than that is said once on the error stream.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any


class Forgiving(io.TextIOBase):
    """A text stream that drops what cannot be written, and prints what its encoding lacks as escapes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        try:
            self._try(lambda stream: stream.write(text))
        except UnicodeEncodeError:
            self._try(lambda stream: stream.write(text.encode("ascii", "backslashreplace").decode()))
        return len(text)

    def flush(self) -> None:
        self._try(lambda stream: stream.flush())

    def isatty(self) -> bool:
        return self.stream is not None and not self.stream.closed and self.stream.isatty()

    def fileno(self) -> int:
        if self.stream is None:
            raise io.UnsupportedOperation("fileno")
        return int(self.stream.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What the characters become: decides whether a table may have lines of its own characters."""
        return getattr(self.stream, "encoding", None) or "ascii"

    def _try(self, act: Any) -> None:
        if self.stream is None:
            return
        try:
            act(self.stream)
        except UnicodeEncodeError:
            raise
        except (OSError, ValueError) as error:
            lost, self.stream = self.stream, None
            give_up(lost, error)


def give_up(stream: Any, error: Exception) -> None:
    """Send what the stream still holds nowhere, so that the interpreter does not fail on it at its end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
    if isinstance(error, OSError) and error.errno != errno.EPIPE and stream is not sys.stderr:
        print(f"orthodrome: the output could not be written: {error.strerror}", file=Forgiving(sys.stderr))


def open_closed_streams() -> None:
    """Open the standard streams that the caller closed, and let the others print what an encoding lacks as escapes.

    A file that is opened while descriptor 1 or 2 is free gets its number, and is then written to by everything that
    prints.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.dup(number), "r" if number == 0 else "w", encoding="utf-8"))
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
