"""The stochastic gradient of log p(beta | documents) from a batch of documents with their proportions drawn.

    gradient = sigma A_V(|mbar|) mbar / |mbar| + kappa1 (D / S) sum_s (v_s W_s' - beta M_s)        (Eq. 10, erratum 3.5)

Everything but the last product and the sparse sum works on K numbers per document, so the cost does not depend on the
number of documents, and on the vocabulary only through K V.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.models.kernels.statistics import batch_statistics
from orthodrome.models.kernels.topics import add_documents, inner_products
from orthodrome.models.sam_documents import Documents
from orthodrome.models.sam_law import Law
from orthodrome.models.sam_proportions import gram_of

Reals = NDArray[np.floating]


class View(NamedTuple):
    """What the topics look like from a batch: its rows, beta' v and beta' beta."""

    rows: NDArray[np.int64]
    b: Reals
    gram: Reals


class Slope(NamedTuple):
    """The gradient without the prior's part, that part, and what the tuning wants to know.

    noise: V, the variance of a coordinate of the gradient's error from choosing the batch (erratum c-7)
    curvature: of the log likelihood in the topics, an upper estimate
    cosine: the mean of v.beta theta / q
    """

    likelihood: Reals
    prior: Reals
    noise: float
    curvature: float
    cosine: float


def look(topics: Reals, documents: Documents, rows: NDArray[np.int64]) -> View:
    """Inner products with the batch."""
    b = inner_products(topics, documents.indptr, documents.indices, documents.values, rows)
    return View(rows, b, gram_of(topics))


def slope(law: Law, topics: Reals, documents: Documents, view: View, draws: Reals, total: int) -> Slope:
    """The gradient at fixed proportions; `total` is D, of which the batch stands for all."""
    size = view.rows.shape[0]
    weights, moment, cosines, squares = batch_statistics(view.gram, view.b, draws)
    kappa, ratio = law.document_concentration, total / size
    likelihood = (-kappa * ratio * moment).astype(topics.dtype) @ topics
    add_documents(likelihood, documents.indptr, documents.indices, documents.values, view.rows, weights, kappa * ratio)
    freedom = topics.shape[0] * (topics.shape[1] - 1)
    noise = (kappa * total) ** 2 / size * max(0.0, 1 - size / total) * float(squares.mean()) / freedom
    strongest = float(np.linalg.eigvalsh(weights.T @ weights)[-1])
    curvature = kappa * ratio * strongest + law.topic_concentration
    return Slope(likelihood, law.prior_gradient(topics), noise, curvature, float(cosines.mean()))
