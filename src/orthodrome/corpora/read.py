"""One door for every format: `read_corpus` looks at the path, and can be told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from orthodrome.corpora.corpus import Corpus
from orthodrome.corpora.matrices import read_docword, read_ldac, read_npz
from orthodrome.corpora.texts import read_texts
from orthodrome.errors import BadInput

COUNTED: dict[str, Callable[[Path, Path | None], Corpus]] = {
    "npz": read_npz,
    "ldac": read_ldac,
    "docword": read_docword,
}
FORMATS = (*COUNTED, "text")


def read_corpus(
    path: str | Path, format: str | None = None, vocabulary: str | Path | None = None, encoding: str = "utf-8"
) -> Corpus:
    """A corpus from a file or folder; `format` is npz, ldac, docword or text, else guessed from the name."""
    path = Path(path)
    if not path.exists():
        raise BadInput(f"there is no {path}")
    format = format or guess(path)
    if format not in FORMATS:
        raise BadInput(f"the format is {format!r}; there are {', '.join(FORMATS)}")
    if format == "text":
        return read_texts(path, encoding)
    if path.is_dir():
        raise BadInput(f"{path} is a folder; {format} is a file")
    return COUNTED[format](path, None if vocabulary is None else Path(vocabulary))


def guess(path: Path) -> str:
    """The format that a name suggests."""
    if path.is_dir() or ".jsonl" in path.name:
        return "text"
    if path.suffix == ".npz":
        return "npz"
    if path.suffix in (".ldac", ".dat"):
        return "ldac"
    if path.name.startswith("docword"):
        return "docword"
    if path.name.endswith((".txt", ".txt.gz")):
        return "text"
    raise BadInput(f"{path.name} does not tell its format; say one of: {', '.join(FORMATS)}")
