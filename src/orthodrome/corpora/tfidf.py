"""Term weights: tf-idf(d, v) = tf(d, v) log(D / (1 + df(v))), each row divided by its length.

tf is the count, df the number of documents with the word, D the number of documents: Liu, Zhu & Song (2016),
supplement F.3. D and df come from the matrix at hand, empty rows included, or from `frequency` of another one: the
authors weighted their training and test sets each by its own; a stream needs those of its first documents.

A word in all but one document has weight zero, one in every document a little less than zero (log(D/(D+1)) < 0).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.corpora.checked import check_matrix
from orthodrome.errors import BadInput


class Frequency(NamedTuple):
    """Document frequencies.

    documents: D, the number of documents
    of_words: df, the number of documents with each word
    """

    documents: int
    of_words: np.ndarray


def document_frequency(counts: Any) -> np.ndarray:
    """Return the number of rows in which each column is not zero."""
    matrix = scipy.sparse.csr_array(counts)
    return np.bincount(matrix.indices[matrix.data != 0], minlength=matrix.shape[1])


def frequency_of(counts: Any) -> Frequency:
    """Return the document frequencies of a matrix of counts.

    counts: documents x words
    """
    return Frequency(counts.shape[0], document_frequency(counts))


def tfidf(counts: Any, frequency: Frequency | None = None, dtype: Any = np.float64) -> scipy.sparse.csr_array:
    """Return unit rows of tf-idf weights; a row without weight stays zero (`nonempty` finds the others).

    counts: documents x words
    frequency: D and df of another matrix; None: of this one
    dtype: of the result
    """
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
    """Divide the rows by their lengths, in place, and return the matrix; rows of zeros stay zero.

    matrix: a CSR matrix of floating-point numbers
    """
    lengths = row_lengths(matrix)
    per_row = np.where(lengths > 0, lengths, 1.0).astype(matrix.dtype)
    matrix.data /= np.repeat(per_row, np.diff(matrix.indptr))
    return matrix


def row_lengths(matrix: scipy.sparse.csr_array) -> np.ndarray:
    """Return the Euclidean norm of each row, summed in float64.

    matrix: a CSR matrix
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.sqrt(np.bincount(rows, weights=matrix.data.astype(np.float64) ** 2, minlength=matrix.shape[0]))


def nonempty(matrix: scipy.sparse.csr_array) -> np.ndarray:
    """Return a mask of the rows that are not zero.

    matrix: a CSR matrix
    """
    return row_lengths(matrix) > 0
