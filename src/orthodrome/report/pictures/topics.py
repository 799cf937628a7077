"""Topics to explore: a map of documents and topics, the words of each topic, and where a word or a document stands.

Topics keep the numbers that they have in the draws and in the files of the fit. A page cannot hold every number of a
large fit: each topic has its top words (and those it has least of), each word its weightiest topics, each document its
largest ones. A hundred topics of eight thousand words take about two megabytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.display import short
from orthodrome.core.types import Reals
from orthodrome.report.packing import packed, packed_codes
from orthodrome.report.pictures.labels import axis_texts, flat_draws
from orthodrome.report.section import Section, TableTwin

TOP, BOTTOM = 40, 20
"""Words of a topic in the page: those it has most and least of."""
PER_WORD, PER_DOCUMENT = 10, 6
"""Topics of a word, and of a document."""
MOST_WORDS = 12_000
"""The largest number of words in the page; of documents it has those on the map (`plots.topics.on_map`)."""
WORDS_OF_DOCUMENT = 10
OF_TOPIC = 20
"""Documents listed with each topic: those with the largest proportions of it."""
TEXT = (
    "Each point is a document, coloured by its largest topic; near documents have similar topics. Choose a topic, or "
    "search for a word or a document. Lines show two standard deviations of the draws either way."
)
WORDS_TEXT = (
    "Choose a topic, or search for a word. Lines show two standard deviations of the draws either way. Documents are "
    "shown in the report of `orthodrome topics fit`."
)


class TopicTables(NamedTuple):
    """The arrays of fitted topics.

    mean, spread: topics x words; corpus: the weights of words in the whole corpus
    proportions, deviations: documents x topics; vocabulary, names: of words and documents
    rows: documents x words, sparse: what each document consists of; without documents their arrays have no rows
    quantity: what a weight is; absence: whether a topic can say that a word is absent
    """

    mean: Reals
    spread: Reals
    corpus: Reals
    proportions: Reals
    deviations: Reals
    vocabulary: Sequence[str]
    names: Sequence[str]
    rows: Any
    quantity: str = "probability"
    absence: bool = False


def topics(found: TopicTables, seed: int = 0) -> Section:
    """Return the explorer of fitted topics; seed: of the map."""
    count = len(found.mean)
    share = found.proportions.mean(axis=0) if len(found.names) else np.full(count, 1 / count)
    kept = kept_words(found)
    data = {
        "quantity": found.quantity,
        "absence": found.absence,
        "share": share,
        "order": np.argsort(-share, kind="stable"),
        "words": [short(found.vocabulary[k]) for k in kept],
        "corpus": packed(found.corpus[kept]),
        **of_topics(found, kept),
        **of_words(found, kept),
        **(of_documents(found, kept, seed) if len(found.names) else {"documents": [], "total": 0}),
    }
    return Section("topics", "Topics", TEXT if len(found.names) else WORDS_TEXT, data, table(found, share))


def fitted_topics(model: Any) -> list[Section]:
    """Return the explorer of a fitted topic model, without documents, which the model does not keep."""
    draws = model.draws_["posterior"].dataset["topics"]
    values = flat_draws(draws).reshape(-1, *draws.shape[-2:])
    mean = np.asarray(model.components_, float)
    spread = np.stack([values[:, k].std(axis=0, dtype=float) for k in range(len(mean))])
    none = np.zeros((0, len(mean)))
    words = axis_texts(draws, str(draws.dims[-1]))
    absence = bool((mean < 0).any())
    quantity = "coordinate" if absence else "probability"
    return [topics(TopicTables(mean, spread, mean.mean(axis=0), none, none, words, (), None, quantity, absence))]


def kept_words(found: TopicTables) -> np.ndarray:
    """Return the words in the page: all, or those of the topics and the most frequent ones."""
    if found.mean.shape[1] <= MOST_WORDS:
        return np.arange(found.mean.shape[1])
    listed = np.unique(np.concatenate([top(found, TOP).ravel(), bottom(found, BOTTOM).ravel()]))
    frequent = np.setdiff1d(np.argsort(-found.corpus, kind="stable"), listed, assume_unique=True)
    order = frequent[np.argsort(-found.corpus[frequent], kind="stable")]
    return np.sort(np.concatenate([listed, order[: max(0, MOST_WORDS - len(listed))]]))


def top(found: TopicTables, count: int) -> np.ndarray:
    """Return the words that each topic has most of."""
    return np.argsort(-found.mean, axis=1, kind="stable")[:, :count]


def bottom(found: TopicTables, count: int) -> np.ndarray:
    """Return the words that each topic has least of relative to the corpus; none if topics cannot say so."""
    if not found.absence:
        return np.zeros((len(found.mean), 0), int)
    return np.argsort(found.mean - found.corpus, axis=1, kind="stable")[:, :count]


def of_topics(found: TopicTables, kept: np.ndarray) -> dict[str, Any]:
    """Return the words of each topic with their weights and standard deviations."""
    sides = {"top": top(found, TOP), "bottom": bottom(found, BOTTOM)}
    data = {}
    for side, words in sides.items():
        weights = (np.take_along_axis(values, words, axis=1) for values in (found.mean, found.spread))
        data[side] = dict(zip(("mean", "sd"), map(packed, weights), strict=True))
        data[side]["words"] = packed_codes(np.searchsorted(kept, words))
    return data


def of_words(found: TopicTables, kept: np.ndarray) -> dict[str, Any]:
    """Return the weightiest topics of each word."""
    mean, spread = found.mean[:, kept].T, found.spread[:, kept].T
    chosen = np.argsort(-np.abs(mean), axis=1, kind="stable")[:, :PER_WORD]
    weights = (np.take_along_axis(values, chosen, axis=1) for values in (mean, spread))
    packs = dict(
        zip(("mean", "sd"), (packed(one, bits) for one, bits in zip(weights, (16, 8), strict=True)), strict=True)
    )
    return {"wordTopics": {"topics": packed_codes(chosen), **packs}}


def of_documents(found: TopicTables, kept: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the documents of the page: their places, topics and words, and those of each topic."""
    from orthodrome.plots.topics import on_map, positions

    chosen = on_map(found.proportions, seed)
    shares, deviations = found.proportions[chosen], found.deviations[chosen]
    largest = np.argsort(-shares, axis=1, kind="stable")[:, :PER_DOCUMENT]
    listed = np.argsort(-shares, axis=0, kind="stable")[:OF_TOPIC].T
    return {
        "documents": [short(found.names[k]) for k in chosen],
        "total": len(found.names),
        "places": packed(positions(shares, seed)),
        "docTopics": {
            "topics": packed_codes(largest),
            "mean": packed(np.take_along_axis(shares, largest, axis=1)),
            "sd": packed(np.take_along_axis(deviations, largest, axis=1), 8),
        },
        "docWords": packed_codes(document_words(found.rows[chosen], kept)),
        "ofTopic": packed_codes(listed),
        "ofTopicShare": packed(np.take_along_axis(shares.T, listed, axis=1)),
    }


