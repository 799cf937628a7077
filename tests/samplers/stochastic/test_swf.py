"""The stochastic Wright-Fisher process: exact with all rows, its clock, the inflation by minibatches, and doors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy import stats
from scipy.special import digamma, gammaln

from orthodrome.core.pytree import pytree
from orthodrome.doors import check_sampler
from orthodrome.dynamics import wright_fisher
from orthodrome.dynamics.wright_fisher import draw_ancestors, draw_wright_fisher, wright_fisher_variance
from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.manifolds import Positive, Simplex
from orthodrome.random import binomial, multinomial
from orthodrome.samplers import SWF
from support.quick import slow

THRESHOLD, SURE = 4.4, 2.5
COUNTS = np.array([5.0, 2, 1, 0, 0, 0, 0, 0, 0, 0])
PRIOR, COPIES = 0.3, 8_000
A = PRIOR + COUNTS


def counts_of(key: Array, p: Array, data: dict[str, Array]) -> Array:
    """The counts of all rows; or, times the noise, for every copy either of two that have their mean and their sum."""
    coin = jax.random.bernoulli(key, 0.5, (*p.shape[:-1], 1))
    change = jnp.zeros(10, p.dtype).at[0].set(3.0).at[1].set(-2.0).at[2].set(-1.0)
    exact = jnp.broadcast_to(jnp.sum(data["rows"], axis=0), p.shape)
    return exact + jnp.where(coin, 1, -1).astype(p.dtype) * data["noise"][0] * jnp.broadcast_to(change, p.shape)


def dirichlet(noise: float = 0.0, manifold: Any = Simplex(), prior: float = PRIOR, rows: Any = None) -> ConjugateCounts:
    rows = np.repeat(np.eye(10), COUNTS.astype(int), axis=0) if rows is None else rows
    data = {"rows": jnp.asarray(rows, "float32"), "noise": jnp.full(8, noise, "float32")}
    return ConjugateCounts(ConjugatePosterior(manifold, prior, counts_of, data), 8)


# --- the pieces ------------------------------------------------------------------------------------------------------


def test_multinomial_counts_have_their_law() -> None:
    """Sums, means and covariances of five categories, one of weight 1e-30, one of 0."""
    weights = np.array([3.0, 1e-30, 1.0, 0.0, 2.0])
    n = 40_000
    found = np.asarray(
        multinomial(jax.random.key(0), jnp.full(n, 30.0), jnp.broadcast_to(jnp.asarray(weights, "float32"), (n, 5)))
    )
    p = weights / weights.sum()
    assert np.all(found.sum(axis=1) == 30) and found[:, [1, 3]].max() == 0
    kept = [0, 2, 4]
    z = (found.mean(axis=0) - 30 * p)[kept] / np.sqrt(30 * p * (1 - p) / n)[kept]
    assert np.abs(z).max() < THRESHOLD
    np.testing.assert_allclose(np.cov(found.T), 30 * (np.diag(p) - np.outer(p, p)), atol=0.25)


@pytest.mark.parametrize(
    ("count", "share"), [(30, 0.3), slow(20, 0.5), slow(40, 0.26), slow(3_000, 0.1), (65_536, 0.4)]
)
def test_binomial_counts_have_their_law(count: int, share: float) -> None:
    """By chi-square over some twenty cells, below and above the mean of 10 at which the method changes."""
    n = 100_000
    found = np.asarray(binomial(jax.random.key(7), jnp.full(n, float(count)), jnp.full(n, share))).astype(int)
    law = stats.binom(count, share)
    edges = np.unique(law.ppf(np.linspace(0.001, 0.999, 20)).astype(int))
    expected = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]])) * n
    seen = np.bincount(np.searchsorted(edges, found), minlength=len(expected))
    assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 1e-5


@pytest.mark.parametrize(
    ("total", "time"), [slow(0.4, 0.02), (3.0, 0.4), slow(300.0, 1.5), (1000.0, 0.1), slow(1000.0, 4.0)]
)
def test_the_clock_of_the_ancestors(total: float, time: float) -> None:
    """E[A (A-1) ... / ((a+A)(a+A+1) ...)] with k factors is e^{-k(k+a-1)t/2}: k = 1, 2, in both regimes; the control
    has a clock that is faster by 5 %."""
    n = 30_000
    lines = np.asarray(jax.jit(draw_ancestors)(jax.random.key(1), jnp.full(n, total), jnp.asarray(time)), float)
    ratios = (lines / (total + lines), lines * (lines - 1) / ((total + lines) * (total + lines + 1)))
    for k, ratio in enumerate(ratios, start=1):
        wanted = lambda h, k=k: np.exp(-k * (k + total - 1) * h / total)
        error = ratio.std() / np.sqrt(n)
        assert abs(ratio.mean() - wanted(time)) < THRESHOLD * error + 2e-4 * wanted(time)
        if total > 1 and ratio.mean() > 0.05:
            assert abs(ratio.mean() - wanted(1.05 * time)) > THRESHOLD * error


@pytest.mark.slow
def test_the_law_of_the_ancestors_is_that_of_the_series() -> None:
    """Where the alternating series of Jenkins & Spano can be summed: |a| = 2, t = 0.5, P(A = 0), ..., P(A = 9)."""
    total, age, n = 2.0, 0.5, 40_000
    k = np.arange(60)

    def probability(m: int) -> float:
        j = k[k >= m]
        logs = gammaln(total + m + j - 1) - gammaln(total + m) - gammaln(m + 1) - gammaln(j - m + 1)
        return float(np.sum((-1.0) ** (j - m) * (total + 2 * j - 1) * np.exp(logs - j * (j + total - 1) * age / 2)))

    exact = np.array([probability(m) for m in range(10)])
    lines = np.asarray(jax.jit(draw_ancestors)(jax.random.key(2), jnp.full(n, total), jnp.asarray(total * age / 2)))
    seen = np.bincount(lines.astype(int), minlength=10)[:10] / n
    assert abs(exact.sum() - 1) < 1e-3
    assert np.all(np.abs(seen - exact) < THRESHOLD * np.sqrt(exact * (1 - exact) / n) + 1e-5)


# --- the sampler -----------------------------------------------------------------------------------------------------


@pytree
class Origins(SWF):
    """Ancestors chosen by a power of the weights: SWF itself at 1, a control at 2. As a number it is no part of the
    program, which takes long to compile and is the same for all tests of the law."""

    power: Any = 1.0

    def step(self, key: Array, state: Any) -> Any:
        return super().step(key, state._replace(log_weights=self.power * state.log_weights))


@jax.jit
def run(sampler: Any, key: Array, start: Array, num_steps: int) -> tuple[Array, Array, Array]:
    """Copies in the user's coordinates after some steps of one chain, their logarithms, and its mean temperature."""

    def step(t: Array, carry: tuple[Any, Array]) -> tuple[Any, Array]:
        state, info = sampler.step(jax.random.fold_in(key, t), carry[0])
        return state, carry[1] + info.temperature

    first = sampler.init(sampler.manifold.from_user(start)), jnp.zeros(())
    state, heat = jax.lax.fori_loop(0, num_steps, step, first)
    return sampler.manifold.to_user(state.position), state.log_weights, heat / num_steps


