"""Logs that survive where numbers underflow: the rules, and the two laws on whose charts they are needed."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from jax.scipy import stats
from jax.scipy.special import xlogy
from scipy.stats import beta, gamma

from orthodrome import (
    Dirichlet,
    Euclidean,
    FullGradient,
    GeodesicHMC,
    LogPositive,
    LogRatioSimplex,
    Minibatch,
    Posterior,
    Product,
    Target,
    sample,
)
from orthodrome.core import carried_logs
from orthodrome.diagnostics.convergence import ess
from orthodrome.errors import OrthodromeWarning
from support.quick import quick

A = np.asarray([0.02, 0.3, 5.0], np.float32)
DEEP = jnp.asarray([-300.0, -2.0, 0.5])

FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "log": (lambda p: jnp.sum(A * jnp.log(p)), lambda x: np.sum(A * x)),
    "xlogy": (lambda p: jnp.sum(xlogy(A, p)), lambda x: np.sum(A * x)),
    "product": (lambda p: jnp.log(2 * p[0] * p[1] / p[2]), lambda x: np.log(2) + x[0] + x[1] - x[2]),
    "powers": (lambda p: jnp.log(p[0] ** 3) + jnp.log(jnp.sqrt(p[0])) + jnp.log(p[0] ** 0.3), lambda x: 3.8 * x[0]),
    "picked": (lambda p: jnp.log(p[jnp.asarray([0, 0])]).sum() + jnp.log(p.reshape(1, 3)[0, 0]), lambda x: 3 * x[0]),
    "jitted": (lambda p: jax.jit(jnp.log)(p)[0], lambda x: x[0]),
    "mapped": (lambda p: jnp.sum(jax.vmap(lambda i: jnp.log(p[i]))(jnp.arange(3))), np.sum),
    "where": (lambda p: jnp.log(jnp.where(p >= 0, p, 1.0))[0], lambda x: x[0]),
    "scipy": (lambda p: stats.gamma.logpdf(p[0], 0.5), lambda x: -0.5 * x[0] - np.exp(x[0]) - 0.5 * np.log(np.pi)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_where_exp_underflows(name: str) -> None:
    function, truth = FUNCTIONS[name]
    value, gradient = jax.value_and_grad(lambda x: carried_logs.evaluate(function, jnp.exp(x), x))(DEEP)
    x = np.asarray(DEEP, float)
    steps = [(truth(x + 1e-3 * e) - truth(x - 1e-3 * e)) / 2e-3 for e in np.eye(3)]
    assert float(value) == pytest.approx(float(truth(x)), rel=1e-5)
    np.testing.assert_allclose(gradient, steps, rtol=1e-4, atol=1e-4)


def test_a_sum_of_signs_is_as_it_was() -> None:
    """Products with negative numbers carry no log: log((-2 p) (-3 p)) is finite."""
    function = lambda p: jnp.log((-2 * p) * (-3 * p))
    assert float(carried_logs.evaluate(function, jnp.asarray(0.5), jnp.log(0.5))) == pytest.approx(
        np.log(1.5), rel=1e-5
    )


def written_by_hand(p: Array) -> Array:
    return jnp.sum((A - 1) * jnp.log(p))


def from_the_package(p: Array) -> Array:
    return Dirichlet(jnp.asarray(A)).logdensity(p)


def small_gamma(p: Array) -> Array:
    return jnp.sum((0.02 - 1) * jnp.log(p) - p)


LAWS = {
    "by hand": (LogRatioSimplex(), written_by_hand, jnp.ones(3) / 3, beta(0.02, 5.3).ppf(0.5)),
    "package": (LogRatioSimplex(), from_the_package, jnp.ones(3) / 3, beta(0.02, 5.3).ppf(0.5)),
    "gamma": (LogPositive(), small_gamma, jnp.ones(1), gamma(0.02).ppf(0.5)),
}


def share_below_median(name: str, seed: int, num_draws: int) -> float:
    """Return the z-score of the share of draws below the median of the first element."""
    manifold, logdensity, start, median = LAWS[name]
    sampler = GeodesicHMC(FullGradient(Target(manifold, logdensity)), 0.7, np.array([20, 60, 120]))
    draws = sample(sampler, start, seed=seed, num_warmup=100, num_draws=num_draws, progress=False)
    below = (np.asarray(draws["posterior"]["x"])[..., 0] < median).astype(float)
    return float((below.mean() - 0.5) / np.sqrt(0.25 / ess(below)))


@pytest.mark.parametrize("name", quick(["by hand", "gamma"], "gamma"))
def test_small_concentrations(name: str) -> None:
    assert abs(share_below_median(name, 0, 400)) < 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", LAWS)
def test_small_concentrations_over_seeds(name: str, seed: int) -> None:
    assert abs(share_below_median(name, seed, 4000)) < 4


def prior(p: dict[str, Array]) -> Array:
    return jnp.sum((A - 1) * jnp.log(p["weights"])) - 0.5 * p["mean"] ** 2


def likelihood(p: dict[str, Array], row: Array) -> Array:
    return jnp.log(p["weights"][row.astype(int)])


def test_likelihoods_of_rows_and_their_gradients() -> None:
    """Every way to ask for the density of a row has finite gradients where a weight is 0 in float32."""
    manifold = Product({"weights": LogRatioSimplex(), "mean": Euclidean()})
    posterior = Posterior(manifold, prior, likelihood, jnp.asarray([0, 1, 2, 2], jnp.float32))
    x = {"weights": jnp.asarray([-200.0, 100.0, 100.0]), "mean": jnp.zeros(())}
    value, gradient = jax.value_and_grad(posterior.embedded_logdensity)(x)
    batch, _ = Minibatch(posterior, 4).estimate(jax.random.key(0), x, None)
    assert np.isfinite(value)
    np.testing.assert_allclose(gradient["weights"], batch.gradient["weights"], rtol=1e-4)
    assert float(gradient["weights"][0]) == pytest.approx(1.02, rel=1e-3)  # a - 1 + 1 row + 1 of the measure


def lost_in_a_sum(p: Array) -> Array:
    return -0.98 * jnp.log(p[0] + p[0] ** 2) - jnp.sum(p)


def test_the_door_sees_a_log_that_is_lost() -> None:
    sampler = GeodesicHMC(FullGradient(Target(LogPositive(), lost_in_a_sum)), 0.1, 2)
    settings: dict[str, Any] = {"seed": 0, "num_warmup": 0, "num_draws": 2, "num_chains": 1, "progress": False}
    with pytest.warns(OrthodromeWarning, match=r"`start\[..., 0\]` is so small.*LogPositive\(carry_logs=True\)"):
        sample(sampler, jnp.ones(1), **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrthodromeWarning)
        sample(GeodesicHMC(FullGradient(Target(LogPositive(), small_gamma)), 0.1, 2), jnp.ones(1), **settings)
