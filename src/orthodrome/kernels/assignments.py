"""Topic assignments given the topics: exact Gibbs sweeps over documents, the same on any number of threads.

The sweeps are in `kernels.tokens.dense`, for few topics, and `kernels.tokens.sweeps`, for many; here are the documents,
the check of what comes in, and the layout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orthodrome.errors import BadInput
from orthodrome.kernels.elements import height
from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.reading import only_read
from orthodrome.kernels.threads.blocks import over_blocks
from orthodrome.kernels.threads.starting import number_of_threads
from orthodrome.kernels.tokens.order import Order, token_order

LEAST_PROBABILITY = 1e-30
"""The floor of word probabilities: products of smaller ones would be slow subnormal numbers, then zero, in float32."""

_BLOCKS_PER_THREAD, _LEAST_BLOCK, _LARGEST_BLOCK, _TOKENS_OF_A_WORD = 8, 4_000, 256_000, 12
"""Blocks of tokens: enough of them for all threads, and as large as that allows, since a block reads a word's row once;
with few topics so large that a word has a dozen tokens, which outweighs that the counts of more documents are less
near. They make no difference to the draws."""

_FEW_TOPICS = 128
"""Up to so many topics all of them are weighed for every token; beyond, those of the document and the prior's."""

_HEIGHTS = (2, 4, 7, 8)
"""The numbers of rows of sixteen for which the loop for few topics is compiled, each when it is first needed."""

_MOST_ORDERED = 100_000_000
"""Up to so many tokens their order is kept between sweeps: 0.4 GB."""

_MANY = 20
"""Tokens per word of the vocabulary from which on all words count as occurring."""


class Tokens(NamedTuple):
    """Documents as tokens: the words of document d are words[starts[d] : starts[d + 1]]."""

    words: np.ndarray
    starts: np.ndarray


class Assigned(NamedTuple):
    """The result of the sweeps.

    assignments: the topic of every token after the last sweep
    words: the distinct words of the documents, ascending; of many documents all words
    counts: how often each of them (rows) had each topic (columns), summed over the kept sweeps
    mixes: the documents' mean topic counts over the kept sweeps, or None
    kept: the number of kept sweeps
    """

    assignments: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    mixes: np.ndarray | None
    kept: int


def tokens(counts: Any) -> Tokens:
    """Return the tokens of a CSR matrix of whole counts, documents x words."""
    lengths = np.asarray(counts.sum(axis=1, dtype=np.int64)).ravel()
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return Tokens(np.repeat(counts.indices, counts.data).astype(np.int32), starts)