def worst_distance(sampler: Any) -> tuple[float, float]:
    """The largest Kolmogorov-Smirnov statistic times sqrt(copies) of the first and the smallest weight, from exact
    draws after three steps, and the mean temperature."""
    draws = np.maximum(np.random.default_rng(3).dirichlet(A, COPIES), 1e-30)
    start = jnp.asarray(draws / draws.sum(axis=1, keepdims=True), "float32")
    p, _, heat = run(sampler, jax.random.key(1), start, 3)
    laws = [(np.asarray(p, float)[:, i], stats.beta(A[i], A.sum() - A[i])) for i in (0, 9)]
    return max(stats.kstest(x, law.cdf).statistic for x, law in laws) * np.sqrt(COPIES), float(heat)


@pytest.mark.parametrize("step_size", [slow(0.02), 0.5, slow(5.0)])
def test_the_law_stays(step_size: float) -> None:
    """With the counts of all rows SWF keeps the Dirichlet law, also where there are no counts; its temperature is 1."""
    worst, heat = worst_distance(Origins(dirichlet(), step_size))
    assert worst < SURE and heat == pytest.approx(1, abs=0.03)


def test_a_wrong_origin_is_seen() -> None:
    assert worst_distance(Origins(dirichlet(), 0.5, power=2.0))[0] > 2 * SURE


