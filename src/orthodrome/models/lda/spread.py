"""Documents spread over processes: each has every P-th of them, and what crosses is sums of whole numbers.

Document d of the corpus, in the order in which the warm-up lets them in, belongs to process d mod P, so that the first
n documents are as many on every process. A document draws from the stream of its number d whoever has it, counts are
whole numbers whose sums are exact, and topics are drawn in blocks with streams of their own, each process a part of
them: so the draws are the same, bit for bit, for every number of processes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.kernels.assignments import Tokens
from orthodrome.kernels.transition import part_of_transition
from orthodrome.models.lda.documents import LOOKED_AT, TokenDocuments
from orthodrome.run.opening import check_same
from orthodrome.run.parallel import Team


@pytree
class SpreadDocuments:
    """The part of a corpus that this process has, with the interface of `TokenDocuments`.

    own: the documents process, process + P, ... of the corpus; head: its first documents, the same on all processes
    occurs: how often each word occurs in the whole corpus
    count, num_tokens: of the whole corpus; place: the number of this process, and P
    """

    own: TokenDocuments
    head: TokenDocuments
    occurs: NDArray[np.int64]
    count: int = static()
    num_tokens: int = static()
    place: tuple[int, int] = static()

    @property
    def process(self) -> int:
        """The number of this process, from 0."""
        return self.place[0]

    @property
    def processes(self) -> int:
        """P."""
        return self.place[1]

    @property
    def is_spread(self) -> bool:
        """Whether other processes have other documents, which they do."""
        return True

    @property
    def num_words(self) -> int:
        """The size of the vocabulary."""
        return self.own.num_words

    @property
    def num_own_tokens(self) -> int:
        """The number of tokens that this process has."""
        return self.own.num_tokens

    def first(self, count: int) -> Tokens:
        """Return the tokens of those of the first documents that this process has, without copying them."""
        return self.own.first(self._below(count))

    def names(self, count: int) -> NDArray[np.int64]:
        """Return the numbers of those of the first `count` documents that this process has."""
        return np.arange(self._below(count)) * self.processes + self.process

    def batch(self, rows: NDArray[np.int64]) -> tuple[Tokens, NDArray[np.int64]]:
        """Return the tokens of those of some documents that this process has, and their numbers."""
        names = rows[rows % self.processes == self.process]
        return self.own.chosen(names // self.processes), names

    def places(self, names: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where documents that this process has begin among its tokens, by their numbers."""
        return self.own.starts[names // self.processes]

    def frequencies(self) -> NDArray[np.int64]:
        """Return how often each word occurs in the whole corpus."""
        return self.occurs

    def total(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of whole numbers over all processes."""
        return Team().total(counts)

    def total_of_topics(self, counts: NDArray[np.int32]) -> None:
        """Replace the counts (word, topic) of this process by their sums over all.

        No word has a topic more often than it occurs in the corpus, so those of rare words cross in one byte each, and
        those of others in two; in four only where a word occurs more than 65,535 times.
        """
        for words, kind in grouped_by_size(self.occurs):
            counts[words] = self.total(counts[words].astype(kind))

    def total_of_words(self, words: NDArray[np.int64], counts: NDArray[np.int32]) -> tuple[Any, NDArray[np.int32]]:
        """Return all words and the sums of their counts (word, topic) over all processes."""
        whole = np.zeros((self.num_words, counts.shape[1]), np.int32)
        whole[words] = counts
        return slice(None), self.total(whole)

    def largest(self, number: int) -> int:
        """Return the largest of the numbers of all processes."""
        return int(Team().gather(np.array(number)).max())

    def drawn_weights(
        self, seed: int, log_weights: NDArray[np.float32], prior: float, counts: NDArray[Any], time: float
    ) -> NDArray[np.float32]:
        """Return the exact transition of the log weights, of which each process draws its part."""
        own = part_of_transition(seed, log_weights, prior, counts, time, self.process, self.processes)
        return Team().gather(own).reshape(-1)[: log_weights.size].reshape(log_weights.shape)

    def _below(self, count: int) -> int:
        """Return how many of the first `count` documents this process has."""
        return max(0, -(-(count - self.process) // self.processes))


def arranged(documents: TokenDocuments, seed: int | None, spreads: bool) -> TokenDocuments | SpreadDocuments:
    """Return the documents in a random order, and spread over the processes of this run if there are several.

    seed: of the order; None: as they are
    spreads: whether the method can use documents that are spread
    """
    team = Team()
    if team.processes == 1 or not spreads:
        return documents if seed is None else documents.shuffled(seed)
    facts = documents.starts if seed is None else (documents.starts, documents.words)  # a corpus on disk is not read
    check_same(team, {"X": facts, "num_words": documents.num_words})
    rows = np.arange(documents.count) if seed is None else np.random.default_rng(seed).permutation(documents.count)
    part = lambda some: TokenDocuments(*documents.chosen(some), documents.num_words)
    sizes = (documents.count, documents.num_tokens, (team.process, team.processes))
    own = part(rows[team.process :: team.processes])
    return SpreadDocuments(own, part(rows[:LOOKED_AT]), team.total(own.frequencies()), *sizes)


def grouped_by_size(most: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], type]]:
    """Return the places of numbers with the smallest of three kinds of whole numbers that hold them."""
    kinds = (np.uint8, np.uint16, np.int32)
    smallest = np.searchsorted([np.iinfo(kind).max for kind in kinds], most)
    groups = [(np.flatnonzero(smallest == index), kind) for index, kind in enumerate(kinds)]
    return [(places, kind) for places, kind in groups if places.size]
