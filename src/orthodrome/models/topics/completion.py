"""Document completion: how well the topics predict the words of a document that were held back.

Of each document the tokens at positions 0, 10, 20, ... are held back. From the others the topic assignments are swept
by exact Gibbs steps at the topics phi (`kernels.assignments`), the first part of the sweeps is thrown away, and

    p(w | d) = sum_k eta_dk phi_kw,    eta_dk = (A_dk + alpha_k) / sum_j (A_dj + alpha_j),

A_dk being the mean count of topic k in document d. Perplexity is exp(- sum n log p / sum n) over the held-back words
(Patterson & Teh 2013; Baker et al. 2018 with the sign of erratum 001-6). It is given at single topics, and with p
averaged over all evaluations so far, as the papers plot it.

The prior alpha for folding in is always stated by the caller: comparisons between models use one for all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.kernels.assignments import Tokens, assign_topics, tokens

EVERY = 10
"""One token of so many is held back."""
SWEEPS, BURN = 60, 20
"""Gibbs sweeps over the observed tokens, and how many of them are thrown away."""


@pytree
class CompletionTask:
    """Documents of which a part is seen and the rest is to be predicted.

    words, starts: the tokens that are seen; rows, columns, counts: the held-back words and how often they occur
    """

    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: NDArray[np.float64]
    seed: int = static(default=0)

    @property
    def total(self) -> float:
        """The number of tokens to predict."""
        return float(self.counts.sum())


class Completed(NamedTuple):
    """One evaluation: its perplexity, and that of the mean prediction of all evaluations so far."""

    perplexity: float
    averaged: float


def completion_task(observed: Any, held_back: Any, seed: int = 0) -> CompletionTask:
    """Return the task for two matrices of counts, documents x words: what is seen, and what is to be predicted."""
    seen, rest = (scipy.sparse.csr_matrix(part).astype(np.int64) for part in (observed, held_back))
    if seen.shape != rest.shape:
        raise BadInput(f"the observed part has the shape {seen.shape} and the held-back part {rest.shape}")
    rest.eliminate_zeros()
    if rest.nnz == 0:
        raise BadInput("no word is held back, so there is nothing to predict")
    places, found = rest.tocoo(), tokens(seen)
    return CompletionTask(*found, places.row.astype(np.int64), places.col.astype(np.int64), places.data * 1.0, seed)


def split_documents(counts: Any, seed: int = 0, every: int = EVERY) -> tuple[Any, Any]:
    """Return counts split into what is seen and what is held back: positions 0, 10, 20, ... of each document.

    A matrix of counts does not know the order of the words; each document's tokens are put in a random order first.
    """
    table = scipy.sparse.csr_matrix(counts).astype(np.int64)
    found, rng = tokens(table), np.random.default_rng(seed)
    owners = np.repeat(np.arange(table.shape[0]), np.diff(found.starts))
    order = np.lexsort((rng.random(owners.shape[0]), owners))
    place = np.arange(owners.shape[0]) - found.starts[owners]
    held = place % every == 0
    parts = [(found.words[order][chosen], owners[chosen]) for chosen in (~held, held)]
    build = lambda words, rows: scipy.sparse.csr_matrix((np.ones(len(words), np.int64), (rows, words)), table.shape)
    return build(*parts[0]), build(*parts[1])


def predictions(task: CompletionTask, topics: Reals, prior: Reals, sweeps: int = SWEEPS, burn: int = BURN) -> Reals:
    """Return p(w | d) of every held-back word; topics: phi, (K, V)."""
    phi = np.ascontiguousarray(np.asarray(topics, np.float32).T)
    alpha = np.asarray(prior, np.float32)
    seen = Tokens(task.words, task.starts)
    found = assign_topics(task.seed, seen, phi, alpha, sweeps=sweeps, burn=burn, mixes=True)
    mixes = np.asarray(found.mixes, np.float64) + alpha
    mixes /= mixes.sum(axis=1, keepdims=True)
    return np.einsum("nk,nk->n", mixes[task.rows], phi[task.columns].astype(np.float64))


def perplexity_of(task: CompletionTask, p: Reals) -> float:
    """Return exp of minus the mean log prediction per held-back token."""
    return float(np.exp(-np.sum(task.counts * np.log(p)) / task.total))


class RunningCompletion:
    """Evaluations of one chain, one after the other, and the mean of their predictions.

    prior: alpha for folding in, one number or one for each topic
    """

    def __init__(self, task: CompletionTask, prior: Any) -> None:
        self.task, self.prior = task, prior
        self.sum, self.count = np.zeros(task.rows.shape[0]), 0

    def evaluate(self, topics: Reals) -> Completed:
        """Return the perplexity at these topics, (K, V), and that of the mean prediction so far."""
        p = predictions(self.task, topics, np.broadcast_to(np.asarray(self.prior, float), topics.shape[:1]))
        self.sum, self.count = self.sum + p, self.count + 1
        return Completed(perplexity_of(self.task, p), perplexity_of(self.task, self.sum / self.count))
