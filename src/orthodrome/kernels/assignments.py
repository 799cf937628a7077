"""Topic assignments given the topics: exact Gibbs sweeps over documents, the same on any number of threads.

Two kernels draw from the same conditional law: `dense_sweeps` looks at all topics with vector instructions and is
faster for up to some hundreds of them, `sparse_sweeps` looks at the document's topics and an alias table for the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from orthodrome.errors import BadInput
from orthodrome.kernels.lanes import LANES

DENSE_UP_TO = 256
"""The number of topics up to which all of them are examined for each token; a part of the definition of the draws."""

LEAST_PROBABILITY = 1e-30
"""The floor of word probabilities: products of smaller ones would be slow subnormal numbers, then zero, in float32."""

_TOKENS_IN_BLOCK = 4_000


class Tokens(NamedTuple):
    """Documents as tokens: the words of document d are words[starts[d] : starts[d + 1]]."""

    words: np.ndarray
    starts: np.ndarray


class Assigned(NamedTuple):
    """The result of the sweeps.

    assignments: the topic of every token after the last sweep
    words: the distinct words of the documents, ascending
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
    """
    _check(documents, topics, prior, assignments, sweeps, burn)
    size, (words, starts) = documents.starts.shape[0] - 1, documents
    z = np.full(words.shape[0], -1, np.int32) if assignments is None else assignments
    used, local = _at_hand(words, topics.shape[0])
    names = np.arange(size) if names is None else names
    counts = np.zeros((numba.get_num_threads(), used.shape[0], topics.shape[1]), np.int32)
    mixed = np.zeros((size, topics.shape[1] if mixes else 0), np.float32)
    run = _run_dense if topics.shape[1] <= DENSE_UP_TO else _run_sparse
    run(seed, step, starts, names, local, z, topics[used], prior, sweeps, burn, counts, mixed)
    kept = sweeps - burn
    return Assigned(z, used, counts.sum(axis=0, dtype=np.int32), mixed / np.float32(kept) if mixes else None, kept)


def _run_dense(seed, step, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes) -> None:  # type: ignore[no-untyped-def]
    """Pad the topics to rows of sixteen and sweep; documents of similar length are processed side by side."""
    from orthodrome.kernels.dense_sweeps import assign_dense

    size, count = topics.shape
    rows = -(-count // LANES)
    padded, weights = np.zeros((size, rows * LANES), np.float32), np.zeros(rows * LANES, np.float32)
    np.maximum(topics, LEAST_PROBABILITY, out=padded[:, :count])
    weights[:count] = prior
    bounds, lengths = _blocks(starts), np.diff(starts)
    order = np.lexsort((lengths, np.repeat(np.arange(bounds.shape[0] - 1), np.diff(bounds))))
    flat = padded.reshape(size * rows, LANES)
    assign_dense(seed, step, bounds, order, starts, names, words, z, flat, weights, sweeps, burn, counts, mixes)


def _run_sparse(seed, step, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes) -> None:  # type: ignore[no-untyped-def]
    """Build the alias tables of the words that occur, and sweep."""
    from orthodrome.kernels.alias import build_all
    from orthodrome.kernels.sparse_sweeps import assign_sparse

    raised = np.maximum(topics, np.float32(LEAST_PROBABILITY))
    tables, masses = build_all(raised, np.asarray(prior, np.float32))
    bounds = _blocks(starts)
    assign_sparse(seed, step, bounds, starts, names, words, z, raised, tables, masses, sweeps, burn, counts, mixes)


def _blocks(starts: np.ndarray) -> np.ndarray:
    """Return where blocks of documents with about equally many tokens begin."""
    cuts = np.arange(0, starts[-1], _TOKENS_IN_BLOCK)
    return np.unique(np.concatenate([[0], np.searchsorted(starts[:-1], cuts), [starts.shape[0] - 1]]))


def _at_hand(words: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct words, ascending, and the position of every token's word among them."""
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
