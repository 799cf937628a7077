"""Documents as unit vectors in a sparse table, and everything that may be wrong with a table.

Kernels index the three arrays of the compressed rows directly; `corpus_mean` is m, the normalised mean of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.corpora.checked import check_matrix
from orthodrome.errors import BadInput

TOLERANCE = 1e-3
"""How far from 1 the length of a row may be."""


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
    table = scipy.sparse.csr_matrix(x, dtype=np.float64, copy=rows != "unit")
    check_matrix(table, "X")
    table.sum_duplicates()
    if rows == "counts":
        table = inverse_frequency(table)
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    empty = np.flatnonzero(lengths == 0)
    if empty.size:
        raise BadInput(
            f"{empty.size} rows of X are empty (the first is row {empty[0]}); a direction needs at least one word: "
            "drop them with X[X.getnnz(axis=1) > 0]"
        )
    off = np.abs(lengths - 1)
    if rows == "unit" and off.max(initial=0) > TOLERANCE:
        raise BadInput(
            f"row {int(off.argmax())} of X has length {lengths[off.argmax()]:.4g}, not 1 (tolerance {TOLERANCE}); pass "
            "SAM(rows='normalize') to divide rows by their length, or rows='counts' to make tf-idf of counts"
        )
    values = table.data / np.repeat(lengths, np.diff(table.indptr))
    return DocumentVectors(
        table.indptr.astype(np.int64), table.indices.astype(np.int32), values.astype(dtype), x.shape[1]
    )


def some_rows(documents: DocumentVectors, count: int) -> DocumentVectors:
    """Return evenly spaced rows, at most `count`."""
    rows = np.unique(np.linspace(0, documents.count - 1, min(count, documents.count)).astype(int))
    return documents.chosen(rows)


def inverse_frequency(counts: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Return tf(d, v) log(D / (1 + df(v))), as in supplement F.3; lengths are divided out later."""
    if counts.data.min(initial=0) < 0:
        raise BadInput("X has negative counts; pass rows='normalize' for data that are not counts")
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    weighted = counts.multiply(np.log(counts.shape[0] / (1.0 + frequency))[None, :]).tocsr()
    weighted.eliminate_zeros()
    return weighted


def corpus_mean(documents: DocumentVectors) -> NDArray[np.float64]:
    """Return m, the normalised mean of the rows."""
    total = np.bincount(documents.indices, documents.values, minlength=documents.num_words)
    length = float(np.sqrt(total @ total))
    return total / length if length > 0 else np.full(documents.num_words, documents.num_words**-0.5)