def assign_topics(
    seed: int,
    documents: Tokens,
    topics: np.ndarray,
    prior: np.ndarray,
    *,
    assignments: np.ndarray | None = None,
    sweeps: int = 1,
    burn: int = 0,
    step: int = 0,
    names: np.ndarray | None = None,
    mixes: bool = False,
    order: Order | None = None,
) -> Assigned:
    """Sweep the topic assignments of documents, given the topics.

    Parameters
    ----------
    seed, step : with a document's name they fix its random stream.
    documents : the tokens.
    topics : phi, words x topics (note the order), float32; columns sum to 1.
    prior : alpha, one concentration for each topic; they may differ.
    assignments : where to begin, one topic for each token (it is changed in place); None draws each token in turn given
        those before it, and -1 marks single tokens without a topic.
    sweeps, burn : how many sweeps, and how many of them are not kept.
    names : numbers that name the documents, so that a document draws the same in any batch; default their positions.
    mixes : whether to return the documents' mean topic counts.
    order : what `sweep_order` returned for these documents; it makes no difference to the result.
    """
    from orthodrome.kernels.tokens.dense import sweep_block
    from orthodrome.kernels.tokens.layout import padded_rows, summed
    from orthodrome.kernels.tokens.sweeps import sweep_lists

    _check(documents, topics, prior, assignments, sweeps, burn)
    if order is not None and (
        order.places.shape != documents.words.shape or order.runs[-1] != len(documents.starts) - 1
    ):
        raise BadInput(f"order is of {order.places.shape[0]} tokens, but there are {documents.words.shape[0]}")
    size, (words, starts) = documents.starts.shape[0] - 1, documents
    z = np.full(words.shape[0], -1, np.int32) if assignments is None else assignments
    used, local = _at_hand(words, topics.shape[0])
    names = np.arange(size) if names is None else names
    counts = np.zeros((number_of_threads(), used.shape[0], topics.shape[1]), np.int32)
    mixed = np.zeros((size, topics.shape[1] if mixes else 0), np.float32)
    few, tall = topics.shape[1] <= _FEW_TOPICS, _rows(topics.shape[1])
    rows = padded_rows(topics, used, np.float32(LEAST_PROBABILITY), tall)
    alpha, given = _prior_rows(np.asarray(prior), tall), only_read(local)
    common = (starts, names, given, z, rows, alpha, sweeps, burn, counts, mixed)
    if few:
        order = order or Order(_halves(starts, used.shape[0]), np.empty(0, np.int32))
        over_blocks(sweep_block, order.runs.shape[0] // 2, seed, step, order, *common, height(tall))
    else:
        blocks = _blocks(starts, _LARGEST_BLOCK)
        over_blocks(sweep_lists, blocks.shape[0] - 1, seed, step, blocks, *common)
    kept = sweeps - burn
    return Assigned(z, used, summed(counts), mixed / np.float32(kept) if mixes else None, kept)


def sweep_order(documents: Tokens, num_words: int, num_topics: int) -> Order | None:
    """Return the order in which `assign_topics` visits the tokens, so that it need not be found for every sweep.

    It takes 4 bytes for a token, and is None where it does not pay: for many topics or very many tokens.
    """
    words, starts = documents
    if num_topics > _FEW_TOPICS or words.shape[0] > _MOST_ORDERED:
        return None
    return token_order(only_read(words), starts, _halves(starts, num_words), num_words)


def _rows(num_topics: int) -> int:
    """Return how many rows of sixteen the topics fill: of few, one of `_HEIGHTS`; of many, with a zero behind."""
    if num_topics > _FEW_TOPICS:
        return num_topics // LANES + 1
    return next(tall for tall in _HEIGHTS if num_topics <= tall * LANES)


def _prior_rows(prior: np.ndarray, tall: int) -> np.ndarray:
    """Return the prior as rows of sixteen, with zeros behind it."""
    rows = np.zeros((tall, LANES), np.float32)
    rows.reshape(-1)[: prior.shape[0]] = prior
    return rows


def _blocks(starts: np.ndarray, largest: int) -> np.ndarray:
    """Return where blocks of documents with about equally many tokens, at most `largest` or so, begin."""
    size = starts[-1] // (_BLOCKS_PER_THREAD * number_of_threads())
    cuts = np.arange(0, starts[-1], min(max(size, _LEAST_BLOCK), largest))
    return np.unique(np.concatenate([[0], np.searchsorted(starts[:-1], cuts), [starts.shape[0] - 1]]))


def _halves(starts: np.ndarray, num_words: int) -> np.ndarray:
    """Return where the halves of blocks of documents begin, for few topics."""
    blocks = _blocks(starts, max(_LEAST_BLOCK, _TOKENS_OF_A_WORD * num_words))
    middles = np.searchsorted(starts[:-1], (starts[blocks[:-1]] + starts[blocks[1:]]) // 2)
    return np.append(np.stack([blocks[:-1], np.clip(middles, blocks[:-1], blocks[1:])], 1).ravel(), blocks[-1])


def _at_hand(words: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct words, ascending, and the position of every token's word among them.

    Of many tokens all words are returned: most of them occur, and looking would take as long as a part of the sweep.
    """
    if words.shape[0] >= _MANY * size:
        return np.arange(size), words
    seen = np.zeros(size, bool)
    seen[words] = True
    return np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - 1)[words]


def _check(documents: Tokens, topics: np.ndarray, prior: np.ndarray, z: Any, sweeps: int, burn: int) -> None:
    """Raise BadInput if the arguments do not fit together."""
    if np.shape(prior) != (topics.shape[1],) or not np.all(np.asarray(prior) > 0):
        raise BadInput(f"prior must be {topics.shape[1]} positive numbers, one for each topic; it is {prior!r}")
    if not 0 <= burn < sweeps:
        raise BadInput(f"burn must be at least 0 and less than sweeps = {sweeps}, but is {burn}")
    largest = documents.words.max(initial=-1)
    if largest >= topics.shape[0]:
        raise BadInput(f"the largest word is {largest}, but topics has only {topics.shape[0]} rows (words x topics)")
    if z is not None and (z.shape != documents.words.shape or z.dtype != np.int32):
        raise BadInput(f"assignments must be int32 of shape {documents.words.shape}, but is {z.dtype} {z.shape}")
