"""Opening of files: compressed or not, never a pipe, never more than the machine can hold, with errors that name them.

A compressed file may unpack to a thousand times its size. Text compresses to a tenth or so, so a file that unpacks to
more than `MOST_PACKED` times its size is not text, and a line of more than `LONGEST_LINE` characters is not a document.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from orthodrome.errors import BadInput, OrthodromeError

LONGEST_LINE = 1 << 26
"""The largest number of characters of a line, or of a file that is one document."""
MOST_PACKED, FREE_BYTES = 100, 1 << 26
"""How much larger than its file a text may be, after so many bytes that are always read."""


class Unpacked(io.RawIOBase):
    """The content of a .gz file, which raises when it becomes too large to be a text."""

    def __init__(self, path: Path) -> None:
        self.path, self.file, self.left = path, gzip.GzipFile(path), FREE_BYTES + MOST_PACKED * path.stat().st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self.file.read(len(buffer))
        buffer[: len(content)] = content
        self.left -= len(content)
        if self.left < 0:
            raise BadInput(
                f"{self.path} unpacks to more than {MOST_PACKED} times its size: it is not a compressed text"
            )
        return len(content)

    def close(self) -> None:
        self.file.close()
        super().close()


@contextlib.contextmanager
def opened(path: Path, encoding: str = "utf-8", newline: str | None = None) -> Iterator[IO[str]]:
    """Open a text file, compressed or not; what cannot be read is a `BadInput` of one line."""
    try:
        check_regular(path)
        with io.TextIOWrapper(_binary(path), encoding=_with_mark(encoding), newline=newline) as file:
            yield file
    except OrthodromeError:
        raise
    except UnicodeDecodeError as error:
        likely = "utf-16" if error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
        raise BadInput(
            f"{path}{_bad_line(path, encoding)} is not {encoding} text: it has a byte "
            f"{error.object[error.start]:#x}; give its encoding ({likely}?)"
        ) from error
    except LookupError as error:
        raise BadInput(
            f"there is no text encoding {encoding!r}; give one that Python knows (utf-8, latin-1)"
        ) from error
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise BadInput(f"cannot read {path}: {reason(error)}") from error


def check_regular(path: Path) -> None:
    """Raise if the path is a pipe, a device or a folder: reading one may never end."""
    kind = os.stat(path).st_mode
    if not stat.S_ISREG(kind):
        what = "a folder" if stat.S_ISDIR(kind) else "a pipe" if stat.S_ISFIFO(kind) else "a device or a socket"
        raise BadInput(f"cannot read {path}: it is {what}, not a file; write its content to a file first")


def lines(file: IO[str], path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers from 1, and raise if one is too long to be a document."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise BadInput(f"{path}, line {number} has more than {LONGEST_LINE:,} characters: is it a text?")
        yield number, line


def whole(file: IO[str], path: Path) -> str:
    """Return the whole text of a file that is one document."""
    content = file.read(LONGEST_LINE + 1)
    if len(content) > LONGEST_LINE:
        raise BadInput(f"{path} has more than {LONGEST_LINE:,} characters: is it a text?")
    return content


def reason(error: Exception) -> str:
    """Return the message of the operating system, without the path."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _binary(path: Path) -> Any:
    return io.BufferedReader(Unpacked(path)) if path.suffix == ".gz" else open(path, "rb")


def _with_mark(encoding: str) -> str:
    """Return the encoding that skips a byte-order mark, which UTF-8 text may begin with."""
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _bad_line(path: Path, encoding: str) -> str:
    """Return the number of the first line that is not in the encoding (searched anew: readers decode many lines at
    once)."""
    with contextlib.suppress(OSError, EOFError, zlib.error, OrthodromeError), _binary(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return f", line {number}"
    return ""
