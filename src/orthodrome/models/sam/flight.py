"""Topics and their velocity during a move, word by word (`kernels.words`), with the products that gradients need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.kernels.scratch import scratch
from orthodrome.models.sam.batch import Glance, Memory, View, glance_of
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.kernels.advance import gradient_and_advance
from orthodrome.models.sam.kernels.turn import sums_of, turn
from orthodrome.models.sam.kernels.words import products_by_word, put_by_topic, put_by_word
from orthodrome.models.sam.law import AdmixtureLaw


class Letters(NamedTuple):
    """Numbers of B, O, B and A: the step h, exp(-C h / 2), the deviation of the noise, and the time of A."""

    step_size: float
    damping: float
    deviation: float
    time: float


class Flight:
    """The topics on their way: `gram` is beta' beta (K', K'), `total` the sum of its entries, `along` that of beta' m.

    topics: (K, V), copied; velocity: word by word, changed in place
    """

    def __init__(self, law: AdmixtureLaw, documents: DocumentVectors, topics: Reals, velocity: Reals) -> None:
        self.law, self.num_topics = law, topics.shape[0]
        self.documents = documents
        self.x, self.v = scratch(velocity.shape, topics.dtype), velocity
        put_by_word(topics, self.x)
        self.mean = np.zeros(self.x.shape[0], topics.dtype)
        self.mean[: law.num_words] = law.mean
        self.gram, self.total, self.along = np.zeros((0, 0), topics.dtype), 0.0, 0.0

    def drift(self, time: float) -> Reals:
        """Apply A: move along great circles for the time; return v.v of each topic."""
        sums = sums_of(self.x, self.v, self.num_topics)
        squares, self.gram, self.total, self.along = turn(self.x, self.v, self.mean, sums, float(time))
        return squares

    def look(self, rows: NDArray[np.int64], documents: DocumentVectors | None = None) -> View:
        """Return the inner products of the topics with the documents of a batch, and among themselves."""
        data = self.documents if documents is None else documents
        b = products_by_word(self.x, self.num_topics, data.indptr, data.indices, data.values, rows)
        return View(rows, b, self.gram, data)

    def kick_and_drift(
        self, view: View, draws: Reals, memory: Memory, total: int, letters: Letters, place: tuple[int, int]
    ) -> tuple[Reals, Glance]:
        """Apply B, O, B, and then A by the gradient of a batch, from which the memory, if it has rows, learns.

        total: D, for which the batch stands; place: the seed and the number of the step, which name its stream
        Returns v.v of each topic, and what the tuning reads of the gradient.
        """
        law, size, data = self.law, view.rows.shape[0], view.documents
        prior, kappa = law.prior_scale(self.total, self.along), float(law.document_concentration)
        pulls = (prior * law.topic_concentration, prior * law.corpus_concentration)
        numbers = (law.num_words, *map(float, letters))
        sparse = (data.indptr, data.indices, data.values, view.rows)
        batch = (sparse, view.gram, view.b, draws, tuple(memory), kappa * total / size, kappa)
        moved, found = gradient_and_advance(
            self.x, self.v, *batch, self.mean, pulls, numbers, np.uint64(place[0]), np.uint64(place[1])
        )
        squares, self.gram, self.total, self.along = moved
        return squares, glance_of(law, total, size, self.num_topics, *found)

    def land(self, topics: Reals) -> None:
        """Write the topics into an array (K, V)."""
        put_by_topic(self.x, topics)
