"""Readers of counted corpora: CSR matrices (.npz), lda-c, and UCI's docword.

    npz       scipy.sparse.save_npz; an array `labels` in the same file gives the classes
    lda-c     a line per document: the number of distinct words, then word:count, words from 0
    docword   three lines D, W, N, then N lines `document word count`, both from 1; may be .gz

The vocabulary is a text file with one word per line: the one that is named, else `vocab.txt` beside the file, else
the UCI's `vocab.NAME.txt`, else columns are called word-0, word-1, ... A bad line is named with its file and number.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse

from orthodrome.corpora.archive import read_matrix
from orthodrome.corpora.checked import check_size
from orthodrome.corpora.corpus import Corpus
from orthodrome.corpora.opening import lines, opened
from orthodrome.corpora.vocabulary import find_vocabulary, read_vocabulary
from orthodrome.errors import BadInput

NUMBER = re.compile(r"[0-9]{1,18}")
ENTRY = re.compile(r"\s*[0-9]{1,18}\s+[0-9]{1,18}\s+[0-9]{1,18}\s*")
"""A number of a head, and an entry of a docword file."""
HEAD_LENGTH = 100
"""The largest number of characters of a line of the head."""
MOST_WORDS, MOST_TIMES = 2**31 - 1, 2**53
"""Bounds of a word's number, and of how often it may stand in a document."""


def read_npz(path: Path, vocabulary: Path | None = None) -> Corpus:
    """Read a sparse matrix as SciPy saves it."""
    matrix, labels = read_matrix(path)
    wide = np.int64 if matrix.dtype.kind in "biu" else np.float64  # unsigned counts overflow in products
    return named(matrix.astype(wide), path, vocabulary, labels)


def read_ldac(path: Path, vocabulary: Path | None = None) -> Corpus:
    """Read a corpus in Blei's lda-c format."""
    indices: list[int] = []
    counts: list[int] = []
    starts = [0]
    with opened(path) as file:
        for number, line in lines(file, path):
            pairs = ldac_line(line, path, number)
            indices += [word for word, _ in pairs]
            counts += [count for _, count in pairs]
            starts.append(len(indices))
    if len(starts) == 1:
        raise BadInput(f"{path} is empty")
    width = max(indices, default=-1) + 1
    check_size(len(starts) - 1, width, len(indices), str(path))
    return named(csr(counts, indices, starts, width), path, vocabulary)


def ldac_line(line: str, path: Path, number: int) -> list[tuple[int, int]]:
    """Return the (word, count) pairs of one document."""
    fields = line.split()
    try:
        pairs = [(int(word), int(count)) for word, count in (field.split(":") for field in fields[1:])]
        possible = all(0 <= word < MOST_WORDS and 0 < count < MOST_TIMES for word, count in pairs)
        if fields and int(fields[0]) == len(pairs) and possible:
            return pairs
    except ValueError:
        pass
    raise BadInput(
        f"{path}, line {number}: {line.strip()[:60]!r} is not lda-c, which has the number of distinct words, then "
        "word:count for each"
    )


def read_docword(path: Path, vocabulary: Path | None = None) -> Corpus:
    """Read a corpus in the docword format of the UCI bags of words."""
    with opened(path) as file:
        head = (file.readline(HEAD_LENGTH) for _ in range(3))
        documents, width, entries = (docword_head(line, path, number) for number, line in enumerate(head, 1))
        check_size(documents, width, entries, f"{path}, lines 1 to 3,")
        table = docword_table(docword_lines(file, path, entries), path)
    if len(table) != entries:
        raise BadInput(f"{path} has {len(table)} entries, but its third line says {entries}: is it truncated?")
    wrong = (table < 1).any(axis=1) | (table[:, 0] > documents) | (table[:, 1] > width)
    if wrong.any():
        raise BadInput(
            f"{path}, line {int(np.argmax(wrong)) + 4}: {table[np.argmax(wrong)].tolist()} is out of range; there are "
            f"{documents} documents and {width} words, counted from 1"
        )
    shape = (documents, width)
    places = (table[:, :2] - 1).astype(np.int32).T
    matrix = scipy.sparse.coo_array((table[:, 2], tuple(places)), shape=shape)
    return named(scipy.sparse.csr_array(matrix), path, vocabulary)


def docword_head(line: str, path: Path, number: int) -> int:
    """Return one of the three numbers at the top of a docword file."""
    if NUMBER.fullmatch(line.strip()) is None:
        raise BadInput(
            f"{path}, line {number}: {line.strip()[:60]!r} is not a number; a docword file begins with the numbers of "
            "documents, words and entries"
        )
    return int(line)


def docword_lines(file: IO[str], path: Path, entries: int) -> list[str]:
    """Return the lines after the head, or raise if there are more than the head says."""
    found: list[str] = []
    for number, line in lines(file, path):
        if number > entries and line.strip():
            raise BadInput(f"{path}, line {number + 3}: there are more entries than the {entries} of its third line")
        if number <= entries:
            found.append(line)
    return found


def docword_table(found: list[str], path: Path) -> np.ndarray:
    """Return the entries, or raise with the number of the first wrong line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy would take 1.5 for 1
            table = np.loadtxt(found, dtype=np.int64, ndmin=2, comments=None) if found else np.zeros((0, 3), np.int64)
        if table.shape == (len(found), 3):
            return table
    except (ValueError, OverflowError, Warning):
        pass
    wrong = next((number for number, line in enumerate(found, 4) if not ENTRY.fullmatch(line)), 4)
    raise BadInput(f"{path}, line {wrong}: {found[wrong - 4].rstrip()[:60]!r} is not `document word count`")


def csr(counts: Any, indices: Any, starts: Any, width: int) -> scipy.sparse.csr_array:
    """Return a CSR matrix with 32-bit indices where they fit, and no column twice in a row."""
    data, columns, rows = np.asarray(counts, np.int64), np.asarray(indices, np.int32), np.asarray(starts, np.int32)
    matrix = scipy.sparse.csr_array((data, columns, rows), shape=(len(starts) - 1, width))
    matrix.sum_duplicates()
    return matrix


def named(
    matrix: scipy.sparse.csr_array, path: Path, vocabulary: Path | None, labels: list[str] | None = None
) -> Corpus:
    """Return the corpus with its words; the names of documents are their numbers."""
    words = read_vocabulary(find_vocabulary(path, vocabulary), matrix.shape[1])
    if len(words) > matrix.shape[1]:  # the last words may occur nowhere: lda-c does not say how many there are
        matrix = scipy.sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], len(words)))
    if labels is not None and len(labels) != matrix.shape[0]:
        raise BadInput(f"{path} has {len(labels)} labels for {matrix.shape[0]} documents")
    names = tuple(f"document-{number}" for number in range(matrix.shape[0]))
    return Corpus(matrix, words, names, None if labels is None else tuple(labels))
