"""SCIR: exact with all rows at any step, Theorem 2.1, the paper's remark on its parameters, tiny shapes, and doors."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy import stats
from scipy.special import digamma

from orthodrome.checks import check_sde
from orthodrome.core.pytree import replace
from orthodrome.doors import check_sampler
from orthodrome.dynamics.cir import draw_transition, scales, scir_variance
from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients import CenteredCounts, ConjugateCounts, ConjugatePosterior, FullGradient
from orthodrome.manifolds import Positive, Product, Simplex, Sphere
from orthodrome.run import sample
from orthodrome.samplers import SCIR, Scheduled
from orthodrome.schedules import Polynomial
from orthodrome.targets import Target

CHAINS, STEPS, THRESHOLD = 10_000, 5, 4.4
COUNTS = np.array([5.0, 2, 1, 0, 0, 0, 0, 0, 0, 0])
PRIOR, RATE = 0.3, 2.5


def rows_summed(key: Array, p: Any, rows: Any) -> Any:
    return jax.tree.map(lambda r: jnp.sum(r, axis=0), rows)


def dirichlet_and_gamma(dtype: str = "float32") -> ConjugatePosterior:
    """Dirichlet(PRIOR + COUNTS) of dimension 10, and Gamma(PRIOR + 8, RATE)."""
    rows = np.repeat(np.eye(10), COUNTS.astype(int), axis=0)
    data = {"p": jnp.asarray(rows, dtype), "s": jnp.ones((len(rows), 1), dtype)}
    return ConjugatePosterior(Product({"p": Simplex(), "s": Positive()}), PRIOR, rows_summed, data, RATE)


class EulerSCIR(SCIR):
    """The control: an Euler step of the same process, kept positive by reflection."""

    def _transition(self, key: Array, weights: Array, shape: Array, h: Array) -> Array:
        theta = jnp.exp(weights)
        noise = jnp.sqrt(2 * h * theta) * jax.random.normal(key, theta.shape, theta.dtype)
        return jnp.log(jnp.abs(theta + h * (shape - theta) + noise))


class WrongDecay(SCIR):
    """The control: the noncentrality with e^{-h/2} in place of e^-h."""

    def _transition(self, key: Array, weights: Array, shape: Array, h: Array) -> Array:
        _, log_factor, log_scale = scales(h, *self._parameters(weights))
        return draw_transition(key, weights, shape, log_factor + h / 2, log_scale)


for _control in (EulerSCIR, WrongDecay):
    jax.tree_util.register_dataclass(_control, ["gradient", "step_size", "rate", "volatility"], ["compiled"])


@partial(jax.jit, static_argnames=("num_steps",))
def run(sampler: Any, key: Array, start: Any, num_steps: int) -> Any:
    """Positions in the user's coordinates after some steps from every start."""

    def one(key: Array, p: Any) -> Any:
        first, second = jax.random.split(key)
        step = lambda state, t: (sampler.step(jax.random.fold_in(second, t), state)[0], None)
        state = sampler.init(sampler.manifold.from_user(p), first)
        return sampler.manifold.to_user(jax.lax.scan(step, state, jnp.arange(num_steps))[0].position)

    chains = jnp.arange(len(jax.tree.leaves(start)[0]))
    return jax.vmap(lambda i, p: one(jax.random.fold_in(key, i), p))(chains, start)


def worst_distance(sampler: Any) -> float:
    """The largest Kolmogorov-Smirnov statistic times sqrt(chains), from exact draws after some steps: of the first
    weight, the smallest, and the Gamma number."""
    rng = np.random.default_rng(3)
    a, total = PRIOR + COUNTS, PRIOR * 10 + COUNTS.sum()
    shape = PRIOR + COUNTS.sum()
    start = {"p": rng.dirichlet(a, CHAINS), "s": rng.gamma(shape, 1 / RATE, (CHAINS, 1))}
    start = jax.tree.map(lambda leaf: jnp.asarray(np.maximum(leaf, 1e-30), "float32"), start)
    start = dict(start, p=start["p"] / start["p"].sum(axis=1, keepdims=True))
    end = run(sampler, jax.random.key(1), start, STEPS)
    p, s = np.asarray(end["p"], float), np.asarray(end["s"], float)[:, 0]
    assert np.all(np.isfinite(p)) and np.all(np.isfinite(s))
    laws = [(p[:, i], stats.beta(a[i], total - a[i])) for i in (0, 9)] + [(s, stats.gamma(shape, scale=1 / RATE))]
    return max(stats.kstest(x, law.cdf).statistic for x, law in laws) * np.sqrt(CHAINS)


