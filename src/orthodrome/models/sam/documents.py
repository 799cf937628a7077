"""Documents as unit vectors in a sparse table, and everything that may be wrong with a table.

Kernels index the three arrays of the compressed rows directly; `corpus_mean` is m, the normalised mean of the rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.corpora.checked import check_matrix
from orthodrome.errors import BadInput

TOLERANCE = 1e-3
"""How far from 1 the length of a row may be."""
BLOCK = 1 << 16
"""Rows that are read at a time."""


@pytree
class DocumentVectors:
    """Compressed sparse rows of length one."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.floating]
    num_words: int = static()

    @property
    def count(self) -> int:
        """The number of documents D."""
        return self.indptr.shape[0] - 1

    @property
    def own(self) -> DocumentVectors:
        """Those that this process has: all of them."""
        return self

    @property
    def is_spread(self) -> bool:
        """Whether other processes have other documents."""
        return False

    def names(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the numbers of rows in the whole corpus, which name their streams."""
        return rows.astype(np.uint64)

    def in_float64(self) -> DocumentVectors:
        """Return the documents with their values in float64."""
        return DocumentVectors(self.indptr, self.indices, self.values.astype(np.float64), self.num_words)

    def chosen(self, rows: NDArray[np.int64]) -> DocumentVectors:
        """Return some documents, in this order."""
        table = self.table()[rows]
        return DocumentVectors(
            table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data, self.num_words
        )

    def table(self) -> scipy.sparse.csr_matrix:
        """Return the documents as a SciPy table, which shares their arrays."""
        shape = (self.count, self.num_words)
        return scipy.sparse.csr_matrix((self.values, self.indices, self.indptr), shape=shape, copy=False)

    def keys(self) -> NDArray[np.uint64]:
        """Return a number for each row made of its content, which names its stream whatever the order of rows."""
        bits = np.ascontiguousarray(self.values, np.float32).view(np.uint32).astype(np.uint64)
        mix = (bits ^ (self.indices.astype(np.uint64) << np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        mix ^= mix >> np.uint64(29)
        mix *= np.uint64(0xBF58476D1CE4E5B9)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mix, dtype=np.uint64)])
        return sums[self.indptr[1:]] - sums[self.indptr[:-1]]


def read_documents(x: Any, rows: str, dtype: np.dtype) -> DocumentVectors:
    """Return the table as unit rows: as given (`unit`), divided by their length (`normalize`), or tf-idf of counts."""
    return joined([block for _, block in blocks(as_rows(x), rows, dtype)])


def as_rows(x: Any) -> scipy.sparse.csr_matrix:
    """Return a table as compressed rows, checked; the arrays of compressed rows are not copied."""
    table = scipy.sparse.csr_matrix(x)
    check_matrix(table, "X")
    return table


def blocks(table: scipy.sparse.csr_matrix, rows: str, dtype: np.dtype) -> Iterator[tuple[int, DocumentVectors]]:
    """Yield the documents in blocks of rows, each with the number of its first: of a large table, a part at a time."""
    weights = inverse_frequency(table) if rows == "counts" else None
    for first in range(0, max(1, table.shape[0]), BLOCK):
        yield first, _unit_rows(_some(table, first), rows, dtype, first, weights)


def joined(parts: Sequence[DocumentVectors]) -> DocumentVectors:
    """Return documents one after the other."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([part.indptr[-1] for part in parts])
    starts = [part.indptr[:-1] + end - part.indptr[-1] for part, end in zip(parts, ends, strict=True)]
    arrays = [np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "values")]
    return DocumentVectors(np.concatenate([*starts, ends[-1:]]), arrays[0], arrays[1], parts[0].num_words)


def _some(table: scipy.sparse.csr_matrix, first: int) -> scipy.sparse.csr_matrix:
    """Return a copy of a block of rows in float64, each column once in a row."""
    block = scipy.sparse.csr_matrix(table[first : first + BLOCK], dtype=np.float64, copy=True)
    block.sum_duplicates()
    return block


def _unit_rows(table: scipy.sparse.csr_matrix, rows: str, dtype: np.dtype, first: int, weights: Any) -> DocumentVectors:
    """Return a block of rows; first: the number of its first row; weights: of the words, for tf-idf."""
    if weights is not None:
        table = table.multiply(weights[None, :]).tocsr()
        table.eliminate_zeros()
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    empty = np.flatnonzero(lengths == 0)
    if empty.size:
        raise BadInput(
            f"{empty.size} rows of X are empty (the first is row {first + empty[0]}); a direction needs at least one "
            "word: drop them with X[X.getnnz(axis=1) > 0]"
        )
    off = np.abs(lengths - 1)
    if rows == "unit" and off.max(initial=0) > TOLERANCE:
        worst = int(off.argmax())
        raise BadInput(
            f"row {first + worst} of X has length {lengths[worst]:.4g}, not 1 (tolerance {TOLERANCE}); pass "
            "SAM(rows='normalize') to divide rows by their length, or rows='counts' to compute tf-idf from counts"
        )
    values = table.data / np.repeat(lengths, np.diff(table.indptr))
    starts, words = table.indptr.astype(np.int64), table.indices.astype(np.int32)
    return DocumentVectors(starts, words, values.astype(dtype), table.shape[1])


def some_rows(documents: DocumentVectors, count: int) -> DocumentVectors:
    """Return evenly spaced rows, at most `count`."""
    rows = np.unique(np.linspace(0, documents.count - 1, min(count, documents.count)).astype(int))
    return documents.chosen(rows)


def inverse_frequency(counts: scipy.sparse.csr_matrix) -> NDArray[np.float64]:
    """Return log(D / (1 + df(v))), by which tf(d, v) is multiplied (supplement F.3); lengths are divided out later."""
    frequency = np.zeros(counts.shape[1], np.int64)
    for first in range(0, counts.shape[0], BLOCK):
        block = _some(counts, first)
        if block.data.min(initial=0) < 0:
            raise BadInput("X has negative counts; pass rows='normalize' for data that are not counts")
        frequency += np.bincount(block.indices, minlength=counts.shape[1])
    return np.log(counts.shape[0] / (1.0 + frequency))


def corpus_mean(documents: DocumentVectors) -> NDArray[np.float64]:
    """Return m, the normalised mean of the rows."""
    cuts = documents.indptr[np.append(np.arange(0, documents.count, BLOCK), documents.count)]
    parts = ((documents.indices[begin:end], documents.values[begin:end]) for begin, end in itertools.pairwise(cuts))
    return mean_direction(parts, documents.num_words)


def mean_direction(parts: Iterable[tuple[Any, Any]], num_words: int) -> NDArray[np.float64]:
    """Return the normalised sum of the words and values of blocks, which are added one after the other."""
    total = np.zeros(num_words)
    for words, values in parts:
        total += np.bincount(words, values, minlength=num_words)
    length = float(np.sqrt(total @ total))
    return total / length if length > 0 else np.full(num_words, num_words**-0.5)
