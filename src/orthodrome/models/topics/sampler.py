"""What the samplers of every topic model share: seeds from keys, threads, and the watch on held-out documents.

They are samplers that Python steps (`samplers.contract.PythonSampler`). The warm-up is the first `num_warmup`
transitions: the share of it that is left, from 1 down to 0, is passed to `move`, which tunes as long as it is above 0.
"""

from __future__ import annotations

import abc
from typing import Any

from orthodrome.core.types import Reals
from orthodrome.kernels.threads.choice import on_fastest_threads
from orthodrome.random.keys import seed_of
from orthodrome.samplers.contract import PythonSampler


class HeldOutWatch(abc.ABC):
    """An evaluation of held-out documents at single states, now and then.

    every, total: the state is looked at after every so many transitions, and after the last one
    """

    every: int
    total: int

    @abc.abstractmethod
    def look(self, state: Any) -> Any:
        """Return the state with the evaluation of its topics."""

    @abc.abstractmethod
    def tell(self, state: Any, info: Any) -> Any:
        """Return the info with the latest evaluation."""

    def seen(self, state: Any, info: Any) -> tuple[Any, Any]:
        """Return state and info, with a new evaluation if it is time for one."""
        if int(state.taken) % self.every == 0 or int(state.taken) == self.total:
            state = self.look(state)
        return state, self.tell(state, info)


class TopicSampler(PythonSampler, abc.ABC):
    """A sampler of topics.

    given: the problem, with the documents in `data`, the length of the warm-up in `num_warmup`, and a `watch` or None;
        the state counts its transitions in `taken`
    """

    given: Any

    @abc.abstractmethod
    def move(self, seed: int, state: Any, left: float) -> tuple[Any, Any]:
        """Take a transition; left: the share of the warm-up that is left, from 1 to 0."""

    @abc.abstractmethod
    def with_documents(self, data: Any, total: int, state: Any) -> tuple[TopicSampler, Any]:
        """Return the sampler and the state for other documents, which stand for `total`."""

    @property
    def num_warmup(self) -> int:
        """The number of transitions that tune."""
        return int(self.given.num_warmup)

    def step(self, key: Any, state: Any) -> tuple[Any, Any]:
        """Take a transition."""
        taken, warmup = int(state.taken), self.num_warmup
        return self.transition(kernel_seed(key), state, 1 - taken / warmup if taken < warmup else 0.0)

    def transition(self, seed: int, state: Any, left: float) -> tuple[Any, Any]:
        """Take a transition on as many threads as are fastest, and look at the held-out documents if it is time."""
        state, info = on_fastest_threads(self.move, seed, state, left)
        state = state._replace(taken=int(state.taken) + 1)
        return (state, info) if self.given.watch is None else self.given.watch.seen(state, info)

    @abc.abstractmethod
    def draw(self, state: Any) -> dict[str, Reals]:
        """Return what is kept of a state, by name."""


def kernel_seed(key: Any) -> int:
    """Return a seed of 63 bits, which compiled kernels take as a signed number."""
    return seed_of(key) >> 1
