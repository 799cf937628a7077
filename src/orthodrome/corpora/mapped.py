"""Corpora on disk, read through memory maps: neither their documents nor their size need memory.

A corpus is a folder:

    indptr.npy     int64, one more than there are documents: where each begins among the tokens
    indices.npy    int32, the word of every token, the documents one after the other
    about.json     format, documents, words, tokens; written last, so a folder without it is unfinished
    vocab.txt      one word per line, if the words are known

It is a CSR matrix of ones, a token for each: what sweeps over assignments read, without a copy. `write_mapped` makes
the folder from matrices of counts that come one after the other, of which one at a time is in memory.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.errors import BadInput

FORMAT, ABOUT, VOCABULARY = 1, "about.json", "vocab.txt"
CHUNK = 1 << 24
"""Tokens that are checked at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class MappedCorpus:
    """Documents on disk as tokens; `len` is the number of documents.

    indices, indptr: the words of document d are indices[indptr[d] : indptr[d + 1]]
    num_words: the number of columns
    vocabulary: the word of each column, or None
    """

    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    num_words: int
    vocabulary: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return self.indptr.shape[0] - 1

    def rows(self, begin: int, end: int) -> scipy.sparse.csr_array:
        """Return the counts of the documents from `begin` up to `end`, in memory."""
        starts = np.asarray(self.indptr[begin : end + 1])
        words = np.array(self.indices[starts[0] : starts[-1]])
        shape = (starts.shape[0] - 1, self.num_words)
        found = scipy.sparse.csr_array((np.ones(words.shape[0], np.int64), words, starts - starts[0]), shape)
        found.sum_duplicates()
        return found

    def batches(self, batch_size: int) -> Iterator[scipy.sparse.csr_array]:
        """Yield the counts of all documents in their order, so many at a time, for `partial_fit`."""
        for begin in range(0, len(self), batch_size):
            yield self.rows(begin, min(begin + batch_size, len(self)))


def write_mapped(
    blocks: Any,
    folder: str | Path,
    *,
    documents: int | None = None,
    vocabulary: Sequence[str] | None = None,
    shuffle: int | None = None,
) -> MappedCorpus:
    """Write a corpus into a folder and open it.

    Parameters
    ----------
    blocks : a matrix of whole counts, documents x words, or an iterable of them, with the same columns.
    folder : where to; it is made, and must not hold a corpus already.
    documents : how many documents will come, if that is known: a stream that ends early is then an error.
    vocabulary : the word of each column.
    shuffle : a seed; the documents of each block are put in a random order. Models that begin with a part of the corpus
        take its first documents, which should be like the others.
    """
    path = Path(folder)
    if (path / ABOUT).exists():
        raise BadInput(f"{path} already contains a corpus; choose another folder")
    path.mkdir(parents=True, exist_ok=True)
    starts, width = _write_tokens(_each(blocks), path / "indices.npy", shuffle)
    count = starts.shape[0] - 1
    if documents is not None and count != documents:
        raise BadInput(f"the stream ended after {count} of {documents} documents; {path} is unfinished: write it again")
    if vocabulary is not None and len(vocabulary) != width:
        raise BadInput(f"the vocabulary has {len(vocabulary)} words, the matrices have {width} columns")
    np.save(path / "indptr.npy", starts)
    if vocabulary is not None:
        (path / VOCABULARY).write_text("".join(f"{word}\n" for word in vocabulary), encoding="utf-8")
    facts = {"format": FORMAT, "documents": count, "words": width, "tokens": int(starts[-1])}
    (path / "about.part").write_text(json.dumps(facts), encoding="utf-8")
    os.replace(path / "about.part", path / ABOUT)
    return open_mapped(path)


def open_mapped(folder: str | Path) -> MappedCorpus:
    """Open a corpus that `write_mapped` wrote, or raise `BadInput` if its files do not fit together.

    folder: where it was written
    """
    path = Path(folder)
    facts = _facts(path)
    indptr, indices = (_mapped(path / name, kind) for name, kind in (("indptr.npy", "<i8"), ("indices.npy", "<i4")))
    starts = np.array(indptr)
    sizes = (starts.shape[0] - 1, int(starts[-1]) if starts.size else -1, indices.shape[0])
    if sizes != (facts["documents"], facts["tokens"], facts["tokens"]) or starts[0] != 0 or np.any(np.diff(starts) < 0):
        raise BadInput(f"{path} is damaged: {ABOUT} says {facts}, indptr.npy and indices.npy do not agree with it")
    _check_words(indices, starts, facts["words"], path)
    file = path / VOCABULARY
    words = tuple(file.read_text(encoding="utf-8").splitlines()) if file.exists() else None
    if words is not None and len(words) != facts["words"]:
        raise BadInput(f"{file} has {len(words)} words, but the corpus {facts['words']} columns")
    return MappedCorpus(indices, starts, facts["words"], words)


