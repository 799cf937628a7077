"""What the samplers of LDA share: the problem, the state, a start, and the completion of held-out documents.

The model (Blei, Ng & Jordan 2003), with beta = topic_word_prior and alpha = doc_topic_prior:

    phi_k ~ Dirichlet(beta, ..., beta),   theta_d ~ Dirichlet(alpha_1, ..., alpha_K),
    z_di ~ theta_d,   w_di ~ phi_{z_di};   theta is integrated out everywhere.

Topics are stored as words x topics, the order in which the sweeps of the assignments read them; draws are topics x
words. Samplers change the arrays of their state in place.
"""

from __future__ import annotations

import abc
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.positive import Positive
from orthodrome.manifolds.product import Product
from orthodrome.manifolds.simplex import Simplex
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.spread import SpreadDocuments
from orthodrome.models.lda.start import seeded_topics
from orthodrome.models.topics.completion import CompletionTask, perplexity_of, predictions
from orthodrome.models.topics.sampler import HeldOutWatch, TopicSampler, kernel_seed

SPACE = Product({"doc_topic_prior": Positive(), "topics": Simplex()})


@pytree
class CompletionWatch(HeldOutWatch):
    """Document completion at single states; alpha for folding in is that of the state."""

    task: CompletionTask
    every: int = static()
    total: int = static()

    def look(self, state: AllocationState) -> AllocationState:
        """Return the state with the perplexity of its topics, and that of the mean of all predictions so far."""
        p = predictions(self.task, state.topics.T, state.prior)
        state.predicted[:] += p
        looks = int(state.looks) + 1
        averaged = perplexity_of(self.task, state.predicted / looks)
        return state._replace(looks=looks, perplexity=perplexity_of(self.task, p), averaged=averaged)

    def tell(self, state: AllocationState, info: AllocationInfo) -> AllocationInfo:
        """Return the info with the latest perplexities."""
        return info._replace(perplexity=state.perplexity, averaged_perplexity=state.averaged)


@pytree
class AllocationProblem:
    """Documents, their law, and the run.

    doc_topic_prior: alpha, one number for each topic; learns: whether the warm-up learns it
    total: D, the number of documents that these stand for
    """

    data: TokenDocuments | SpreadDocuments
    doc_topic_prior: NDArray[np.float32]
    topic_word_prior: float = static()
    learns: bool = static()
    num_warmup: int = static()
    total: int = static()
    watch: CompletionWatch | None = None

    @property
    def num_topics(self) -> int:
        """K."""
        return self.doc_topic_prior.shape[0]


class AllocationState(NamedTuple):
    """A state of any method; what a method does not use has no elements.

    topics: phi, (V, K); prior: alpha, (K,); assignments: the topic of every token, -1 before its first draw
    counts: (V, K), how often words have topics; weights, momentum: (V, K), theta (SCIR: log theta) and r
    predicted: the sum over evaluations of the predictions of held-out words; looks: how many there were
    """

    topics: NDArray[np.float32]
    prior: NDArray[np.float32]
    assignments: NDArray[np.int32]
    counts: NDArray[np.int32]
    weights: NDArray[np.float32]
    momentum: NDArray[np.float32]
    predicted: NDArray[np.float64]
    looks: int = 0
    taken: int = 0
    perplexity: float = math.nan
    averaged: float = math.nan

    @property
    def position(self) -> dict[str, Reals]:
        """The topics and alpha by name, the topics as points of the sphere."""
        return {"doc_topic_prior": self.prior, "topics": np.sqrt(self.topics.T)}


class AllocationInfo(NamedTuple):
    """What one transition did: documents that were swept, the step size (0 for Gibbs), and alpha's sum."""

    documents: int
    step_size: float
    prior_total: float
    perplexity: float | None = None
    averaged_perplexity: float | None = None


class AllocationSampler(TopicSampler):
    """A sampler of the topics of an `AllocationProblem`."""

    given: AllocationProblem

    @abc.abstractmethod
    def begin(self, state: AllocationState, seed: int) -> AllocationState:
        """Return the first state, from one that has topics and alpha only."""

    @property
    def spreads_data(self) -> bool:
        """Whether each process has a part of the documents."""
        return self.given.data.is_spread

    @property
    def held(self) -> tuple[str, ...]:
        """alpha, which the warm-up may learn, and draws do not."""
        return ("doc_topic_prior",)

    @property
    def manifold(self) -> Manifold:
        """A simplex for every topic, and a positive number for every alpha_k."""
        return SPACE

    def init(self, position: Any, key: Any = None) -> AllocationState:
        """Return the state at embedded topics and alpha; at topics of a few documents each if that is None."""
        seed, given = kernel_seed(key), self.given
        if position is None:
            topics = seeded_topics(given.data, given.num_topics, seed)
            prior = given.doc_topic_prior.copy()
        else:
            topics = np.ascontiguousarray(np.asarray(position["topics"], np.float32).T ** 2)
            prior = np.array(position["doc_topic_prior"], np.float32)
        watched = 0 if given.watch is None else given.watch.task.rows.shape[0]
        none = np.zeros((0, given.num_topics), np.float32)
        arrays = (np.zeros(0, np.int32), none.astype(np.int32), none.copy(), none.copy(), np.zeros(watched))
        return self.begin(AllocationState(topics, prior, *arrays), seed)

    def draw(self, state: AllocationState) -> dict[str, Reals]:
        """Return alpha and the topics, (K, V)."""
        return {"doc_topic_prior": state.prior, "topics": state.topics.T}
