"""Topic assignments: the conditional against the dense one, staying in the exact law, threads, sums, odd corpora."""

from __future__ import annotations

import itertools

import numba
import numpy as np
import pytest
import scipy.sparse
from scipy import stats

from orthodrome.errors import BadInput
from orthodrome.kernels.assignments import Tokens, assign_topics, sweep_order, tokens
from orthodrome.kernels.tokens.dense import sweep_block
from support.quick import slow

LEAST = 1e-3


def topics_and_prior(num_words: int, num_topics: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(num_words, 0.5), num_topics).T
    return np.ascontiguousarray(topics, np.float32), rng.gamma(1.0, 0.5, num_topics).astype(np.float32) + 0.01


def fits(found: np.ndarray, probabilities: np.ndarray) -> float:
    """The p-value of a chi-square test; classes with fewer than five expected are joined."""
    expected = found.sum() * probabilities / probabilities.sum()
    few = expected < 5
    join = lambda x: np.append(x[~few], x[few].sum()) if few.any() else x
    observed, wanted = join(found), join(expected)
    keep = wanted > 1
    return float(stats.chisquare(observed[keep], wanted[keep] * observed[keep].sum() / wanted[keep].sum()).pvalue)


@pytest.mark.parametrize(("num_topics", "others"), [slow(3, 5), (16, 5), slow(37, 5), slow(112, 40), slow(150, 17)])
def test_a_draw_has_the_dense_conditional(num_topics: int, others: int) -> None:
    """The last token, in many copies of a document whose other tokens are set back by construction.

    The copies hold tokens of words that only one topic each can explain, so only the last token moves. With 17 or more
    of them the document's topics fill more than one row of sixteen. From 129 topics on it is the other loop that draws.
    """
    size, fixed = others + 1, np.arange(others) % num_topics
    copies = 360_000 // size
    topics, prior = topics_and_prior(size, num_topics)
    topics[:others] = 1e-30
    topics[np.arange(others), fixed] = 1.0
    documents = Tokens(np.tile(np.arange(size, dtype=np.int32), copies), size * np.arange(copies + 1))
    begun = np.tile(np.append(fixed, num_topics - 1).astype(np.int32), copies)
    found = assign_topics(3, documents, topics, prior, assignments=begun)
    left = found.assignments.reshape(copies, size)[:, :others]
    assert np.array_equal(left, np.broadcast_to(fixed, left.shape))
    observed = np.bincount(found.assignments[others::size], minlength=num_topics)
    weights = (prior + np.bincount(fixed, minlength=num_topics)) * topics[others]
    assert fits(observed, weights.astype(np.float64)) > LEAST
    uncounted = (prior + np.bincount(np.append(fixed, num_topics - 1), minlength=num_topics)) * topics[others]
    assert fits(observed, uncounted.astype(np.float64)) < LEAST  # the control: the token counts itself


@pytest.mark.parametrize("padding", [0, slow(130)])
def test_sweeps_stay_in_the_exact_law(padding: int) -> None:
    """Four tokens, three topics: from exact draws of z, two sweeps, all 81 outcomes; and a control from elsewhere.

    padding: further topics that explain no word, with which the loop for many topics draws.
    """
    num_topics, words, copies = 3, np.array([0, 1, 1, 2], np.int32), 80_000
    topics, prior = topics_and_prior(3, num_topics, seed=4)
    padded = np.pad(topics, ((0, 0), (0, padding))), np.pad(prior, (0, padding), constant_values=1e-20)
    grid = np.stack(np.meshgrid(*[np.arange(num_topics)] * 4, indexing="ij"), -1).reshape(-1, 4)
    law = np.array([joint(z, words, topics, prior) for z in grid])
    law /= law.sum()
    starts = np.random.default_rng(1).choice(81, copies, p=law)
    documents = Tokens(np.tile(words, copies), 4 * np.arange(copies + 1))
    begun = grid[starts].astype(np.int32).ravel()
    after = assign_topics(5, documents, *padded, assignments=begun.copy(), sweeps=2).assignments
    assert fits(outcomes(after), law) > LEAST
    tilted = np.where(np.arange(copies * 4) % 4 == 3, 0, begun).astype(np.int32)
    assert fits(outcomes(assign_topics(5, documents, *padded, assignments=tilted).assignments), law) < LEAST


def joint(z: np.ndarray, words: np.ndarray, topics: np.ndarray, prior: np.ndarray) -> float:
    """p(z | phi, words) up to a constant: the Polya urn times the probabilities of the words."""
    numbers, value = prior.astype(np.float64), 1.0
    for k, w in zip(z, words, strict=True):
        value *= numbers[k] * topics[w, k]
        numbers[k] += 1
    return value


def outcomes(z: np.ndarray) -> np.ndarray:
    return np.bincount(z.reshape(-1, 4) @ np.array([27, 9, 3, 1]), minlength=81)


def corpus(seed: int = 0) -> scipy.sparse.csr_matrix:
    """Three hundred documents, every tenth of them empty."""
    found = scipy.sparse.random(300, 50, 0.2, random_state=seed, format="lil")
    found[::10] = 0
    return scipy.sparse.csr_matrix(found.tocsr().ceil() * 2).astype(np.int64)


