"""One entry point for every format: `read_corpus` guesses the format from the path, unless it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from orthodrome.corpora.corpus import Corpus
from orthodrome.corpora.matrices import read_docword, read_ldac, read_npz
from orthodrome.corpora.tables import table_texts
from orthodrome.corpora.texts import count_texts, list_texts, read_texts
from orthodrome.errors import BadInput

COUNTED: dict[str, Callable[[Path, Path | None], Corpus]] = {
    "npz": read_npz,
    "ldac": read_ldac,
    "docword": read_docword,
}
FORMATS = (*COUNTED, "csv", "text")
"""The names of all formats."""


def read_corpus(
    path: str | Path | Iterable[str],
    format: str | None = None,
    vocabulary: str | Path | None = None,
    encoding: str = "utf-8",
    text_column: str | None = None,
) -> Corpus:
    """Read a corpus from a file or folder, or from a list of strings, each of them a document.

    path: the file, folder or strings
    format: npz, ldac, docword, csv or text; None: guessed from the name
    vocabulary: a file with the word of each column of npz, ldac and docword, one per line
    encoding: the encoding of texts
    text_column: the column of a CSV file that holds the texts (None: the one called "text", or the only one)
    """
    if not isinstance(path, str | Path):
        return count_texts(list_texts(path), "the list")
    path = Path(path)
    if "\0" in str(path) or not path.exists():
        raise BadInput(f"there is no {path}")
    format = format or ("csv" if text_column is not None else guess(path))
    if format not in FORMATS:
        raise BadInput(f"the format is {format!r}; it must be one of {', '.join(FORMATS)}")
    if text_column is not None and format != "csv":
        raise BadInput(f"text_column={text_column!r} is for tables, but {path} is read as {format}")
    if format == "text":
        return read_texts(path, encoding)
    if path.is_dir():
        raise BadInput(f"{path} is a folder; {format} is a file")
    if format == "csv":
        return count_texts(table_texts(path, encoding, text_column), str(path))
    return COUNTED[format](path, None if vocabulary is None else Path(vocabulary))


def guess(path: Path) -> str:
    """Return the format that the name of a file suggests."""
    if path.is_dir() or ".jsonl" in path.name:
        return "text"
    if path.suffix == ".npz":
        return "npz"
    if path.suffix in (".ldac", ".dat"):
        return "ldac"
    if path.name.startswith("docword"):
        return "docword"
    if path.name.endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz")):
        return "csv"
    if path.name.endswith((".txt", ".txt.gz")):
        return "text"
    raise BadInput(f"{path.name} does not show its format; give one of: {', '.join(FORMATS)}")
