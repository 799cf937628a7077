"""What the samplers of SAM's topics share: a start from the prior, and the log-perplexity of held-out documents."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product
from orthodrome.manifolds.sphere import Sphere
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.evaluation import log_perplexity
from orthodrome.models.sam.law import AdmixtureLaw, random_topics
from orthodrome.models.sam.spread.vectors import SpreadVectors
from orthodrome.models.topics.sampler import HeldOutWatch, TopicSampler, kernel_seed

SPACE = Product({"topics": Sphere()})


@pytree
class LogPerplexityWatch(HeldOutWatch):
    """The published log-perplexity of held-out documents at single draws of the topics."""

    law: AdmixtureLaw
    documents: DocumentVectors
    seed: int = static()
    every: int = static()
    total: int = static()

    def look(self, state: Any) -> Any:
        """Return the state with the log-perplexity at its topics."""
        found = log_perplexity(self.law, self.documents, state.topics[None], seed=self.seed)
        return state._replace(log_perplexity=found)

    def tell(self, state: Any, info: Any) -> Any:
        """Return the info with the latest log-perplexity."""
        return info._replace(log_perplexity=state.log_perplexity)


@pytree
class TopicProblem:
    """Documents, their law, and the run.

    total: D, the number of documents that these stand for; dtype: of the draws that are kept
    """

    data: DocumentVectors | SpreadVectors
    law: AdmixtureLaw
    num_topics: int = static()
    num_warmup: int = static()
    total: int = static()
    dtype: str = static(default="float32")
    watch: LogPerplexityWatch | None = None


class AdmixtureSampler(TopicSampler):
    """A sampler of the topics of a `TopicProblem`."""

    given: TopicProblem

    @abc.abstractmethod
    def begin(self, topics: Reals, seed: int) -> Any:
        """Return the first state at these topics."""

    @property
    def manifold(self) -> Manifold:
        """A sphere for every topic."""
        return SPACE

    @property
    def spreads_data(self) -> bool:
        """Whether each process has a part of the documents."""
        return self.given.data.is_spread

    def init(self, position: Any, key: Any = None) -> Any:
        """Return the state at {"topics": (K, V)}, or at random topics if that is None."""
        seed = kernel_seed(key)
        return self.begin(self.first_topics(seed) if position is None else np.array(position["topics"]), seed)

    def first_topics(self, seed: int) -> Reals:
        """Return random topics around the corpus mean."""
        problem, rng = self.given, np.random.default_rng(seed)
        return random_topics(problem.law, problem.num_topics, rng, np.dtype(problem.dtype))

    def draw(self, state: Any) -> dict[str, Reals]:
        """Return the topics in the dtype of the draws."""
        return {"topics": state.topics.astype(self.given.dtype, copy=False)}
