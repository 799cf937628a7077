"""A corpus: how often each word occurs in each document.

    counts       documents x words, CSR; what the readers read
    vocabulary   the word of each column
    names        the name of each document
    labels       the class of each document, if it has one

`keep_words` reduces the vocabulary to words of moderate document frequency, `keep_documents` drops the short ones, and
`unit_vectors` gives the tf-idf vectors of the rest. Each returns a new corpus: nothing is changed in place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from orthodrome.corpora.tfidf import document_frequency, nonempty, tfidf
from orthodrome.errors import BadInput


@dataclasses.dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as counts of words; `len` is the number of documents.

    counts: documents x words, a CSR matrix
    vocabulary: the word of each column
    names: the name of each document
    labels: the class of each document, or None
    """

    counts: scipy.sparse.csr_array
    vocabulary: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return self.counts.shape[0]

    def keep_documents(self, rows: Any) -> Corpus:
        """Return the corpus of the documents with the given numbers, or of those where a mask is true."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        labels = None if self.labels is None else tuple(self.labels[row] for row in rows)
        return Corpus(self.counts[rows], self.vocabulary, tuple(self.names[row] for row in rows), labels)

    def keep_long(self, at_least: int) -> Corpus:
        """Return the corpus of the documents with at least `at_least` words of the vocabulary."""
        return self.keep_documents(np.asarray(self.counts.sum(axis=1)).ravel() >= at_least)

    def keep_words(
        self, min_df: float | int = 1, max_df: float | int = 1.0, max_words: int | None = None, drop_empty: bool = True
    ) -> Corpus:
        """Return the corpus of the words of moderate document frequency.

        min_df, max_df: the lowest and highest document frequency, a share if a float, otherwise a number of documents
        max_words: keep only this many of them, the most frequent
        drop_empty: whether documents without any word left are dropped
        """
        columns = moderate(self.counts, min_df, max_df, max_words)
        if not len(columns):
            many = "1 document" if len(self) == 1 else f"{len(self):,} documents"
            raise BadInput(
                f"no word has a document frequency between {min_df} and {max_df} in {many}; "
                "widen the limits (--min-df, --max-df: a share of the documents if below 1, else their number)"
            )
        words = tuple(self.vocabulary[column] for column in columns)
        cut = dataclasses.replace(self, counts=self.counts[:, columns], vocabulary=words)
        return cut.keep_documents(nonempty(cut.counts)) if drop_empty else cut

    def unit_vectors(self) -> tuple[scipy.sparse.csr_array, Corpus]:
        """Return the tf-idf vectors, and the corpus of their rows.

        Documents without weight have no direction and are left out (after they were counted in D and df, as the authors
        did).
        """
        weights = tfidf(self.counts)
        rows = nonempty(weights)
        return weights[rows], self.keep_documents(rows)


def moderate(counts: Any, min_df: float | int, max_df: float | int, max_words: int | None) -> np.ndarray:
    """Return the columns of moderate document frequency, in their order; ties go to the earlier column."""
    frequency = document_frequency(counts)
    lowest, highest = (limit * counts.shape[0] if isinstance(limit, float) else limit for limit in (min_df, max_df))
    columns = np.flatnonzero((frequency >= max(lowest, 1)) & (frequency <= highest))
    if max_words is not None and len(columns) > max_words:
        columns = np.sort(columns[np.argsort(-frequency[columns], kind="stable")[:max_words]])
    return columns


def from_words(documents: Sequence[Sequence[str]], names: Sequence[str], labels: Sequence[str] | None = None) -> Corpus:
    """Return the corpus of documents that are lists of words, with columns in alphabetical order.

    documents: the words of each document
    names: the name of each document
    labels: the class of each document, or None
    """
    vocabulary = sorted({word for document in documents for word in document})
    return count_words(documents, vocabulary, names, labels)


def count_words(
    documents: Sequence[Sequence[str]],
    vocabulary: Sequence[str],
    names: Sequence[str],
    labels: Sequence[str] | None = None,
) -> Corpus:
    """Return the corpus of documents on a given vocabulary; other words are ignored.

    documents: the words of each document
    vocabulary: the word of each column
    names: the name of each document
    labels: the class of each document, or None
    """
    column = {word: number for number, word in enumerate(vocabulary)}
    indices = [[column[word] for word in document if word in column] for document in documents]
    starts = np.cumsum([0, *map(len, indices)], dtype=np.int32)  # scikit-learn takes 32-bit indices only
    flat = np.fromiter((number for row in indices for number in row), np.int32, count=starts[-1])
    shape = (len(documents), len(column))
    counts = scipy.sparse.csr_array((np.ones(len(flat), np.int64), flat, starts), shape=shape)
    counts.sum_duplicates()
    return Corpus(counts, tuple(vocabulary), tuple(names), None if labels is None else tuple(labels))
