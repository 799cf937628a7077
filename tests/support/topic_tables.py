"""Topics made by chance, of any size: for tests of what shows topics."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from orthodrome.report.pictures.topics import TopicTables
from support.small_draws import HOSTILE


def tables(num_topics: int, num_words: int, num_documents: int, absence: bool = True) -> TopicTables:
    """Topics with a hundredth of the words each, hostile words among them."""
    rng = np.random.default_rng(0)
    mean = rng.normal(0.0, 0.01, (num_topics, num_words)) + 0.3 * (rng.random((num_topics, num_words)) < 0.01)
    shares = rng.dirichlet(np.full(num_topics, 0.1), num_documents)
    words = [*HOSTILE, *(f"word{k}" for k in range(num_words))][:num_words]
    rows = scipy.sparse.random_array((num_documents, num_words), density=0.01, format="csr", rng=rng)
    corpus, names = np.abs(mean).mean(axis=0), [f"folder/of/documents/document-{k}.txt" for k in range(num_documents)]
    return TopicTables(mean, abs(mean) / 9, corpus, shares, shares / 9, words, names, rows, "coordinate", absence)
