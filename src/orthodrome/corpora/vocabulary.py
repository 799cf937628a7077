"""Vocabulary files, one word per line."""

from __future__ import annotations

from pathlib import Path

from orthodrome.corpora.opening import lines, opened
from orthodrome.errors import BadInput


def find_vocabulary(path: Path, vocabulary: Path | None) -> Path | None:
    """Return the path of the vocabulary file, or None if there is none."""
    if vocabulary is not None:
        return vocabulary
    name = path.name.removeprefix("docword.").split(".")[0]
    beside = [path.with_name(found) for found in ("vocab.txt", "vocab.txt.gz", f"vocab.{name}.txt", f"{name}.vocab")]
    return next((found for found in beside if found.exists()), None)


def read_vocabulary(path: Path | None, width: int) -> tuple[str, ...]:
    """Return the words of a vocabulary file, one per line, at least as many as there are columns."""
    if path is None:
        return tuple(f"word-{column}" for column in range(width))
    with opened(path) as file:
        words = [line.strip() for _, line in lines(file, path)]
    while words and not words[-1]:  # empty lines at the end are no words
        words.pop()
    if len(words) < width:
        raise BadInput(f"{path} has {len(words)} words, but the documents use {width}: is it a different vocabulary?")
    return tuple(words)
