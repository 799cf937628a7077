"""The learnt, asymmetric prior of the documents' proportions, theta_d ~ Dirichlet(alpha_1, ..., alpha_K).

Given the assignments the likelihood of alpha is that of a Dirichlet-multinomial, which Minka's fixed point (2000)
climbs:

    alpha_k <- alpha_k  sum_d [psi(n_dk + alpha_k) - psi(alpha_k)] / sum_d [psi(n_d + A) - psi(A)],   A = sum_k alpha_k.

As psi(n + a) - psi(a) = sum_{i < n} 1 / (a + i), all that is needed of the corpus is for how many documents n_dk > i:
an iteration costs K times the largest count, however many documents there are.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from orthodrome.kernels.generator import OPTIONS

ITERATIONS = 10
"""Of the fixed point in one update; it is called again and again."""
LEARN_EVERY = 3
"""Sweeps between two updates of alpha."""
LEAST = 1e-4
"""No alpha_k becomes smaller: a topic without tokens stays within reach."""


@njit(**OPTIONS)
def _fill(assignments, starts, own, all_of):  # type: ignore[no-untyped-def]
    """Count documents by n_dk (rows of `own`) and by n_d (`all_of`)."""
    numbers = np.zeros(own.shape[0], np.int64)
    for d in range(starts.shape[0] - 1):
        all_of[starts[d + 1] - starts[d]] += 1
        for i in range(starts[d], starts[d + 1]):
            numbers[assignments[i]] += 1
        for i in range(starts[d], starts[d + 1]):
            k = assignments[i]
            if numbers[k] > 0:
                own[k, numbers[k]] += 1
                numbers[k] = 0


class Everyone(Protocol):
    """The processes that have the documents; one that has them all is alone."""

    def total(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of whole numbers over the processes."""
        ...

    def largest(self, number: int) -> int:
        """Return the largest of the processes' numbers."""
        ...


def tails(
    assignments: NDArray[np.int32], starts: NDArray[np.int64], num_topics: int, everyone: Everyone
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for i = 0, 1, ..., the number of documents with n_dk > i (a row for each topic) and with n_d > i."""
    longest = everyone.largest(int(np.diff(starts).max(initial=0)))
    own, all_of = np.zeros((num_topics, longest + 1), np.int64), np.zeros(longest + 1, np.int64)
    _fill(assignments, starts, own, all_of)
    above = lambda counts: np.cumsum(counts[..., :0:-1], axis=-1)[..., ::-1]
    return everyone.total(above(own)), everyone.total(above(all_of))


def learnt_prior(
    prior: NDArray[np.float32],
    assignments: NDArray[np.int32],
    starts: NDArray[np.int64],
    everyone: Everyone,
    iterations: int = ITERATIONS,
) -> NDArray[np.float32]:
    """Return alpha after some iterations of Minka's fixed point."""
    own, all_of = tails(assignments, starts, prior.shape[0], everyone)
    largest = int(np.count_nonzero(own.any(axis=0)))
    own, i, alpha = own[:, :largest], np.arange(all_of.shape[0]), prior.astype(np.float64)
    if largest == 0:
        return prior
    for _ in range(iterations):
        gained = np.sum(own / (alpha[:, None] + i[:largest]), axis=1)
        alpha = np.maximum(alpha * gained / np.sum(all_of / (alpha.sum() + i)), LEAST)
    return alpha.astype(np.float32)
