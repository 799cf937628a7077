"""What the samplers of topics share: a start from the prior, seeds from keys, threads, and the watch on held-out text.

They are samplers that Python steps (`samplers.contract.PythonSampler`). The warm-up is the first `num_warmup`
transitions: what is left of it, from 1 down to 0, is told to `move`, which tunes as long as it is above 0.
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.kernels.thread_choice import on_fastest_threads
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product
from orthodrome.manifolds.sphere import Sphere
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.evaluation import log_perplexity
from orthodrome.models.sam.law import AdmixtureLaw, random_topics
from orthodrome.random.keys import seed_of
from orthodrome.samplers.contract import PythonSampler

SPACE = Product({"topics": Sphere()})


@pytree
class Watch:
    """The published log-perplexity of held-out documents at single draws of the topics, now and then.

    every, total: looked at after every so many transitions, and after the last one
    """

    law: AdmixtureLaw
    documents: DocumentVectors
    seed: int = static()
    every: int = static()
    total: int = static()

    def newest(self, taken: int, topics: Reals, last: float) -> float:
        """Return the value at these topics if it is time to look, else the last one."""
        if taken % self.every and taken != self.total:
            return last
        return log_perplexity(self.law, self.documents, topics[None], seed=self.seed)


@pytree
class TopicProblem:
    """Documents, their law, and the run.

    total: D, the number of documents that these stand for; dtype: of the draws that are kept
    """

    data: DocumentVectors
    law: AdmixtureLaw
    num_topics: int = static()
    num_warmup: int = static()
    total: int = static()
    dtype: str = static(default="float32")
    watch: Watch | None = None


class TopicSampler(PythonSampler, abc.ABC):
    """A sampler of the topics of a `TopicProblem`."""

    given: TopicProblem

    @abc.abstractmethod
    def begin(self, topics: Reals, seed: int) -> Any:
        """Return the first state at these topics."""

    @abc.abstractmethod
    def move(self, seed: int, state: Any, left: float) -> tuple[Any, Any]:
        """Take a transition; left: what is left of the warm-up, from 1 to 0."""

    @abc.abstractmethod
    def with_documents(self, data: DocumentVectors, total: int, state: Any) -> tuple[TopicSampler, Any]:
        """Return the sampler and the state for other documents, which stand for `total`."""

    @property
    def manifold(self) -> Manifold:
        """A sphere for every topic."""
        return SPACE

    @property
    def num_warmup(self) -> int:
        """The transitions that tune."""
        return self.given.num_warmup

    def init(self, position: Any, key: Any = None) -> Any:
        """Return the state at {"topics": (K, V)}, or at random topics if that is None."""
        seed = seed_of(key)
        return self.begin(self.first_topics(seed) if position is None else np.array(position["topics"]), seed)

    def first_topics(self, seed: int) -> Reals:
        """Return random topics around the corpus mean."""
        problem, rng = self.given, np.random.default_rng(seed)
        return random_topics(problem.law, problem.num_topics, rng, np.dtype(problem.dtype))

    def step(self, key: Any, state: Any) -> tuple[Any, Any]:
        """Take a transition."""
        left = max(0.0, 1 - float(state.taken) / max(1, self.num_warmup))
        return self.transition(seed_of(key), state, left)

    def transition(self, seed: int, state: Any, left: float) -> tuple[Any, Any]:
        """Take a transition on as many threads as are fastest, and look at the held-out documents if it is time."""
        state, info = on_fastest_threads(self.move, seed, state, left)
        taken, watch = int(state.taken) + 1, self.given.watch
        if watch is None:
            return state._replace(taken=taken), info
        seen = watch.newest(taken, state.topics, state.log_perplexity)
        return state._replace(taken=taken, log_perplexity=seen), info._replace(log_perplexity=seen)

    def draw(self, state: Any) -> dict[str, Reals]:
        """Return the topics in the dtype of the draws."""
        return {"topics": state.topics.astype(self.given.dtype, copy=False)}
