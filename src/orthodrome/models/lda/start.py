"""Where chains begin: topics around a few documents each, which leave the symmetric start far sooner than noise."""

from __future__ import annotations

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.models.lda.documents import TokenDocuments

SEEDS, LOOKED_AT = 3, 20_000
"""Documents that make a topic, and the first documents of the corpus among which they are chosen."""


def seeded_topics(documents: TokenDocuments, num_topics: int, seed: int) -> Reals:
    """Return phi, (V, K): half the words of the whole corpus, half those of a few long documents."""
    rng = np.random.default_rng(seed)
    whole = np.bincount(documents.words, minlength=documents.num_words) + 1.0
    whole /= whole.sum()
    sizes = np.diff(documents.starts[: LOOKED_AT + 1])
    rows = np.flatnonzero(sizes >= np.quantile(sizes, 0.5)) if sizes.size else np.zeros(1, np.int64)
    chosen = rng.choice(rows, (num_topics, SEEDS), replace=rows.size < num_topics * SEEDS)
    found = np.empty((documents.num_words, num_topics), np.float32)
    for k in range(num_topics):
        own = np.bincount(documents.chosen(chosen[k]).words, minlength=documents.num_words)
        found[:, k] = 0.5 * whole + 0.5 * own / max(1, own.sum())
    return found / found.sum(axis=0)
