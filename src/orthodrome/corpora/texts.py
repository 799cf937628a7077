"""Readers of texts: a folder of files, a file of JSON lines, or a file with one document per line.

In a folder every `.txt` file (or every file, if there are none) is a document; its first folder below is its label, as
20 Newsgroups has them. A JSON line is an object with a `text`, and may have a `name` (or `id`, `title`) and a `label`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from orthodrome.corpora.corpus import Corpus, from_words
from orthodrome.corpora.vocabulary import opened
from orthodrome.corpora.words import STOP_WORDS, fold_plurals, words_of
from orthodrome.errors import BadInput


class Text(NamedTuple):
    """One document as it was read."""

    name: str
    text: str
    label: str | None = None


def read_texts(path: Path, encoding: str = "utf-8", stop_words: frozenset[str] = STOP_WORDS) -> Corpus:
    """A corpus of texts: their words counted, plurals folded."""
    texts = list(each_text(path, encoding))
    if not texts:
        raise BadInput(f"there is no text in {path}")
    documents = fold_plurals([words_of(one.text, stop_words) for one in texts])
    labels = [str(one.label) for one in texts] if any(one.label for one in texts) else None
    corpus = from_words(documents, [one.name for one in texts], labels)
    if not corpus.vocabulary:
        raise BadInput(f"there is no word in the {len(texts)} documents of {path}")
    return corpus


def each_text(path: Path, encoding: str = "utf-8") -> Iterator[Text]:
    """The documents one after the other, without holding them all."""
    if path.is_dir():
        return folder_texts(path, encoding)
    return json_texts(path, encoding) if ".jsonl" in path.name else line_texts(path, encoding)


def folder_texts(path: Path, encoding: str) -> Iterator[Text]:
    """A file is a document."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    files = [file for file in files if file.suffix == ".txt"] or files
    for file in files:
        below = file.relative_to(path)
        with opened(file, encoding) as content:
            yield Text(str(below), content.read(), below.parts[0] if len(below.parts) > 1 else None)


def line_texts(path: Path, encoding: str) -> Iterator[Text]:
    """A line is a document."""
    with opened(path, encoding) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield Text(f"line-{number}", line)


def json_texts(path: Path, encoding: str) -> Iterator[Text]:
    """A line is an object with a `text`."""
    with opened(path, encoding) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield json_text(line, path, number)


def json_text(line: str, path: Path, number: int) -> Text:
    """One JSON line."""
    try:
        content: Any = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{path}, line {number}: no JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        raise BadInput(f'{path}, line {number}: no object with a "text": {line.strip()[:60]!r}')
    name = next((str(content[key]) for key in ("name", "id", "title") if key in content), f"line-{number}")
    return Text(name, content["text"], str(content["label"]) if "label" in content else None)
