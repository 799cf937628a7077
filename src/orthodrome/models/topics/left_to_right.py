"""Left-to-right evaluation: the probability of whole documents given the topics, by particles.

Unlike document completion it holds no words back; it is dearer, quadratic in the length of a document. The estimate
approaches the probability as the number of particles grows. The order of a document's words does not matter to the
probability, so counts suffice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.kernels.assignments import tokens

PARTICLES = 20


def left_to_right(
    counts: Any, topics: Reals, prior: Any, *, particles: int = PARTICLES, seed: int = 0
) -> NDArray[np.float64]:
    """Return log p(document | topics, prior) of every document.

    counts : documents x words; topics : phi, (K, V); prior : alpha, a number or one for each topic
    particles : R; seed : fixes the result, on any number of threads
    """
    from orthodrome.kernels.tokens.left_to_right import log_probabilities

    if particles < 1:
        raise BadInput(f"particles is {particles}; it must be at least 1")
    table = scipy.sparse.csr_matrix(counts).astype(np.int64)
    if table.shape[1] != topics.shape[1]:
        raise BadInput(f"the documents have {table.shape[1]} columns, the topics {topics.shape[1]} words")
    words, starts = tokens(table)
    phi = np.ascontiguousarray(np.asarray(topics, np.float64).T)
    alpha = np.array(np.broadcast_to(np.asarray(prior, np.float64), topics.shape[:1]))
    found: NDArray[np.float64] = log_probabilities(seed, starts, words, phi, alpha, particles)
    return found
