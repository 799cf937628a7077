"""From weights to topics: columns of positive numbers, or of their logarithms, divided by their sums, in place."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

FORGETTING = 80.0
"""After this time a CIR process is, to rounding, a fresh draw of its stationary law Gamma(beta + n, 1)."""


def mean_topics(counts: NDArray[np.int32], prior: float, topics: Matrix) -> None:
    """Write the mean of phi | counts, (n + beta) / (n. + V beta), into `topics`, all (V, K)."""
    np.add(counts, np.float32(prior), out=topics, casting="same_kind", dtype=np.float32)
    topics /= topics.sum(axis=0, dtype=np.float64).astype(np.float32)


class WeightDrawer(Protocol):
    """Who draws transitions of weights: one process all of them, or several each its part."""

    def drawn_weights(self, seed: int, log_weights: Matrix, prior: float, counts: NDArray[Any], time: float) -> Matrix:
        """Return the exact transition of the log weights."""
        ...


def draw_topics(seed: int, counts: NDArray[np.int32], prior: float, topics: Matrix, drawer: WeightDrawer) -> None:
    """Write a draw of phi | counts ~ Dirichlet(beta + n): Gamma numbers by logarithms, so that none underflows."""
    log_theta = np.zeros(topics.shape, np.float32)
    normalised_exp(drawer.drawn_weights(seed, log_theta, prior, counts, FORGETTING), topics)


def normalised(weights: Matrix, topics: Matrix) -> None:
    """Write the weights, divided by the sums of their columns, into `topics`."""
    np.divide(weights, weights.sum(axis=0, dtype=np.float64).astype(np.float32), out=topics)


def normalised_exp(log_weights: Matrix, topics: Matrix) -> None:
    """Write exp(log weights), divided by the sums of their columns, into `topics`; no logarithm is too small.

    No probability becomes zero: those below the smallest normal float32 number are raised to it, as in draws of `SCIR`.
    """
    np.subtract(log_weights, log_weights.max(axis=0), out=topics)
    np.exp(topics, out=topics)
    topics /= topics.sum(axis=0, dtype=np.float64).astype(np.float32)
    np.maximum(topics, np.finfo(np.float32).tiny, out=topics)
