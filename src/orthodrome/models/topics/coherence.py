"""Topic coherence: normalised pointwise mutual information of a topic's top words in reference documents.

    NPMI(i, j) = log[ P(i, j) / (P(i) P(j)) ] / - log P(i, j),

P being the share of documents with the word or with both words (Bouma 2009; Lau, Newman & Baldwin 2014). It is 1 for
words that always come together, 0 for independent ones, -1 for words that never meet.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.types import Reals


def coherence(topics: Reals, documents: Any, count: int = 10) -> NDArray[np.float64]:
    """Return the mean NPMI over all pairs of the `count` most probable words of every topic.

    topics: (K, V); documents: counts, documents x words, of the reference corpus
    """
    present = scipy.sparse.csc_matrix(documents).astype(bool).astype(np.float64)
    top = np.argsort(-np.asarray(topics), axis=1, kind="stable")[:, :count]
    return np.array([_mean_npmi(present[:, words]) for words in top])


def _mean_npmi(present: Any) -> float:
    """Return the mean over pairs of columns of a matrix of zeros and ones."""
    together = np.asarray((present.T @ present).todense()) / present.shape[0]
    alone = np.diag(together)
    pairs = itertools.combinations(range(len(alone)), 2)
    return float(np.mean([_npmi(together[i, j], alone[i], alone[j]) for i, j in pairs]))


def _npmi(both: float, one: float, other: float) -> float:
    if both == 0:
        return -1.0
    return 1.0 if both == 1 else float(np.log(both / (one * other)) / -np.log(both))
