"""Where chains begin: topics around documents that differ, which leave the symmetric start far sooner than noise.

The documents that make the topics are chosen as the first centres of k-means++ are (Arthur & Vassilvitskii 2007): one
after the other, with probabilities proportional to the squared distance from the nearest one chosen so far, between
tf-idf vectors of length one. A topic is half the words of the whole corpus, half those of its document and of the
documents most like it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.lda.documents import LOOKED_AT, TokenDocuments
from orthodrome.models.lda.spread import SpreadDocuments

NEIGHBOURS = 3
"""Documents that make a topic; they are chosen among the first `LOOKED_AT` of the corpus."""


def seeded_topics(documents: TokenDocuments | SpreadDocuments, num_topics: int, seed: int) -> Reals:
    """Return phi, (V, K)."""
    counts = _sample(documents.head)
    vectors = _unit_rows(counts)
    whole = documents.frequencies() + 1.0
    found = np.empty((documents.num_words, num_topics), np.float32)
    for k, similar in enumerate(_spread(vectors, num_topics, np.random.default_rng(seed))):
        nearest = np.argsort(-similar, kind="stable")[:NEIGHBOURS]
        own = np.asarray(counts[nearest].sum(axis=0)).ravel()
        found[:, k] = 0.5 * whole / whole.sum() + 0.5 * own / max(1.0, own.sum())
    return found / found.sum(axis=0)


def _sample(documents: TokenDocuments) -> scipy.sparse.csr_matrix:
    """Return the counts of the longer half of the first documents."""
    sizes = np.diff(documents.starts[: LOOKED_AT + 1])
    rows = np.flatnonzero((sizes >= np.median(sizes)) & (sizes > 0))
    words, starts = documents.chosen(rows if rows.size else np.flatnonzero(np.diff(documents.starts))[:1])
    shape = (starts.shape[0] - 1, documents.num_words)
    table = scipy.sparse.csr_matrix((np.ones(words.shape[0]), words.astype(np.int64), starts), shape)
    table.sum_duplicates()
    return table


def _unit_rows(counts: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Return tf-idf vectors of length one; a word of all documents keeps a little weight."""
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    weighted = counts.multiply(np.log((1.0 + counts.shape[0]) / (0.5 + frequency))[None, :]).tocsr()
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return scipy.sparse.diags_array(1 / lengths) @ weighted


def _spread(vectors: scipy.sparse.csr_matrix, count: int, rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Return, for each chosen row, the cosines of all rows with it."""
    found: list[NDArray[np.float64]] = []
    distance = np.ones(vectors.shape[0])
    for _ in range(count):
        total = distance.sum()
        row = rng.choice(distance.shape[0], p=distance / total if total > 0 else None)
        found.append(np.asarray((vectors @ vectors[[row]].T).todense()).ravel())
        distance = np.minimum(distance, np.maximum(1 - found[-1], 0.0) ** 2)
    return found