@pytest.mark.slow
def test_the_mean_relaxes_at_the_stated_rate() -> None:
    """From a point: e^-h p + (1 - e^-h) a / |a|, in both regimes of the ancestors."""
    for time, scale in ((0.7, 1.0), (0.05, 20.0)):
        a, p = scale * A, np.full(10, 0.1)
        logs = jax.jit(draw_wright_fisher)(
            jax.random.key(4),
            jnp.broadcast_to(jnp.log(jnp.asarray(p, "float32")), (COPIES, 10)),
            jnp.broadcast_to(jnp.asarray(a, "float32"), (COPIES, 10)),
            jnp.asarray(time),
        )
        drawn = np.exp(np.asarray(logs, float))
        wanted = np.exp(-time) * p + (1 - np.exp(-time)) * a / a.sum()
        assert np.all(np.abs(drawn.mean(axis=0) - wanted) < THRESHOLD * drawn.std(axis=0) / np.sqrt(COPIES))


def test_noisy_counts_leave_the_mean_and_inflate_the_variance_as_derived() -> None:
    """After six steps of 0.8 the mean of every weight is within its error, the variance of the first that of
    `wright_fisher_variance`, and not that without the noise."""
    m, total = A / A.sum(), A.sum()
    start = jnp.broadcast_to(jnp.asarray(m, "float32"), (COPIES, 10))
    p, _, heat = run(Origins(dirichlet(noise=1.0), 0.8), jax.random.key(5), start, 6)
    p = np.asarray(p, float)
    assert np.all(np.abs(p.mean(axis=0) - m) < THRESHOLD * p.std(axis=0) / np.sqrt(COPIES))
    wanted, plain = (float(wright_fisher_variance(m[0], total, 0.8, v)) for v in ((3 / total) ** 2, 0.0))
    error = np.sqrt(np.mean((p[:, 0] - m[0]) ** 4) - p[:, 0].var() ** 2) / np.sqrt(COPIES)
    assert abs(p[:, 0].var() - wanted) < THRESHOLD * error < abs(plain - wanted)
    assert float(heat) > 1.1


def test_tiny_concentrations_in_single_precision() -> None:
    """At 1e-4 most weights lie below the smallest number: no zero, no NaN, means of 1/10."""
    tiny = 1e-4
    sampler = Origins(dirichlet(prior=tiny, rows=np.zeros((8, 10))), 2.0)
    p, logs, _ = (np.asarray(a, float) for a in run(sampler, jax.random.key(6), jnp.full((COPIES, 10), 0.1), 6))
    assert np.all(np.isfinite(logs)) and np.all(np.isfinite(p)) and p.min() > 0
    assert np.mean(p < 1e-30) > 0.8
    assert np.all(np.abs(p.mean(axis=0) - 0.1) < THRESHOLD * p.std(axis=0) / np.sqrt(len(p)))  # the mean is right
    assert logs.mean() < digamma(tiny) / 2  # and most logarithms are in the thousands below 0


# --- doors -----------------------------------------------------------------------------------------------------------


def test_steps_that_cannot_be_drawn_are_refused_with_the_remedy() -> None:
    """And a run whose shapes grow reports them."""
    sampler = SWF(dirichlet(), 1e-5)
    with pytest.raises(BadInput, match=r"sum to 11.*0\.000168.*SCIR"):
        check_sampler(sampler, np.full((1, 10), 10**-0.5, "float32"))
    clipped = jax.jit(lambda swf: swf.step(jax.random.key(0), swf.init(jnp.full(10, 10**-0.5)))[1].clipped)
    assert clipped(sampler) and not clipped(SWF(dirichlet(), 1e-3))
    assert wright_fisher.shortest_step(11.0) == pytest.approx(1.68e-4, rel=0.01)


def test_other_spaces_are_refused() -> None:
    with pytest.raises(Unsupported, match=r"a leaf lives on Positive.*SCIR"):
        check_sampler(SWF(dirichlet(manifold=Positive()), 0.1), np.ones((1, 10), "float32"))
