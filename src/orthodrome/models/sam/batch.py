"""The stochastic gradient of log p(beta | documents) from a batch of documents with their proportions drawn.

    gradient = sigma A_V(|mbar|) mbar / |mbar| + kappa1 (D / S) sum_s (v_s W_s' - beta M_s)        (Eq. 10, erratum 3.5)

With `Memory` the batch only corrects what is remembered of all documents (SAGA, Defazio et al. 2014): W_d and c_d of
each document's last visit, their sums A = sum v_d W_d' and B = sum c_d W_d W_d', and

    gradient = prior + kappa1 [A - beta B + (D / S) sum_s (v_s (W_s - W0_s)' - beta (M_s - c0_s W0_s W0_s'))],

still unbiased for any memory, with a noise that falls a hundredfold because topics move little between two visits.

Everything but the last product and the sparse sum works on K numbers per document, so the cost does not depend on the
number of documents, and on the vocabulary only through K V.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.kernels.statistics import batch_statistics
from orthodrome.models.sam.kernels.topics import add_documents, inner_products
from orthodrome.models.sam.law import AdmixtureLaw
from orthodrome.models.sam.proportions import gram_of


class View(NamedTuple):
    """The products of the topics with a batch: its rows, beta' v and beta' beta."""

    rows: NDArray[np.int64]
    b: Reals
    gram: Reals


class Slope(NamedTuple):
    """The gradient in three parts, and what the tuning reads of it.

    dense + scale v'W is the log likelihood's, `prior` that of log p(beta), the same in every topic
    noise: V, the variance of a coordinate of the gradient's error from choosing the batch (erratum c-7)
    curvature: of the log likelihood in the topics, an upper estimate
    cosine: the mean of v.beta theta / q
    """

    dense: Reals
    weights: Reals
    scale: float
    prior: Reals
    noise: float
    curvature: float
    cosine: float


class Memory(NamedTuple):
    """What is remembered of the documents: `table` (D, K + 1), A in `linear` (K, V) and B in `square` (K, K)."""

    table: Reals
    linear: Reals
    square: Reals

    def learn(self, documents: DocumentVectors, rows: NDArray[np.int64], found: Reals, change: Reals) -> None:
        """Replace what is remembered of these rows, in place."""
        np.add(self.square, _square(found) - _square(self.table[rows]), out=self.square)
        add_documents(self.linear, documents.indptr, documents.indices, documents.values, rows, change, 1.0)
        self.table[rows] = found


def empty_memory(count: int, topics: Reals) -> Memory:
    """Return the memory of `count` documents, none of which has been seen."""
    size = topics.shape[0]
    return Memory(np.zeros((count, size + 1), topics.dtype), np.zeros_like(topics), np.zeros((size, size)))


def _square(table: Reals) -> NDArray[np.float64]:
    """Return the sum over documents of c_d W_d W_d'."""
    weights = table[:, :-1].astype(np.float64)
    return (weights * table[:, -1:]).T @ weights


def look(topics: Reals, documents: DocumentVectors, rows: NDArray[np.int64]) -> View:
    """Return the inner products of the topics with the documents of a batch, and among themselves."""
    b = inner_products(topics, documents.indptr, documents.indices, documents.values, rows)
    return View(rows, b, gram_of(topics))


def slope(
    law: AdmixtureLaw,
    topics: Reals,
    documents: DocumentVectors,
    view: View,
    draws: Reals,
    total: int,
    memory: Memory | None = None,
    out: Reals | None = None,
) -> Slope:
    """Return the gradient at fixed proportions; `total`: D, for which the batch stands; `out`: an array for its dense
    part."""
    size, count = view.b.shape
    stored = np.zeros((size, count + 1), topics.dtype) if memory is None else memory.table[view.rows]
    found, change, moment, square, largest, cosine = batch_statistics(view.gram, view.b, draws, stored)
    kappa, scale = law.document_concentration, law.document_concentration * total / size
    moment *= -scale
    if memory is not None:
        moment -= kappa * memory.square
    dense = np.matmul(moment.astype(topics.dtype), topics, out=out)
    if memory is not None:
        dense += topics.dtype.type(kappa) * memory.linear
        memory.learn(documents, view.rows, found, change)
    freedom = topics.shape[0] * (topics.shape[1] - 1)
    noise = (kappa * total) ** 2 / size * max(0.0, 1 - size / total) * square / freedom
    curvature = scale * largest + law.topic_concentration
    return Slope(dense, change, scale, law.prior_gradient(topics), noise, curvature, cosine)


def whole(found: Slope, documents: DocumentVectors, view: View) -> Reals:
    """Return the gradient of the log density as one array."""
    gradient = found.dense.copy()
    sparse = (documents.indptr, documents.indices, documents.values, view.rows)
    add_documents(gradient, *sparse, found.weights, found.scale)
    return gradient + found.prior