def all_rows(step_size: float) -> SCIR:
    return SCIR(ConjugateCounts(dirichlet_and_gamma(), 8), step_size)


SURE = 2.5
"""The statistic of exact draws exceeds it with probability 7e-6; it sees shifts of the distribution of 2.5 %."""


@pytest.mark.parametrize("step_size", [0.5, *(pytest.param(h, marks=pytest.mark.slow) for h in (0.02, 5.0))])
def test_the_law_stays(step_size: float) -> None:
    """With the counts of all rows SCIR keeps Dirichlet (dimension 10, also where there are no counts) and Gamma."""
    assert worst_distance(all_rows(step_size)) < SURE


@pytest.mark.parametrize(("control", "step_size"), [(EulerSCIR, 0.1), (WrongDecay, 0.1)])
def test_wrong_transitions_are_seen(control: Any, step_size: float) -> None:
    assert worst_distance(control(all_rows(step_size).gradient, step_size)) > 2 * SURE


def test_theorem_2_1() -> None:
    """2 sqrt(theta) follows the Langevin diffusion of u^(2a-1) exp(-u^2/4), and its drift is that of Ito's formula."""
    a, u = 0.7, np.array([[0.3], [1.1], [2.5], [4.0]])
    drift = lambda u: (2 * a - 1) / u - u / 2
    logdensity = lambda u: jnp.sum((2 * a - 1) * jnp.log(u) - u**2 / 4)
    identity = lambda u: jnp.eye(1, dtype=u.dtype)
    assert check_sde(drift, identity, logdensity, u).ok
    assert not check_sde(lambda u: (2 * a) / u - u / 2, identity, logdensity, u).ok
    assert not check_sde(drift, identity, lambda u: logdensity(u) - jnp.sum(jnp.log(u)), u).ok
    g, theta = lambda t: 2 * jnp.sqrt(t), 1.3
    ito = jax.grad(g)(theta) * (a - theta) + theta * jax.grad(jax.grad(g))(theta)
    assert float(ito) == pytest.approx(drift(float(g(theta))), rel=1e-6)
    assert float(jax.grad(g)(theta) ** 2 * 2 * theta) == pytest.approx(2, rel=1e-6)  # (g')^2 sigma^2 theta


def test_the_process_itself_is_stationary() -> None:
    """The three-parameter process keeps Gamma(2 b a / sigma^2, 2 b / sigma^2)."""
    a, b, sigma = 0.8, 1.7, 0.9
    shape, rate = 2 * b * a / sigma**2, 2 * b / sigma**2
    points = np.array([[0.2], [0.9], [2.0]])
    diffusion = lambda t: jnp.diag(sigma**2 * t / 2)
    logdensity = lambda t: jnp.sum((shape - 1) * jnp.log(t) - rate * t)
    assert check_sde(lambda t: b * (a - t), diffusion, logdensity, points).ok
    assert not check_sde(lambda t: b * (a - t), diffusion, lambda t: 2 * logdensity(t), points).ok


