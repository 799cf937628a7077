"""Vocabulary files, one word per line, and how text files are opened: packed or not, with errors that name the file."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from orthodrome.errors import BadInput


@contextlib.contextmanager
def opened(path: Path, encoding: str = "utf-8") -> Iterator[IO[str]]:
    """A text file, packed or not; what cannot be read is one clear line."""
    try:
        with (
            gzip.open(path, "rt", encoding=encoding) if path.suffix == ".gz" else open(path, encoding=encoding) as file
        ):
            yield file
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise BadInput(
            f"{path} is not {encoding} text: it has a byte {byte:#x}; say its encoding (latin-1?)"
        ) from error
    except (OSError, EOFError) as error:
        raise BadInput(f"cannot read {path}: {reason(error)}") from error


def reason(error: Exception) -> str:
    """What the system says, without the path."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def find_vocabulary(path: Path, vocabulary: Path | None) -> Path | None:
    """The file of the words."""
    if vocabulary is not None:
        return vocabulary
    name = path.name.removeprefix("docword.").split(".")[0]
    beside = [path.with_name(found) for found in ("vocab.txt", "vocab.txt.gz", f"vocab.{name}.txt", f"{name}.vocab")]
    return next((found for found in beside if found.exists()), None)


def read_vocabulary(path: Path | None, width: int) -> tuple[str, ...]:
    """One word per line, at least as many as there are columns."""
    if path is None:
        return tuple(f"word-{column}" for column in range(width))
    with opened(path) as file:
        words = tuple(line.strip() for line in file)
    if len(words) < width:
        raise BadInput(f"{path} has {len(words)} words, but the documents use {width}: is it another vocabulary?")
    return words
