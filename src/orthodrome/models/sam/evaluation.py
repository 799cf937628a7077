"""How well topics predict documents they have not seen, in two ways.

`log_perplexity` is the authors' (erratum 3.6): T draws of theta from the prior, shared by all documents and all draws
of the topics,

    -(1/D) sum_d log (1 / M T) sum_{m,n} exp(kappa1 v_d . vbar(beta_m, theta_n)) - log c_V(kappa1).

The exponent differs by hundreds of nats between one theta and another, so the mean is that of the best of T draws: the
estimate is hundreds of nats too high and depends on M T. `annealed_log_density` is nearly unbiased: for each document
and each draw of the topics, annealed importance sampling (Neal 2001) from the prior to the posterior of theta along
prior x likelihood^t, the moves being those of the samplers here; it is a lower bound on average, and its gap is small
and measured (`annealed_gap`: the same chain run backwards from an exact draw gives an upper bound, Grosse et al. 2015).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.kernels.topics import inner_products
from orthodrome.models.sam.law import AdmixtureLaw, Reals
from orthodrome.models.sam.proportions import Sweep, draw_proportions, gram_of

NUM_TEMPERATURES, NUM_PARTICLES, PILOT = 300, 2, 64
TARGET = 0.8


def log_perplexity(
    law: AdmixtureLaw, documents: DocumentVectors, topics: Reals, num_draws: int = 200, seed: int = 0
) -> float:
    """Return the published log-perplexity; topics: (M, K, V)."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(topics.shape[1], law.doc_topic_prior), num_draws)
    total = np.full(documents.count, -np.inf)
    table = documents.table()
    for beta in topics:
        centres = theta @ beta.astype(np.float64)
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        exponents = law.document_concentration * (table @ centres.T)
        total = np.logaddexp(total, np.logaddexp.reduce(exponents, axis=1))
    return float(-(total - math.log(len(topics) * num_draws)).mean() - law.log_document_constant())


def annealed_log_density(
    law: AdmixtureLaw,
    documents: DocumentVectors,
    topics: Reals,
    *,
    num_temperatures: int = NUM_TEMPERATURES,
    num_particles: int = NUM_PARTICLES,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return log (1/M) sum_m p(v_d | beta_m) of every document."""
    total = np.full(documents.count, -np.inf)
    for m, beta in enumerate(topics):
        weights = annealed_weights(law, documents, beta, num_temperatures, num_particles, seed + m)
        total = np.logaddexp(total, np.logaddexp.reduce(weights, axis=1) - math.log(num_particles))
    return total - math.log(len(topics)) + law.log_document_constant()


def annealed_weights(
    law: AdmixtureLaw, documents: DocumentVectors, topics: Reals, num_temperatures: int, num_particles: int, seed: int
) -> NDArray[np.float64]:
    """Return the log weights, (D, particles)."""
    rows, size = np.repeat(np.arange(documents.count), num_particles), topics.shape[0]
    b = inner_products(topics, documents.indptr, documents.indices, documents.values, rows)
    gram = gram_of(topics)
    rng = np.random.default_rng(seed)
    ladder = temperatures(num_temperatures)
    steps = pilot_steps(law, gram, b[:: max(1, len(b) // PILOT)], ladder, rng)
    theta = rng.dirichlet(np.full(size, law.doc_topic_prior), len(b)).astype(b.dtype)
    found = anneal(law, gram, b, theta, ladder, steps, seed)[0]
    return found.reshape(documents.count, num_particles)


def temperatures(count: int) -> NDArray[np.float64]:
    """Return inverse temperatures from 0 to 1, dense near 0 where the likelihood takes over from the prior."""
    return np.linspace(0, 1, count + 1) ** 3


def cosine(gram: Reals, b: Reals, theta: Reals) -> NDArray[np.float64]:
    """Return the cosine b.theta / q in float64."""
    size = b.shape[1]
    t, g = theta.astype(np.float64), gram[:size, :size].astype(np.float64)
    return np.einsum("ij,ij->i", t, b) / np.sqrt(np.einsum("ij,jk,ik->i", t, g, t))


def anneal(
    law: AdmixtureLaw, gram: Reals, b: Reals, theta: Reals, ladder: Reals, steps: Reals, seed: int
) -> tuple[NDArray[np.float64], Reals]:
    """Return the log weights and last proportions of one pass up (or down) the ladder; steps: of the moves at
    ladder[1:]."""
    weights, items = np.zeros(len(b)), np.arange(len(b), dtype=np.uint64)
    sweep = Sweep(1, 0, 5, False)
    for i in range(1, len(ladder)):
        weights += (ladder[i] - ladder[i - 1]) * law.document_concentration * cosine(gram, b, theta)
        kappa, alpha = ladder[i] * law.document_concentration, law.doc_topic_prior
        theta = draw_proportions(gram, b, theta, kappa, alpha, steps[i - 1], sweep, seed, i, items).last
    return weights, theta


def anneal_down(
    law: AdmixtureLaw, gram: Reals, b: Reals, theta: Reals, ladder: Reals, steps: Reals, seed: int
) -> Reals:
    """Follow the path backwards from posterior draws; these log weights are too high on average, not too low."""
    weights, items = np.zeros(len(b)), np.arange(len(b), dtype=np.uint64)
    sweep = Sweep(1, 0, 5, False)
    for i in range(len(ladder) - 1, 0, -1):
        kappa, alpha = ladder[i] * law.document_concentration, law.doc_topic_prior
        theta = draw_proportions(gram, b, theta, kappa, alpha, steps[i - 1], sweep, seed, i, items).last
        weights += (ladder[i] - ladder[i - 1]) * law.document_concentration * cosine(gram, b, theta)
    return weights


def annealed_gap(
    law: AdmixtureLaw,
    topics: Reals,
    *,
    num_documents: int = 64,
    num_temperatures: int = NUM_TEMPERATURES,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the mean gap between the upper and the lower bound of the annealed log density, and its standard error.

    On documents drawn from the model at these topics, whose true proportions are exact draws of their posterior.
    """
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(topics.shape[0], law.doc_topic_prior), num_documents)
    centres = theta @ topics.astype(np.float64)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = draw_around(centres, law.document_concentration, rng)
    b, gram = (rows @ topics.T.astype(np.float64)).astype(topics.dtype), gram_of(topics)
    ladder = temperatures(num_temperatures)
    steps = pilot_steps(law, gram, b, ladder, rng)
    begin = rng.dirichlet(np.full(topics.shape[0], law.doc_topic_prior), num_documents).astype(topics.dtype)
    below = anneal(law, gram, b, begin, ladder, steps, seed)[0]
    above = anneal_down(law, gram, b, theta.astype(topics.dtype), ladder, steps, seed + 1)
    return float(np.mean(above - below)), float(np.std(above - below) / math.sqrt(num_documents))


