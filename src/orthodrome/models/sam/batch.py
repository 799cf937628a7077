"""The stochastic gradient of log p(beta | documents) from a batch of documents with their proportions drawn.

    gradient = sigma A_V(|mbar|) mbar / |mbar| + kappa1 (D / S) sum_s (v_s W_s' - beta M_s)        (Eq. 10, erratum 3.5)

With `Memory` the batch only corrects what is remembered of all documents (SAGA, Defazio et al. 2014): W_d and c_d of
each document's last visit, their sums A = sum v_d W_d' and B = sum c_d W_d W_d', and

    gradient = prior + kappa1 [A - beta B + (D / S) sum_s (v_s (W_s - W0_s)' - beta (M_s - c0_s W0_s W0_s'))],

still unbiased for any memory, with a noise that falls a hundredfold because topics move little between two visits.

All of this works on K numbers per document. What depends on the vocabulary is linear in the topics: a matrix (K, K)
times beta, and sparse rows, which `kernels.advance` applies while it moves the topics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.kernels.gradient import gradient_parts, remember
from orthodrome.models.sam.kernels.topics import add_documents, inner_products
from orthodrome.models.sam.kernels.words import blank
from orthodrome.models.sam.law import AdmixtureLaw
from orthodrome.models.sam.proportions import gram_of


class View(NamedTuple):
    """The products of the topics with a batch: its rows, beta' v, beta' beta, and the documents that have the rows."""

    rows: NDArray[np.int64]
    b: Reals
    gram: Reals
    documents: DocumentVectors


class Glance(NamedTuple):
    """What the tuning reads of a gradient.

    noise: V, the variance of a coordinate of the gradient's error from choosing the batch (erratum c-7)
    curvature: of the log likelihood in the topics, an upper estimate
    cosine: the mean of v.beta theta / q
    """

    noise: float
    curvature: float
    cosine: float


class Slope(NamedTuple):
    """The gradient of the log likelihood in two parts: moment beta + scale v' W, with a memory kappa1 A besides.

    moment: (K, K); weights: W (S, K), the difference from what is remembered; seen: W and c as columns (S, K + 1)
    """

    moment: NDArray[np.float64]
    weights: Reals
    scale: float
    seen: Reals
    glance: Glance


class Memory(NamedTuple):
    """What is remembered of documents: `table` (D, K + 1), A in `linear`, word by word, and B in `square` (K, K)."""

    table: Reals
    linear: Reals
    square: Reals

    def learn(self, documents: DocumentVectors, rows: NDArray[np.int64], found: Slope) -> None:
        """Replace what is remembered of these rows, in place."""
        sparse = (documents.indptr, documents.indices, documents.values, rows)
        remember(self.table, self.square, self.linear, *sparse, found.seen, found.weights)

    def unused(self) -> Memory:
        """Return a memory without rows, of which gradients take nothing and which does not learn."""
        return Memory(self.table[:0], self.linear[:0], self.square)


def empty_memory(count: int, topics: Reals) -> Memory:
    """Return the memory of `count` documents, none of which has been seen; of none at all, arrays without rows."""
    size, linear = topics.shape[0], blank(topics.shape[0], topics.shape[1], topics.dtype)
    return Memory(np.zeros((count, size + 1), topics.dtype), linear if count else linear[:0], np.zeros((size, size)))


def look(topics: Reals, documents: DocumentVectors, rows: NDArray[np.int64]) -> View:
    """Return the inner products of the topics with the documents of a batch, and among themselves."""
    b = inner_products(topics, documents.indptr, documents.indices, documents.values, rows)
    return View(rows, b, gram_of(topics), documents)


def slope(law: AdmixtureLaw, view: View, draws: Reals, total: int, memory: Memory | None = None) -> Slope:
    """Return the gradient at fixed proportions; `total`: D, for which the batch stands."""
    size, count = view.b.shape
    kappa, scale = float(law.document_concentration), float(law.document_concentration) * total / size
    table = np.zeros((0, count + 1), view.b.dtype) if memory is None else memory.table
    square = np.zeros((0, 0)) if memory is None else memory.square
    moment, change, seen, *found = gradient_parts(view.gram, view.b, draws, view.rows, table, square, scale, kappa)
    return Slope(moment, change, scale, seen, glance_of(law, total, size, count, *found))


def glance_of(
    law: AdmixtureLaw, total: int, size: int, count: int, square: float, largest: float, cosine: float
) -> Glance:
    """Return the numbers for the tuning from those of `gradient_parts`, of S = `size` documents and K = `count`."""
    kappa, freedom = law.document_concentration, count * (law.num_words - 1)
    noise = (kappa * total) ** 2 / size * max(0.0, 1 - size / total) * square / freedom
    return Glance(noise, kappa * total / size * largest + law.topic_concentration, cosine)


def whole(found: Slope, law: AdmixtureLaw, topics: Reals, documents: DocumentVectors, view: View) -> Reals:
    """Return the gradient of the log density, without a memory's part, as one array."""
    gradient = found.moment.astype(topics.dtype) @ topics
    sparse = (documents.indptr, documents.indices, documents.values, view.rows)
    add_documents(gradient, *sparse, found.weights, found.scale)
    return gradient + law.prior_gradient(topics)
