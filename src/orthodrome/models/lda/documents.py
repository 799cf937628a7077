"""Documents as tokens, and everything that may be wrong with a matrix of counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.kernels.assignments import Tokens, tokens
from orthodrome.kernels.reading import only_read
from orthodrome.kernels.tokens.documents import count_words, gather, word_keys
from orthodrome.kernels.transition import cir_transition_counts

LOOKED_AT = 4_000
"""The first documents of the corpus, among which those are chosen that make the topics of the start."""
MOST_TOKENS = 4e9
"""Every token takes bytes: counts that add up to more are refused before memory is taken."""


@pytree
class TokenDocuments:
    """Documents one after the other: the words of document d are words[starts[d] : starts[d + 1]]."""

    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    num_words: int = static()

    @property
    def count(self) -> int:
        """The number of documents D."""
        return self.starts.shape[0] - 1

    @property
    def num_tokens(self) -> int:
        """The number of tokens of all documents."""
        return int(self.starts[-1])

    @property
    def is_spread(self) -> bool:
        """Whether other processes have other documents of the same corpus."""
        return False

    @property
    def num_own_tokens(self) -> int:
        """The number of tokens that this process has."""
        return self.num_tokens

    @property
    def head(self) -> TokenDocuments:
        """Documents from the front of the corpus, at least some thousands."""
        return self

    def names(self, count: int) -> NDArray[np.int64]:
        """Return the numbers of those of the first `count` documents that this process has."""
        return np.arange(count)

    def batch(self, rows: NDArray[np.int64]) -> tuple[Tokens, NDArray[np.int64]]:
        """Return the tokens of those of some documents that this process has, and their numbers."""
        return self.chosen(rows), rows

    def places(self, names: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where documents that this process has begin among its tokens, by their numbers."""
        return self.starts[names]

    def total(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of whole numbers over all processes that have documents."""
        return counts

    def total_of_words(self, words: NDArray[np.int64], counts: NDArray[np.int32]) -> tuple[Any, NDArray[np.int32]]:
        """Return words and the sums of their counts (word, topic) over all processes that have documents."""
        return words, counts

    def total_of_topics(self, counts: NDArray[np.int32]) -> None:
        """Replace counts (word, topic) by their sums over all processes that have documents."""

    def largest(self, number: int) -> int:
        """Return the largest of the numbers of all processes that have documents."""
        return number

    def drawn_weights(
        self, seed: int, log_weights: NDArray[np.float32], prior: float, counts: NDArray[Any], time: float
    ) -> NDArray[np.float32]:
        """Return the exact transition of the log weights, of which each process draws its part."""
        return cir_transition_counts(seed, log_weights, prior, 1.0, counts, time)

    def first(self, count: int) -> Tokens:
        """Return the tokens of the first documents, without copying them."""
        return Tokens(only_read(self.words[: self.starts[count]]), self.starts[: count + 1])

    def chosen(self, rows: NDArray[np.int64]) -> Tokens:
        """Return the tokens of some documents, in their order."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        found = np.empty(starts[-1], np.int32)
        gather(only_read(self.words), self.starts, rows, starts, found)
        return Tokens(found, starts)

    def shuffled(self, seed: int) -> TokenDocuments:
        """Return the documents in a random order."""
        rows = np.random.default_rng(seed).permutation(self.count)
        return TokenDocuments(*self.chosen(rows), self.num_words)

    def keys(self) -> NDArray[np.int64]:
        """Return a number for each document made of its words: what names its stream when order must not matter."""
        found = np.empty(self.count, np.uint64)
        word_keys(only_read(self.words), self.starts, found)
        return found.view(np.int64)

    def frequencies(self) -> NDArray[np.int64]:
        """Return how often each word occurs."""
        found = np.zeros(self.num_words, np.int64)
        count_words(only_read(self.words), found)
        return found


def whole_counts(x: Any) -> scipy.sparse.csr_matrix:
    """Return a matrix of counts, documents x words, as whole numbers; negative ones are refused, others rounded."""
    table = scipy.sparse.csr_matrix(x)
    values = table.data
    if values.size and values.min() < 0:
        row = int(np.searchsorted(table.indptr, int(values.argmin()), side="right")) - 1
        raise BadInput(
            f"Negative values in data passed to LDA: row {row} has a count of {values.min()}; counts are >= 0"
        )
    if (total := float(values.sum(dtype=np.float64))) > MOST_TOKENS:
        raise BadInput(
            f"X has {total:.3g} words in all (one entry is {values.max():.3g}); at most {MOST_TOKENS:.0e} fit"
        )
    whole = np.rint(values)
    if changed := int(np.count_nonzero(whole != values)):
        warnings.warn(
            f"{changed} entries of X are no whole numbers; they are rounded (LDA counts words, it does not weigh them)",
            OrthodromeWarning,
            stacklevel=4,
        )
    return scipy.sparse.csr_matrix((whole.astype(np.int64), table.indices, table.indptr), table.shape)


def read_counts(x: Any) -> TokenDocuments:
    """Return the documents of a matrix of counts; empty documents are allowed."""
    table = whole_counts(x)
    return TokenDocuments(*tokens(table), table.shape[1])
