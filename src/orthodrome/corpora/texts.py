"""Readers of texts: a folder of files, a file of JSON lines, or a file with one document per line.

In a folder every `.txt` file (or every file, if there are none) is a document; its label is the name of the folder just
below the given one, as in 20 Newsgroups. A JSON line is an object with a `text`, and may have a `name` (or `id`,
`title`) and a `label`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from orthodrome.corpora.corpus import Corpus, from_words
from orthodrome.corpora.opening import lines, opened, whole
from orthodrome.corpora.words import STOP_WORDS, fold_plurals, words_of
from orthodrome.errors import BadInput

NAMES = ("name", "id", "title")
"""The fields that may hold the name of a document, the first one found counts."""


class Text(NamedTuple):
    """One document as it was read."""

    name: str
    text: str
    label: str | None = None


def read_texts(path: Path, encoding: str = "utf-8", stop_words: frozenset[str] = STOP_WORDS) -> Corpus:
    """Read a corpus of texts: count their words, with plurals folded into singulars."""
    return count_texts(each_text(path, encoding), str(path), stop_words)


def list_texts(texts: Iterable[Any]) -> Iterator[Text]:
    """Yield texts that are in memory already."""
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(f"text {number} of the list is {type(text).__name__}, not a string")
        yield Text(f"text-{number}", text)


def count_texts(found: Iterable[Text], where: str, stop_words: frozenset[str] = STOP_WORDS) -> Corpus:
    """Return the corpus of texts from any source: their words counted, plurals folded into singulars."""
    texts = list(found)
    if not texts:
        raise BadInput(f"there is no text in {where}")
    documents = fold_plurals([words_of(one.text, stop_words) for one in texts])
    labels = [str(one.label) for one in texts] if any(one.label for one in texts) else None
    corpus = from_words(documents, [one.name for one in texts], labels)
    if not corpus.vocabulary:
        raise BadInput(f"there is no word in the {len(texts)} documents of {where}")
    return corpus


def each_text(path: Path, encoding: str = "utf-8") -> Iterator[Text]:
    """Return an iterator over the documents, which are not held in memory together."""
    if path.is_dir():
        return folder_texts(path, encoding)
    return json_texts(path, encoding) if ".jsonl" in path.name else line_texts(path, encoding)


def folder_texts(path: Path, encoding: str) -> Iterator[Text]:
    """Yield a document for every file of a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    files = [file for file in files if file.suffix == ".txt"] or files
    for file in files:
        below = file.relative_to(path)
        with opened(file, encoding) as content:
            label = printable(below.parts[0]) if len(below.parts) > 1 else None
            yield Text(printable(str(below)), whole(content, file), label)


def line_texts(path: Path, encoding: str) -> Iterator[Text]:
    """Yield a document for every line of a file."""
    with opened(path, encoding) as file:
        for number, line in lines(file, path):
            if line.strip():
                yield Text(f"line-{number}", line)


def json_texts(path: Path, encoding: str) -> Iterator[Text]:
    """Yield a document for every JSON line of a file."""
    with opened(path, encoding) as file:
        for number, line in lines(file, path):
            if line.strip():
                yield json_text(line, path, number)


def json_text(line: str, path: Path, number: int) -> Text:
    """Return the document of one JSON line."""
    try:
        content: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}, line {number}: not valid JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        raise BadInput(f'{path}, line {number}: no object with a "text": {line.strip()[:60]!r}')
    name = next((str(content[key]) for key in NAMES if key in content), f"line-{number}")
    return Text(printable(name), content["text"], printable(str(content["label"])) if "label" in content else None)


def printable(name: str) -> str:
    """Return a name that can be written as UTF-8: lone surrogates, as file names may have, become escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