def test_tokens_that_may_not_be_written_to_compile_nothing_more() -> None:
    """A corpus on disk is mapped into memory to be read only."""
    documents, (topics, prior) = tokens(corpus()), topics_and_prior(50, 20)
    found = assign_topics(7, documents, topics, prior)
    compiled = len(sweep_block.signatures)
    documents.words.flags.writeable = False
    np.testing.assert_array_equal(found.assignments, assign_topics(7, documents, topics, prior).assignments)
    assert len(sweep_block.signatures) == compiled


@pytest.mark.parametrize("num_topics", [20, 140])
def test_neither_threads_nor_companions_matter(num_topics: int) -> None:
    documents, (topics, prior) = tokens(corpus()), topics_and_prior(50, num_topics)
    before, found = numba.get_num_threads(), []
    for threads in (1, before):
        numba.set_num_threads(threads)
        found.append(assign_topics(7, documents, topics, prior, sweeps=3, burn=1, mixes=True))
    numba.set_num_threads(before)
    for ours, theirs in zip(*found, strict=True):
        assert np.array_equal(ours, theirs)
    half = tokens(corpus()[150:])
    alone = assign_topics(7, half, topics, prior, sweeps=3, burn=1, names=np.arange(150, 300))
    assert np.array_equal(alone.assignments, found[0].assignments[documents.starts[150] :])


@pytest.mark.parametrize("num_topics", [20, 140])
def test_a_kept_order_makes_no_difference(num_topics: int) -> None:
    """Words that a document has many times take turns; the order is found for two threads and used by one."""
    matrix = corpus(3)
    matrix.data[::3] = 9
    documents, (topics, prior) = tokens(matrix), topics_and_prior(50, num_topics)
    order = sweep_order(documents, 50, num_topics)
    assert (order is None) == (num_topics > 128)
    if order is not None:
        for begin, end in itertools.pairwise(documents.starts[order.runs]):
            assert np.array_equal(np.sort(order.places[begin:end]), np.arange(end - begin))
            in_order = np.empty(end - begin, np.int32)
            in_order[order.places[begin:end]] = documents.words[begin:end]
            assert np.all(np.diff(in_order) >= 0)
    before = numba.get_num_threads()
    anew = assign_topics(4, documents, topics, prior, sweeps=3, burn=1, mixes=True)
    numba.set_num_threads(1)
    kept = assign_topics(4, documents, topics, prior, sweeps=3, burn=1, mixes=True, order=order)
    numba.set_num_threads(before)
    for ours, theirs in zip(anew, kept, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("num_topics", [20, 140])
def test_counts_add_up(num_topics: int) -> None:
    matrix = corpus(2)
    documents, (topics, prior) = tokens(matrix), topics_and_prior(50, num_topics)
    found = assign_topics(1, documents, topics, prior, sweeps=5, burn=2, mixes=True)
    assert found.kept == 3 and found.mixes is not None
    by_word = np.zeros(50, np.int64)
    by_word[found.words] = found.counts.sum(axis=1)
    assert np.array_equal(by_word, 3 * np.asarray(matrix.sum(axis=0)).ravel())
    assert np.allclose(found.mixes.sum(axis=1), np.asarray(matrix.sum(axis=1)).ravel(), atol=1e-3)
    assert np.allclose(found.mixes.sum(axis=0), found.counts.sum(axis=0) / 3, atol=1e-2)
    last = assign_topics(1, documents, topics, prior, sweeps=1, assignments=found.assignments.copy(), step=1)
    again = np.zeros_like(last.counts)
    np.add.at(again, (np.searchsorted(last.words, documents.words), last.assignments), 1)
    assert np.array_equal(again, last.counts)


def test_odd_corpora() -> None:
    topics, prior = topics_and_prior(50, 1)
    found = assign_topics(1, tokens(corpus()), topics, prior)
    assert not found.assignments.any()
    nothing = assign_topics(1, Tokens(np.empty(0, np.int32), np.zeros(4, np.int64)), topics, prior, mixes=True)
    assert nothing.counts.shape == (0, 1) and nothing.mixes is not None and nothing.mixes.shape == (3, 1)


@pytest.mark.parametrize("size", [5, 18, 130])
def test_words_without_probability(size: int) -> None:
    """A word that no topic explains takes topics by the document's proportions; nothing is drawn outside the topics."""
    topics, prior = np.zeros((4, size), np.float32), np.full(size, 0.1, np.float32)
    documents = Tokens(np.tile(np.arange(4, dtype=np.int32), 500), 4 * np.arange(501))
    found = assign_topics(2, documents, topics, prior, sweeps=2)
    assert found.assignments.min() >= 0 and found.assignments.max() < size
    assert np.unique(found.assignments).size == size


def test_what_does_not_fit_is_refused() -> None:
    documents, (topics, prior) = tokens(corpus()), topics_and_prior(50, 20)
    with pytest.raises(BadInput, match="prior must be 20 positive numbers"):
        assign_topics(1, documents, topics, prior[1:])
    with pytest.raises(BadInput, match="burn must be"):
        assign_topics(1, documents, topics, prior, sweeps=2, burn=2)
    with pytest.raises(BadInput, match="only 20 rows"):
        assign_topics(1, documents, np.ascontiguousarray(topics.T), prior[:1].repeat(50))
    with pytest.raises(BadInput, match="order is of"):
        assign_topics(1, documents, topics, prior, order=sweep_order(tokens(corpus()[:99]), 50, 20))
    with pytest.raises(BadInput, match="int32"):
        assign_topics(1, documents, topics, prior, assignments=np.zeros(documents.words.size))