@pytest.mark.slow
def test_the_other_two_parameters_make_no_difference(x64: None) -> None:
    """The paper's remark, and why: with the same keys, (b, sigma, h / b) gives the draws of (1, sqrt 2, h)."""
    gradient = ConjugateCounts(dirichlet_and_gamma("float64"), 3)
    start = {"p": jnp.full((4, 10), 0.1), "s": jnp.full((4, 1), 0.7)}
    plain = run(SCIR(gradient, 0.2), jax.random.key(2), start, 6)
    other = run(SCIR(gradient, 0.2 / 3.0, rate=3.0, volatility=0.4), jax.random.key(2), start, 6)
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-9), plain, other)
    slower = run(SCIR(gradient, 0.2, rate=3.0, volatility=0.4), jax.random.key(2), start, 6)
    assert np.abs(plain["p"] - slower["p"]).max() > 1e-3


def test_minibatches_have_the_mean_and_the_variance_of_corollary_3_2() -> None:
    """A Gamma leaf, from a point, after 6 steps: mean without bias, variance inflated as the corollary says."""
    rows = np.repeat([0.0, 3.0], [30, 10])
    target = ConjugatePosterior(Positive(), 0.5, rows_summed, jnp.asarray(rows, "float32"), 1.0)
    sampler = SCIR(ConjugateCounts(target, 2, replace=True), 0.4)
    theta = np.asarray(run(sampler, jax.random.key(0), jnp.full(CHAINS, 20.0), 6), float)
    a, noise = 30.5, 40**2 / 2 * rows.var()
    mean, variance = 20 * np.exp(-2.4) + a * (1 - np.exp(-2.4)), float(scir_variance(20.0, a, 0.4, 6, noise))
    spread = np.sqrt(np.mean((theta - theta.mean()) ** 4) - theta.var() ** 2) / np.sqrt(CHAINS)
    assert abs(theta.mean() - mean) < THRESHOLD * np.sqrt(variance / CHAINS)
    assert abs(theta.var() - variance) < THRESHOLD * spread
    assert (
        abs(theta.var() - float(scir_variance(20.0, a, 0.4, 6, 0.0))) > 10 * spread
    )  # without the noise it is another


def test_tiny_concentrations_in_single_precision() -> None:
    """At 1e-4 most Gamma draws lie below the smallest number: no zero, no NaN, log theta has its mean digamma(a)."""
    tiny, chains = 1e-4, 4_000
    target = ConjugatePosterior(Simplex(), tiny, rows_summed, jnp.zeros((3, 10), "float32"))
    sampler = SCIR(ConjugateCounts(target, 3), 2.0)

    def one(key: Array) -> tuple[Array, Array]:
        first, second = jax.random.split(key)
        step = lambda state, t: (sampler.step(jax.random.fold_in(second, t), state)[0], None)
        state = sampler.init(jnp.full(10, 10**-0.5), first)
        state, _ = jax.lax.scan(step, state, jnp.arange(12))
        return state.log_weights, sampler.manifold.to_user(state.position)

    weights, p = (np.asarray(a, float) for a in jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), chains)))
    assert np.all(np.isfinite(weights)) and np.all(np.isfinite(p)) and p.min() > 0
    assert abs(p.sum(axis=1) - 1).max() < 1e-5 and np.mean(p < 1e-30) > 0.8
    assert abs(weights.mean() - digamma(tiny)) < THRESHOLD * weights.std() / np.sqrt(weights.size)


def responsibilities(key: Array, p: Array, rows: Array) -> Array:
    joint = p[None, :] * rows
    return jnp.sum(joint / jnp.sum(joint, axis=1, keepdims=True), axis=0)


@partial(jax.jit, static_argnames="count")
def shapes_of(estimator: Any, x: Array, count: int) -> tuple[Array, Array]:
    memory, keys = estimator.init(x), jax.random.split(jax.random.key(5), count)
    found = jax.vmap(lambda k: estimator.estimate(k, x, memory)[0].statistics)(keys)
    return found.shapes, found.floored