def _each(blocks: Any) -> Iterable[Any]:
    """Return the blocks of a stream; a matrix is one block."""
    return (blocks,) if scipy.sparse.issparse(blocks) or isinstance(blocks, np.ndarray) else blocks


def _write_tokens(blocks: Iterable[Any], path: Path, shuffle: int | None) -> tuple[NDArray[np.int64], int]:
    """Append the tokens of the blocks to an array on disk; return where documents begin, and the number of columns."""
    lengths: list[NDArray[np.int64]] = []
    width, rng = -1, None if shuffle is None else np.random.default_rng(shuffle)
    with open(path, "wb") as file:
        _header(file, 0)
        for number, block in enumerate(blocks):
            table = _whole(block, number, sum(map(len, lengths)))
            if width not in (-1, table.shape[1]):
                raise BadInput(f"block {number} has {table.shape[1]} columns, those before it have {width}")
            width = table.shape[1]
            table = table if rng is None else table[rng.permutation(table.shape[0])]
            file.write(np.repeat(table.indices.astype("<i4"), table.data).tobytes())
            lengths.append(np.asarray(table.sum(axis=1)).ravel().astype(np.int64))
        starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]) if lengths else np.zeros(1, np.int64)
        if starts[-1] == 0:
            raise BadInput("no document of the stream has a word: all counts are 0")
        file.seek(0)
        _header(file, int(starts[-1]))
    return starts, width


def _header(file: Any, size: int) -> None:
    """Write the head of an array; NumPy leaves room in it for a length that grows."""
    np.lib.format.write_array_header_1_0(file, {"descr": "<i4", "fortran_order": False, "shape": (size,)})


def _whole(block: Any, number: int, before: int) -> scipy.sparse.csr_array:
    """Return a block of counts as whole numbers, or raise and name the document."""
    table = scipy.sparse.csr_array(block)
    wrong = np.flatnonzero((table.data < 0) | (table.data != np.rint(table.data)))
    if wrong.size:
        row = int(np.searchsorted(table.indptr, wrong[0], side="right")) - 1
        raise BadInput(
            f"block {number}: document {before + row} has a count of {table.data[wrong[0]]}; counts are "
            "whole numbers >= 0"
        )
    return table.astype(np.int64)


def _facts(path: Path) -> dict[str, int]:
    """Return what the folder says about itself."""
    if not (path / ABOUT).exists():
        raise BadInput(
            f"{path} contains no complete corpus: {ABOUT} is missing (was the stream that wrote it interrupted?)"
        )
    try:
        facts = json.loads((path / ABOUT).read_text(encoding="utf-8"))
        found = {name: int(facts[name]) for name in ("format", "documents", "words", "tokens")}
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path / ABOUT} is damaged: {error}") from error
    if found["format"] != FORMAT:
        raise BadInput(f"{path} has the format {found['format']}; this version reads {FORMAT}")
    return found


def _mapped(path: Path, kind: str) -> Any:
    """Return an array on disk, read when it is needed."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {path}: {error}") from error
    if found.dtype != np.dtype(kind) or found.ndim != 1:
        raise BadInput(f"{path} holds {found.dtype} of shape {found.shape}, not a list of {np.dtype(kind)}")
    return np.asarray(found)


def _check_words(indices: NDArray[np.int32], starts: NDArray[np.int64], width: int, path: Path) -> None:
    """Raise if a token's word lies outside of the columns; name its document."""
    for begin in range(0, indices.shape[0], CHUNK):
        part = indices[begin : begin + CHUNK]
        if part.min() < 0 or part.max() >= width:
            at = begin + int(np.argmax((part < 0) | (part >= width)))
            row = int(np.searchsorted(starts, at, side="right")) - 1
            raise BadInput(f"{path} is damaged: document {row} has the word {indices[at]}, but there are {width}")
