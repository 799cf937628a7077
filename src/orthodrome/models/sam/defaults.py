"""Concentrations that suit the documents, from their angles with the centres of a spherical k-means.

Half of the documents (of a sample) make K centres, which are then drawn apart by least squares, since documents are
mixtures and so are their means. The cosine r of a document of the other half and its best weighted mean of centres says
how far documents are from their topics, A_V(kappa1) = r: the likelihood's own equation, without the optimism of judging
centres by the documents that made them.

sigma and kappa0 are the same number: the prior of a topic then weighs as much as one document. The paper's
concentrations are in proportion to the number of words, which is far too high, most of all for short texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.kernels.bessel import concentration_of
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.law import AdmixtureLaw, Reals, unit_rows
from orthodrome.models.sam.proportions import first_guess

DOC_TOPIC_PRIOR, PUBLISHED_PRIOR = 1.0, 10.0
SAMPLE, ROUNDS, UNMIXINGS = 6000, 12, 6
LEAST, MOST = 0.02, 0.9999
"""Cosines beyond are taken for these: concentrations stay finite and positive."""


def law_of(model: Any, count: int, sample: DocumentVectors, mean: Reals) -> AdmixtureLaw:
    """Return the hyper-parameters of a model: those given, the others estimated from the documents or as published.

    count: of all documents; sample: those of `sampled_rows`; mean: of all, normalised
    """
    given = (model.corpus_concentration, model.topic_concentration, model.document_concentration)
    if model.published:
        default = published_concentrations(sample.num_words)
    else:
        default = concentrations_of(sample, count, model.n_components) if None in given else given
    kappa0, sigma, kappa1 = (float(b if a is None else a) for a, b in zip(given, default, strict=True))
    usual = PUBLISHED_PRIOR if model.published else DOC_TOPIC_PRIOR
    alpha = usual if model.doc_topic_prior is None else float(model.doc_topic_prior)
    return AdmixtureLaw(mean, kappa0, sigma, kappa1, alpha)


def published_concentrations(num_words: int) -> tuple[float, float, float]:
    """Return kappa0, sigma and kappa1 in the proportions to V that the paper uses on both of its data sets."""
    return 2.0 * num_words, 2.0 * num_words, 6.0 * num_words


def estimated_concentrations(documents: DocumentVectors, num_topics: int) -> tuple[float, float, float]:
    """Return kappa0, sigma and kappa1 estimated from the documents; the same documents give the same numbers."""
    return concentrations_of(documents.chosen(sampled_rows(documents.count)), documents.count, num_topics)


def sampled_rows(count: int) -> NDArray[np.int64]:
    """Return the rows from which concentrations are estimated, in a random order."""
    return np.random.default_rng(0).permutation(count)[:SAMPLE]


def concentrations_of(sample: DocumentVectors, count: int, num_topics: int) -> tuple[float, float, float]:
    """Return kappa0, sigma and kappa1 estimated from the sampled rows of so many documents."""
    rng = np.random.default_rng(0)
    rng.permutation(count)  # that of `sampled_rows`, whose stream goes on
    half, table = -(-sample.count // 2), sample.table()
    centres = spherical_means(table[:half], min(num_topics, half), rng)
    for _ in range(UNMIXINGS):
        centres = unmixed(centres, table[:half])
    cosine = min(max(mean_cosine(centres, table[half:] if sample.count > 1 else table), LEAST), MOST)
    kappa1 = concentration_of(sample.num_words, cosine)
    return kappa1, kappa1, kappa1


def spherical_means(table: scipy.sparse.csr_matrix, count: int, rng: np.random.Generator) -> Reals:
    """Return the centres (count, V) of unit rows by spherical k-means; a centre that loses its rows stays."""
    size = table.shape[0]
    centres = table[rng.choice(size, count, replace=False)].toarray().astype(np.float64)
    for _ in range(ROUNDS):
        nearest = np.asarray(table @ centres.T).argmax(axis=1)
        belongs = scipy.sparse.csr_matrix((np.ones(size), (nearest, np.arange(size))), shape=(count, size))
        sums = (belongs @ table).toarray()
        moved = np.einsum("ij,ij->i", sums, sums) > 1e-12
        centres[moved] = unit_rows(sums[moved])
    return centres


def weights_and_cosines(centres: Reals, table: scipy.sparse.csr_matrix) -> tuple[Reals, Reals]:
    """Return the weights of the centres whose normalised mean is nearest to each row (least squares, negative weights
    set to zero), and the cosines between them and the rows."""
    gram, b = centres @ centres.T, np.asarray(table @ centres.T).astype(np.float64)
    weights = first_guess(gram, b, margin=1e-6)
    weights /= np.sqrt(np.einsum("ij,jk,ik->i", weights, gram, weights))[:, None]
    return weights, np.einsum("ij,ij->i", weights, b)


def mean_cosine(centres: Reals, table: scipy.sparse.csr_matrix) -> float:
    """Return the mean cosine between the rows and their best weighted means of centres."""
    return float(weights_and_cosines(centres, table)[1].mean())


def unmixed(centres: Reals, table: scipy.sparse.csr_matrix) -> Reals:
    """Return the centres whose weighted means are nearest to the rows in the sense of least squares."""
    weights, _ = weights_and_cosines(centres, table)
    square = weights.T @ weights
    ridge = 1e-3 * np.trace(square) / len(square) * np.eye(len(square))
    moved = np.linalg.solve(square + ridge, (table.T @ weights).T)
    return unit_rows(moved) if np.all(np.einsum("ij,ij->i", moved, moved) > 1e-12) else centres
