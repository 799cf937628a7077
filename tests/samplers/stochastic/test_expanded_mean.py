"""SGRLD in the expanded-mean form: its drift is that of Patterson & Teh, and the SDE behind it keeps the law."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.checks import check_sde
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.gradients.expanded_mean import expanded_logdensity
from orthodrome.manifolds import Simplex
from orthodrome.samplers import expanded_mean_sgrld

COUNTS, PRIOR = np.array([4.0, 1.0, 0.0]), 0.6
POINTS = np.random.default_rng(0).gamma(1.0, size=(20, 3)) + 0.05


def counted(key: Array, p: Array, rows: Array) -> Array:
    return jnp.sum(rows, axis=0)


def drift(theta: Array) -> Array:
    return PRIOR - theta + COUNTS - theta / jnp.sum(theta) * COUNTS.sum()


def test_the_sde_keeps_the_law_and_the_authors_drift_does_not() -> None:
    law = lambda theta: expanded_logdensity(theta, jnp.full(3, PRIOR), jnp.asarray(COUNTS))
    assert check_sde(drift, jnp.diag, law, POINTS).ok
    assert not check_sde(lambda theta: theta * drift(theta) + 1, jnp.diag, law, POINTS).ok


def test_the_sampler_has_this_drift(x64: None) -> None:
    """D g + div D, with the counts of all rows."""
    rows = jnp.asarray(np.repeat(np.eye(3), COUNTS.astype(int), axis=0))
    sampler = expanded_mean_sgrld(ConjugateCounts(ConjugatePosterior(Simplex(), PRIOR, counted, rows), 5), 0.01)
    for theta in map(jnp.asarray, POINTS[:5]):
        estimate, _ = sampler.gradient.estimate(jax.random.key(0), theta, sampler.gradient.init(theta))
        correction = sampler.metric.inverse_divergence(jax.random.key(1), theta, estimate)
        np.testing.assert_allclose(theta * estimate.gradient + correction, drift(theta), rtol=1e-10)


def test_it_draws_the_weights() -> None:
    """Short steps, from exact draws: the mean of p stays within 3 % of its standard deviation."""
    rows = jnp.asarray(np.repeat(np.eye(3), COUNTS.astype(int), axis=0), "float32")
    sampler = expanded_mean_sgrld(ConjugateCounts(ConjugatePosterior(Simplex(), 2.0, counted, rows), 5), 2e-3)
    rng, a = np.random.default_rng(1), 2.0 + COUNTS
    theta = rng.dirichlet(a, 20_000) * rng.gamma(6.0, size=(20_000, 1))

    def one(i: Array, x: Array) -> Array:
        step = lambda state, t: (sampler.step(jax.random.fold_in(jax.random.key(i), t), state)[0], None)
        end = jax.lax.scan(step, sampler.init(x), jnp.arange(50))[0].position
        return end / jnp.sum(end)

    p = np.asarray(jax.jit(jax.vmap(one))(jnp.arange(len(theta)), jnp.asarray(theta, "float32")), float)
    assert np.all(np.abs(p.mean(axis=0) - a / a.sum()) < 4.4 * p.std(axis=0) / np.sqrt(len(p)))