def document_words(rows: Any, kept: np.ndarray) -> np.ndarray:
    """Return the weightiest words of each document, by their places in `kept` plus 1; 0 where there are fewer."""
    found = np.zeros((rows.shape[0], WORDS_OF_DOCUMENT), int)
    place = np.full(rows.shape[1], -1)
    place[kept] = np.arange(len(kept))
    for k in range(rows.shape[0]):
        begin, end = rows.indptr[k], rows.indptr[k + 1]
        order = np.argsort(-rows.data[begin:end], kind="stable")
        words = place[rows.indices[begin:end][order]]
        words = words[words >= 0][:WORDS_OF_DOCUMENT]
        found[k, : len(words)] = words + 1
    return found


def table(found: TopicTables, share: Reals) -> TableTwin:
    """Return the topics, the largest first, with their words."""
    tops, bottoms = top(found, 10), bottom(found, 6)
    text = lambda words: ", ".join(short(found.vocabulary[k]) for k in words)
    head = ("topic", "share of the documents", "top words", *(("words it lacks",) if found.absence else ()))
    rows = [
        [int(k), share[k], text(tops[k]), *([text(bottoms[k])] if found.absence else [])]
        for k in np.argsort(-share, kind="stable")
    ]
    return TableTwin("Topics, the largest first", head, rows)