def draw_around(centres: Reals, concentration: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from the von Mises-Fisher distribution around each row (Wood 1994)."""
    count, dimension = centres.shape
    m = dimension - 1
    ratio = m / (2 * concentration + math.sqrt(4 * concentration**2 + m**2))
    point = (1 - ratio) / (1 + ratio)
    level = concentration * point + m * math.log(1 - point**2)
    along = np.full(count, np.nan)
    while np.isnan(along).any():
        z = rng.beta(m / 2, m / 2, count)
        trial = (1 - (1 + ratio) * z) / (1 - (1 - ratio) * z)
        taken = concentration * trial + m * np.log(1 - point * trial) - level >= np.log(rng.random(count))
        along = np.where(np.isnan(along) & taken, trial, along)
    side = rng.standard_normal(centres.shape)
    side -= centres * np.sum(side * centres, axis=1, keepdims=True)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return along[:, None] * centres + np.sqrt(1 - along**2)[:, None] * side


def pilot_steps(
    law: AdmixtureLaw, gram: Reals, b: Reals, ladder: Reals, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Step sizes for the rungs, from a few documents, so that the moves of the rest depend on nothing random."""
    size = b.shape[1]
    theta = rng.dirichlet(np.full(size, law.doc_topic_prior), len(b)).astype(b.dtype)
    log_step, found = math.log(0.5 / math.sqrt(4 * law.doc_topic_prior * size)), []
    seed, sweep, items = int(rng.integers(2**31)), Sweep(3, 0, 5, False), np.arange(len(b), dtype=np.uint64)
    for i in range(1, len(ladder)):
        kappa, alpha = ladder[i] * law.document_concentration, law.doc_topic_prior
        drawn = draw_proportions(gram, b, theta, kappa, alpha, math.exp(log_step), sweep, seed, i, items)
        theta = drawn.last
        log_step = min(log_step + 0.5 * (float(drawn.acceptance.mean()) - TARGET), math.log(1.5 / math.sqrt(size)))
        found.append(math.exp(log_step))
    return np.array(found)
