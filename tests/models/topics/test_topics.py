"""What topic models share: document completion, coherence, matching."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse

from orthodrome.errors import BadInput
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.topics.coherence import coherence
from orthodrome.models.topics.completion import (
    RunningCompletion,
    completion_task,
    perplexity_of,
    predictions,
    split_documents,
)
from orthodrome.models.topics.left_to_right import left_to_right
from orthodrome.models.topics.matching import match_topics, matched_cosines


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def test_every_tenth_token_is_held_back() -> None:
    counts = scipy.sparse.csr_matrix(np.random.default_rng(0).poisson(2.0, (30, 15)))
    seen, held = split_documents(counts, seed=1)
    assert ((seen + held) != counts).nnz == 0
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    np.testing.assert_array_equal(np.asarray(held.sum(axis=1)).ravel(), -(-sizes // 10))


def test_predictions_with_one_certain_topic_are_that_topic() -> None:
    """Two topics without common words: a document of the first predicts by its Dirichlet posterior mean."""
    topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75]])
    task = completion_task([[3, 3, 0, 0], [0, 0, 1, 1]], [[1, 0, 1, 0], [0, 0, 0, 2]])
    p = predictions(task, topics, np.array([0.5, 0.5]))
    np.testing.assert_allclose(p, [6.5 / 7 * 0.5, 0.5 / 7 * 0.25, 2.5 / 3 * 0.75], rtol=1e-5)
    wanted = np.exp(-(np.log(p[0]) + np.log(p[1]) + 2 * np.log(p[2])) / 4)
    assert perplexity_of(task, p) == pytest.approx(wanted)


def test_the_running_average_is_of_predictions_not_of_perplexities() -> None:
    task = completion_task([[2, 0], [0, 2]], [[1, 0], [0, 1]])
    running = RunningCompletion(task, 1.0)
    topics = [np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.5, 0.5], [0.5, 0.5]])]
    found = [running.evaluate(one) for one in topics]
    p = [predictions(task, one, np.ones(2)) for one in topics]
    assert found[0].averaged == found[0].perplexity
    assert found[1].averaged == pytest.approx(perplexity_of(task, (p[0] + p[1]) / 2))
    assert found[1].perplexity == pytest.approx(2.0)


def test_what_cannot_be_completed_is_refused() -> None:
    with pytest.raises(BadInput, match="shape"):
        completion_task(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(BadInput, match="nothing to predict"):
        completion_task(np.ones((2, 3)), np.zeros((2, 3)))


def test_coherence_of_known_pairs() -> None:
    """Words 0 and 1 always together, 2 and 3 never, in half of the documents each; 4 and 5 independent."""
    rows = [[1, 1, 1, 0, a, b] for a in (0, 1) for b in (0, 1)]
    rows += [[0, 0, 0, 1, a, b] for a in (0, 1) for b in (0, 1)]
    topics = np.array([[3, 3, 1, 1, 1, 1], [1, 1, 3, 3, 1, 1], [1, 1, 1, 1, 3, 3]]) / 10
    np.testing.assert_allclose(coherence(topics, rows, 2), [1.0, -1.0, 0.0], atol=1e-12)


def test_topics_find_their_places_again() -> None:
    rng = np.random.default_rng(0)
    topics, order = rng.dirichlet(np.full(30, 0.1), 6), rng.permutation(6)
    moved = 0.9 * topics[order] + 0.1 / 30
    np.testing.assert_array_equal(order[match_topics(topics, moved)], np.arange(6))
    assert matched_cosines(topics, moved).min() > 0.98
    assert np.abs(matched_cosines(topics, rng.dirichlet(np.full(30, 0.1), 6))).max() < 0.98


def test_left_to_right_agrees_with_enumeration() -> None:
    """Two documents of up to five words, three topics: the sum over all assignments; another prior does not."""
    rng = np.random.default_rng(4)
    topics, alpha = rng.dirichlet(np.full(4, 0.6), 3), np.array([0.3, 0.9, 0.5])
    counts = np.array([[2, 1, 0, 1], [0, 0, 3, 2], [0, 0, 0, 0]])
    exact = [enumerated(np.repeat(np.arange(4), row), topics, alpha) for row in counts]
    found = left_to_right(counts, topics, alpha, particles=4_000, seed=1)
    np.testing.assert_allclose(found, exact, atol=0.02)
    assert np.abs(left_to_right(counts, topics, alpha * 1.4, particles=4_000, seed=1)[:2] - exact[:2]).max() > 0.03
    with pytest.raises(BadInput, match="4 columns, the topics 3 words"):
        left_to_right(counts, topics[:, :3], alpha)


def enumerated(words: np.ndarray, topics: np.ndarray, alpha: np.ndarray) -> float:
    """log of the sum over all assignments of the Polya urn times the probabilities of the words."""
    total = 0.0
    for z in itertools.product(range(len(alpha)), repeat=len(words)):
        numbers, value = alpha.copy(), 1.0
        for k, w in zip(z, words, strict=True):
            value *= numbers[k] / numbers.sum() * topics[k, w]
            numbers[k] += 1
        total += value
    return float(np.log(total))
