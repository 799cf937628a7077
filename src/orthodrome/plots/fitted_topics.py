"""The words of a fitted topic model, `SAM` or `LDA`, with the spread of the draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.errors import BadInput
from orthodrome.plots.topics import words_figure


def plot_topics(model: Any, documents: Any, vocabulary: Sequence[str] | None = None, num_words: int = 8) -> Figure:
    """Return a figure with a panel per topic, the largest first: bars of its top words, and of SAM its bottom words.

    model: fitted; documents: those whose proportions give the topics' shares, rows as in `fit`
    vocabulary: the word of each column; None: that of the fit
    num_words: the number of top words
    """
    topics, labelled = np.asarray(model.components_, float), model.draws_["posterior"]["topics"]
    known = labelled.coords.get(labelled.dims[-1])
    labels = known.values if known is not None and known.dtype.kind in "UO" else None
    words = labels if vocabulary is None else vocabulary
    if words is None or len(words) != topics.shape[1]:
        raise BadInput(f"vocabulary has the {topics.shape[1]} words of the columns; pass it here or to fit")
    drawn = np.asarray(labelled, float).reshape(-1, *topics.shape)
    share = np.asarray(model.transform(documents), float).mean(axis=0)
    corpus = np.asarray(documents.mean(axis=0), float).ravel()
    signed = bool(np.any(topics < 0))
    corpus = corpus / (np.linalg.norm(corpus) if signed else corpus.sum())
    quantity = "coordinate" if signed else "probability"
    bottom, quantity = (4, "coordinate") if signed else (0, "probability")
    names = [str(word) for word in words]
    return words_figure(topics, drawn.std(axis=0), corpus, share, names, num_words, bottom, quantity)
