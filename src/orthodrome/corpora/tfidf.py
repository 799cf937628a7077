"""Weights of words: tf-idf(d, v) = tf(d, v) log(D / (1 + df(v))), each row divided by its length.

tf is the count, df the number of documents with the word, D the number of documents: Liu, Zhu & Song (2016),
supplement F.3. D and df come from the matrix at hand, empty rows included, or from `frequency` of another one: the
authors weighed their training and test sets each by its own; a stream needs those of its first documents.

A word in all but one document weighs nothing, one in every document a little less than nothing (log(D/(D+1)) < 0).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.corpora.checked import check_matrix
from orthodrome.errors import BadInput


class Frequency(NamedTuple):
    """documents: D; of_words: df, how many of them have each word."""

    documents: int
    of_words: np.ndarray


def document_frequency(counts: Any) -> np.ndarray:
    """In how many rows each column is not zero."""
    matrix = scipy.sparse.csr_array(counts)
    return np.bincount(matrix.indices[matrix.data != 0], minlength=matrix.shape[1])


def frequency_of(counts: Any) -> Frequency:
    """D and df of a matrix of counts."""
    return Frequency(counts.shape[0], document_frequency(counts))


def tfidf(counts: Any, frequency: Frequency | None = None, dtype: Any = np.float64) -> scipy.sparse.csr_array:
    """Unit rows of tf-idf weights; a row without weight stays zero (`nonempty` finds them)."""
    matrix = scipy.sparse.csr_array(counts, dtype=dtype, copy=True)
    check_matrix(matrix, "the table of counts")
    matrix.sum_duplicates()
    documents, of_words = frequency or frequency_of(matrix)
    if matrix.shape[1] != len(of_words):
        raise BadInput(f"{matrix.shape[1]} words in the counts, but document frequencies of {len(of_words)}")
    matrix.data *= np.log(documents / (1.0 + of_words))[matrix.indices].astype(dtype)
    matrix.eliminate_zeros()
    return normalise(matrix)


def normalise(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Rows of length one, in place; rows of zeros stay zero."""
    lengths = row_lengths(matrix)
    per_row = np.where(lengths > 0, lengths, 1.0).astype(matrix.dtype)
    matrix.data /= np.repeat(per_row, np.diff(matrix.indptr))
    return matrix


def row_lengths(matrix: scipy.sparse.csr_array) -> np.ndarray:
    """The l2 norm of each row, added up in float64."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.sqrt(np.bincount(rows, weights=matrix.data.astype(np.float64) ** 2, minlength=matrix.shape[0]))


def nonempty(matrix: scipy.sparse.csr_array) -> np.ndarray:
    """Which rows have anything in them."""
    return row_lengths(matrix) > 0
