"""SCIR with remembered assignments: exact at any step and minibatch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.models.lda.test_samplers import BETA, TINY, exact_law, problem, run, small_corpus

from orthodrome import LDA
from orthodrome.errors import BadInput
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda.remembered import RememberedAllocation
from orthodrome.random.keys import new_key
from orthodrome.schedules import Polynomial

STEP = Polynomial(0.7, 1.0, 0.0)
PAIRS = list(itertools.combinations(range(6), 2))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def exact_square() -> float:
    """The posterior mean of sum_k phi_k0^2, which does not know topics' numbers."""
    found = 0.0
    for z, p in exact_law().items():
        counts = np.zeros((3, 2))
        np.add.at(counts, (TINY.words, np.array(z)), 1)
        shapes, total = counts[0] + BETA, counts.sum(axis=0) + 3 * BETA
        found += p * float((shapes * (shapes + 1) / (total * (total + 1))).sum())
    return found


def away(values: np.ndarray, mean: float) -> float:
    """Return by how many standard errors, of blocks of 100, the values miss a mean."""
    blocks = values[: values.size // 100 * 100].reshape(-1, 100).mean(axis=1)
    return float(abs(blocks.mean() - mean) / (blocks.std() / np.sqrt(blocks.size)))


def moved(sampler: Any, steps: int, burn: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return sum_k phi_k0^2 and which pairs of tokens share a topic, after each transition."""
    state, rng = sampler.init(None, new_key(np.uint32(0))), np.random.default_rng(5)
    squares, together = np.zeros(steps), np.zeros((steps, len(PAIRS)))
    for i in range(burn + steps):
        state, _ = sampler.move(int(rng.integers(2**62)), state, 0.0)
        state = state._replace(taken=i + 1)
        if i >= burn:
            squares[i - burn] = (state.topics[0].astype(float) ** 2).sum()
            together[i - burn] = [state.assignments[a] == state.assignments[b] for a, b in PAIRS]
    return squares, together


@pytest.mark.parametrize("biased", [False, True])
def test_one_document_at_a_time_draws_from_the_enumerated_posterior(biased: bool) -> None:
    """E[phi^2] and all pairs of tokens at a large step; the control, a beta off by 0.15, fails."""
    sampler = RememberedAllocation(problem(topic_word_prior=BETA + 0.15 * biased), 1, 1, STEP)
    squares, together = moved(sampler, 10_000)
    law = exact_law().items()
    wanted = [sum(p for z, p in law if z[a] == z[b]) for a, b in PAIRS]
    missed = [away(squares, exact_square()), *(away(t, m) for t, m in zip(together.T, wanted, strict=True))]
    assert (max(missed) < 4) != biased, missed


def test_every_document_has_its_turn_and_counts_are_those_of_the_assignments() -> None:
    documents = small_corpus()
    sampler = RememberedAllocation(problem(documents, learns=True, num_warmup=20), 7, 2, STEP)
    turns = [sampler.rows(t) for t in range(18)]
    for around in (turns[:9], turns[9:]):
        np.testing.assert_array_equal(np.sort(np.concatenate(around)), np.arange(60))
    assert not np.array_equal(turns[0], turns[9])
    for i, state in enumerate(run(sampler, 30)):
        counts = np.zeros_like(state.counts)
        has = state.assignments >= 0
        np.add.at(counts, (documents.words[has], state.assignments[has]), 1)
        np.testing.assert_array_equal(state.counts, counts)
        assert has.all() == (i >= 8)
        assert abs(state.topics.sum(axis=0) - 1).max() < 1e-5
    assert not np.array_equal(state.prior, sampler.given.doc_topic_prior)


def test_the_number_of_threads_makes_no_difference() -> None:
    found = []
    for threads in (1, 2):
        with computing(threads):
            *_, last = run(RememberedAllocation(problem(small_corpus()), 20, 2, STEP), 8)
        found.append(last)
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def table() -> Any:
    return np.random.default_rng(0).poisson(0.5, (30, 12))


def test_fit_remembers_and_streams_do_not(tmp_path: Any) -> None:
    short = {"method": "scir", "num_warmup": 5, "num_draws": 4, "random_state": 0, "n_jobs": 1}
    assert LDA(3, **short).fit(table()).settings_.remembers
    assert not LDA(3, replace=True, **short).fit(table()).settings_.remembers
    assert not LDA(3, remember=False, **short).fit(table()).settings_.remembers
    assert not LDA(3, **short).partial_fit(table()).settings_.remembers
    with pytest.raises(BadInput, match="remember"):
        LDA(3, remember="yes", **short).fit(table())


def test_a_stream_cannot_be_remembered() -> None:
    sampler = RememberedAllocation(problem(), 1, 1, STEP)
    with pytest.raises(BadInput, match="all documents"):
        sampler.with_documents(TINY, 3, None)  # type: ignore[arg-type]