def test_control_variates_reduce_the_variance_of_the_shapes(x64: None) -> None:
    """The weights of a mixture of three components, 0.02 away from the centre: unbiased, at 1/100 of the variance."""
    rng = np.random.default_rng(0)
    rows = jnp.asarray(np.exp(-0.5 * (rng.normal(size=(500, 1)) * 2 - np.array([[-2.0, 0.0, 2.0]])) ** 2))
    target = ConjugatePosterior(Simplex(), 0.1, responsibilities, rows)
    center, x = jnp.array([0.3, 0.4, 0.3]), jnp.sqrt(jnp.array([0.31, 0.38, 0.31]))
    exact = 0.1 + np.asarray(responsibilities(jax.random.key(0), x * x, rows))
    plain, _ = shapes_of(ConjugateCounts(target, 10), x, 4_000)
    centred, floored = shapes_of(CenteredCounts(target, center, 10), x, 4_000)
    for found in map(np.asarray, (plain, centred)):
        assert np.all(np.abs(found.mean(0) - exact) < THRESHOLD * found.std(0) / np.sqrt(len(found)))
    ratio = np.var(plain, axis=0).sum() / np.var(centred, axis=0).sum()
    assert ratio > 100 and int(floored.sum()) == 0


@pytest.mark.slow
def test_shapes_that_would_not_be_positive_are_raised_and_counted() -> None:
    """Far from the centre, with batches of one row: all shapes stay positive, and raised ones are reported."""
    rows = jnp.asarray(np.repeat([[1.0, 1e-6], [1.0, 1.0]], [19, 1], axis=0), "float32")
    target = ConjugatePosterior(Simplex(), 0.1, responsibilities, rows)
    sampler = SCIR(CenteredCounts(target, jnp.array([0.01, 0.99]), 1), 0.1)
    state = sampler.init(jnp.sqrt(jnp.array([0.99, 0.01])), jax.random.key(1))
    step = lambda s, t: sampler.step(jax.random.fold_in(jax.random.key(2), t), s)
    state, info = jax.lax.scan(step, state, jnp.arange(100))
    assert np.all(np.isfinite(state.log_weights)) and int(info.floored.sum()) > 0
    np.testing.assert_array_equal(info.clipped, info.floored > 0)


# --- doors -----------------------------------------------------------------------------------------------------------


def test_other_spaces_are_refused_with_the_remedy() -> None:
    wrong = replace(dirichlet_and_gamma(), manifold=Product({"p": Sphere(), "s": Positive()}))
    position = {"p": np.ones((1, 10), "float32") / 10**0.5, "s": np.ones((1, 1), "float32")}
    with pytest.raises(Unsupported, match=r"a leaf lives on Sphere.*Simplex"):
        check_sampler(SCIR(ConjugateCounts(wrong, 2), 0.1), position)


def test_an_estimator_without_counts_is_refused() -> None:
    density = FullGradient(Target(Positive(), lambda p: -jnp.sum(p)))
    with pytest.raises(BadInput, match="estimates no counts; give `ConjugateCounts"):
        check_sampler(SCIR(density, 0.1), np.ones((1, 2), "float32"))


def test_counts_of_another_shape_are_refused() -> None:
    target = ConjugatePosterior(Simplex(), 0.1, lambda key, p, rows: rows, jnp.ones((5, 3)))
    with pytest.raises(BadInput, match="counts"):
        check_sampler(SCIR(ConjugateCounts(target, 2), 0.1), np.full((1, 3), 1 / 3, "float32"))


def test_it_cannot_be_heated() -> None:
    with pytest.raises(Unsupported, match="cannot be heated"):
        all_rows(0.1).at_temperature(0.5)


@pytest.mark.slow
def test_a_schedule_sets_its_steps() -> None:
    """As in the paper's LDA: h (1 + m / tau)^-kappa."""
    sampler = Scheduled(SCIR(all_rows(0.1).gradient), Polynomial(0.5, 10.0, 0.33))
    start = {"p": np.full(10, 0.1, "float32"), "s": np.ones(1, "float32")}
    draws = sample(sampler, start, seed=0, num_chains=1, num_warmup=0, num_draws=20, progress=False)
    steps = draws["sample_stats"]["step_size"].values[0]
    assert steps[0] == pytest.approx(0.5) and steps[-1] == pytest.approx(0.5 * (1 + 19 / 10) ** -0.33, rel=1e-5)
