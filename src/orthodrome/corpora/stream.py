"""Streams of batches of unit vectors: endless from a matrix in memory, or once through texts that would not fit.

`batches` goes through the rows again and again, each time in another order that depends on the seed and the round
alone, so a resumed stream is the same stream. `weigh_texts` gives the tf-idf vectors of documents as they come, on a
vocabulary and with document frequencies fixed before, for `partial_fit`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse

from orthodrome.corpora.corpus import Corpus, count_words
from orthodrome.corpora.tfidf import frequency_of, nonempty, tfidf
from orthodrome.corpora.words import plurals, words_of
from orthodrome.errors import BadInput


def batches(
    matrix: scipy.sparse.csr_array, batch_size: int, seed: int, rounds: int | None = None
) -> Iterator[scipy.sparse.csr_array]:
    """Yield batches of distinct rows; the rows left at the end of a round do not fill a batch and are skipped.

    matrix: unit rows
    batch_size: the rows of a batch
    seed: of the order
    rounds: passes through the rows; None: endless
    """
    if not 0 < batch_size <= matrix.shape[0]:
        raise BadInput(f"batch_size is {batch_size}; it must be from 1 to the number of documents, {matrix.shape[0]}")
    for number in itertools.count() if rounds is None else range(rounds):
        order = np.random.default_rng((seed, number)).permutation(matrix.shape[0])
        for begin in range(0, matrix.shape[0] - batch_size + 1, batch_size):
            yield matrix[order[begin : begin + batch_size]]


def weigh_texts(texts: Iterable[str], like: Corpus, batch_size: int) -> Iterator[scipy.sparse.csr_array]:
    """Yield batches of unit vectors of new texts; texts without a known word are left out.

    texts: the documents
    like: the corpus whose vocabulary and document frequencies are used
    batch_size: the rows of a batch
    """
    frequency, words = frequency_of(like.counts), set(like.vocabulary)
    stream = iter(texts)
    while chunk := list(itertools.islice(stream, batch_size)):
        documents = [words_of(text) for text in chunk]
        folded = plurals(words | {word for document in documents for word in document})
        documents = [[word if word in words else folded.get(word, word) for word in document] for document in documents]
        vectors = tfidf(count_words(documents, like.vocabulary, [""] * len(chunk)).counts, frequency)
        if (kept := vectors[nonempty(vectors)]).shape[0]:
            yield kept
