"""The samplers of LDA: exact posteriors of tiny corpora, stationary means, the learnt prior, threads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda.collapsed import CollapsedGibbs
from orthodrome.models.lda.defaults import UPDATES
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.gibbs import AllocationGibbs
from orthodrome.models.lda.prior import learnt_prior, tails
from orthodrome.models.lda.sampler import AllocationProblem, AllocationState
from orthodrome.models.lda.stochastic import StochasticAllocation
from orthodrome.models.lda.updates import SCIRUpdate, SGHMCUpdate, SGRHMCUpdate, SGRLDUpdate
from orthodrome.random.keys import new_key
from orthodrome.run.loop import transition_key
from orthodrome.schedules import Polynomial

TINY = TokenDocuments(np.array([0, 0, 1, 2, 2, 1], np.int32), np.array([0, 3, 3, 6]), 3)
"""Three documents, the second of them empty, of three words."""
ALPHA, BETA = np.array([0.5, 0.8], np.float32), 0.4


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def problem(documents: TokenDocuments = TINY, **facts: Any) -> AllocationProblem:
    usual = {"topic_word_prior": BETA, "learns": False, "num_warmup": 0, "total": documents.count}
    return AllocationProblem(documents, ALPHA, **(usual | facts))


def run(sampler: Any, steps: int, seed: int = 0) -> Iterator[AllocationState]:
    key = new_key(np.uint32(seed))
    state = sampler.init(None, key)
    for t in range(steps):
        state, _ = sampler.step(transition_key(key, np.uint32(0), np.uint32(t)), state)
        yield state


def log_joint(z: np.ndarray) -> float:
    """log p(z, w) with topics and proportions integrated out."""
    counts, mixes = np.zeros((3, 2)), np.zeros((3, 2))
    np.add.at(counts, (TINY.words, z), 1)
    np.add.at(mixes, (np.repeat(np.arange(3), np.diff(TINY.starts)), z), 1)
    words = gammaln(counts + BETA).sum() - gammaln(counts.sum(axis=0) + 3 * BETA).sum()
    documents = gammaln(mixes + ALPHA).sum() - gammaln(mixes.sum(axis=1) + ALPHA.sum()).sum()
    return float(words + documents)


def exact_law() -> dict[tuple[int, ...], float]:
    """The posterior of all 64 assignments."""
    places = list(itertools.product(range(2), repeat=6))
    logs = np.array([log_joint(np.array(z)) for z in places])
    p = np.exp(logs - logs.max())
    return dict(zip(places, p / p.sum(), strict=True))


@pytest.mark.parametrize(
    ("exact", "biased"),
    [
        (AllocationGibbs, False),
        (AllocationGibbs, True),
        (CollapsedGibbs, False),
        pytest.param(CollapsedGibbs, True, marks=pytest.mark.slow),
    ],
)
def test_gibbs_draws_from_the_enumerated_posterior(exact: Any, biased: bool) -> None:
    """All 64 assignments and E[phi]; the control, a beta off by 0.15, fails."""
    sampler = exact(problem(topic_word_prior=BETA + 0.15 * biased))
    law, steps, burn = exact_law(), 6_000, 50
    seen: dict[tuple[int, ...], int] = dict.fromkeys(law, 0)
    same = np.zeros(steps)
    first = np.array([sum(p for z, p in law.items() if z[0] == z[1])])
    for i, state in enumerate(run(sampler, steps)):
        seen[tuple(state.assignments.tolist())] += 1
        same[i] = state.assignments[0] == state.assignments[1]
        assert abs(state.topics.sum(axis=0) - 1).max() < 1e-5
    blocks = same[burn : burn + 5_900].reshape(59, 100).mean(axis=1)
    away = abs(blocks.mean() - first[0]) / (blocks.std() / np.sqrt(59))
    shares = np.array([seen[z] / steps for z in law])
    distance = 0.5 * np.abs(shares - np.array(list(law.values()))).sum()
    assert (away < 3.5 and distance < 0.06) != biased, (away, distance)


@pytest.mark.parametrize("name", ["scir", "sgrld", "sgrhmc"])
def test_weights_have_the_mean_of_their_conditional_law(name: str) -> None:
    """Given the counts the topics are Dirichlet(beta + n); 400 columns are as many chains."""
    update, chains, prior = UPDATES[name], 400, 2.0
    n = np.array([6.0, 2.0, 0.0, 1.0], np.float32)[:, None] * np.ones((1, chains), np.float32)
    step, steps = (0.5, 300) if name == "scir" else (0.02 if name == "sgrld" else 0.05, 1_500)
    topics = np.full((4, chains), 0.25, np.float32)
    weights, total, kept = update.first_weights(topics, prior, 9.0), np.zeros(4), 0
    momentum = np.zeros_like(weights)
    for t in range(steps):
        update.advance(t, weights, momentum, topics, n, prior, step)
        if t >= steps // 3:
            total, kept = total + topics.mean(axis=1, dtype=np.float64), kept + 1
    wanted = (prior + n[:, 0]) / (4 * prior + 9)
    assert np.abs(total / kept - wanted).max() < 0.01, total / kept
    assert np.abs(np.array([2.0, 2.0, 2.0, 2.0]) / 8 - wanted).max() > 0.05


@pytest.mark.slow
def test_minibatches_of_scir_have_the_mean_of_the_exact_posterior() -> None:
    """The mean of E[phi phi'] over words, which does not know topics' numbers, against enumeration."""
    law = exact_law()
    exact = 0.0
    for z, p in law.items():
        counts = np.zeros((3, 2))
        np.add.at(counts, (TINY.words, np.array(z)), 1)
        shapes = counts + BETA
        total = shapes.sum(axis=0)
        exact += p * float((shapes[0] * (shapes[0] + 1) / (total * (total + 1))).sum())
    sampler = StochasticAllocation(problem(), SCIRUpdate(), 3, 20, Polynomial(0.05, 1.0, 0.0))
    values = np.array([float((s.topics[0].astype(float) ** 2).sum()) for s in run(sampler, 8_000)])[500:]
    blocks = values.reshape(75, 100).mean(axis=1)
    assert abs(blocks.mean() - exact) < 3.5 * blocks.std() / np.sqrt(75) + 0.02


def test_no_probability_is_zero_at_a_tiny_prior() -> None:
    """Of Gamma(1e-4) weights nine in ten underflow even in float64; their topics are the smallest normal float32."""
    topics, counts = np.full((50, 8), 0.02, np.float32), np.zeros((50, 8), np.float32)
    counts[0], weights = 100.0, np.zeros((50, 8), np.float32)
    SCIRUpdate().advance(3, weights, np.zeros((0, 8), np.float32), topics, counts, 1e-4, 30.0)
    assert topics.min() == np.finfo(np.float32).tiny and np.isfinite(np.log(topics)).all()
    assert np.quantile(weights[1:], 0.5) < -1_000 and np.allclose(topics.sum(axis=0), 1.0, atol=1e-5)


@pytest.mark.parametrize("update", [SGHMCUpdate(), SGRHMCUpdate()])
def test_a_reflected_momentum_changes_its_sign(update: Any) -> None:
    weights, momentum = np.full((1, 1), 1e-6, np.float32), np.full((1, 1), -2e4, np.float32)
    none = np.zeros((1, 1), np.float32)
    update.advance(0, weights, momentum, np.ones((1, 1), np.float32), none, 1.0, 1e-4)
    assert momentum[0, 0] > 0 and weights[0, 0] > 0


def test_sgrld_is_its_equation() -> None:
    rng = np.random.default_rng(0)
    theta, n = rng.gamma(1.0, size=(5, 2)).astype(np.float32), rng.poisson(3.0, (5, 2)).astype(np.float32)
    phi = theta / theta.sum(axis=0)
    noise = np.random.Generator(np.random.Philox(7)).standard_normal((5, 2), np.float32)
    wanted = np.abs(theta + 0.1 * (0.3 - theta + n - phi * n.sum(axis=0)) + np.sqrt(0.2 * theta) * noise)
    topics = phi.copy()
    SGRLDUpdate().advance(7, theta, np.zeros((0, 2), np.float32), topics, n, 0.3, 0.1)
    np.testing.assert_allclose(theta, wanted, rtol=1e-5)
    np.testing.assert_allclose(topics, wanted / wanted.sum(axis=0), rtol=1e-5)


def test_minka_s_fixed_point_finds_the_prior() -> None:
    """Documents from a known asymmetric prior; the sums over tails are those over digamma functions."""
    rng, alpha = np.random.default_rng(1), np.array([0.1, 0.4, 1.5])
    sizes = rng.poisson(40, 4_000)
    z = np.concatenate([rng.choice(3, size, p=rng.dirichlet(alpha)) for size in sizes]).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    alone = TokenDocuments(z, starts, 3)
    own, _ = tails(z, starts, 3, alone)
    n = np.array([np.bincount(z[a:b], minlength=3) for a, b in itertools.pairwise(starts)])
    left = np.sum(own / (alpha[:, None] + np.arange(own.shape[1])), axis=1)
    np.testing.assert_allclose(left, (digamma(n + alpha) - digamma(alpha)).sum(axis=0))
    found = learnt_prior(np.full(3, 0.5, np.float32), z, starts, alone, 200)
    np.testing.assert_allclose(found, alpha, rtol=0.08)


def small_corpus(count: int = 60) -> TokenDocuments:
    rng = np.random.default_rng(3)
    sizes = rng.poisson(20, count)
    return TokenDocuments(
        rng.integers(0, 12, sizes.sum()).astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]), 12
    )


def samplers() -> dict[str, Any]:
    given = problem(small_corpus(), learns=True, num_warmup=4)
    one = {"gibbs": AllocationGibbs(given, ((10, 1), (30, 1))), "collapsed": CollapsedGibbs(given)}
    return one | {
        name: StochasticAllocation(given, update, 20, 4, Polynomial(0.01, 10.0, 0.5), name == "sgld")
        for name, update in UPDATES.items()
    }


@pytest.mark.parametrize("name", ["gibbs", "collapsed", *UPDATES])
def test_the_number_of_threads_makes_no_difference(name: str) -> None:
    found = []
    for threads in (1, 2):
        with computing(threads):
            *_, last = run(samplers()[name], 8)
        found.append(last)
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.isfinite(found[0].topics).all() and abs(found[0].topics.sum(axis=0) - 1).max() < 1e-5
    assert not np.array_equal(found[0].prior, ALPHA)


def test_the_corpus_grows_in_the_warm_up_and_is_whole_afterwards() -> None:
    sampler = samplers()["gibbs"]
    assert [sampler.active(t) for t in range(5)] == [10, 30, 60, 60, 60]
    assert replace(sampler, given=problem(small_corpus())).active(0) == 60
    states = [s.assignments.copy() for s in run(sampler, 3)]
    assert (states[0] == -1).sum() > (states[1] == -1).sum() > (states[2] == -1).sum() == 0
