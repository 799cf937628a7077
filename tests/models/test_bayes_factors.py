"""Bayes factors of directional laws against the uniform one, against exact integrals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

from orthodrome import Directional, Dirichlet, Euclidean, LogPositive, LogRatioSimplex, Product, Sphere, Target
from orthodrome.densities import VonMisesFisher
from orthodrome.models.directional.evidence import _log_prior_constant, log_marginal


def log_mgf(k):
    """log(sinh k / k)."""
    return k + np.log(-np.expm1(-2 * k) / 2) - np.log(k)


@pytest.mark.slow
@pytest.mark.parametrize("pull", [0.0, 1.0])
def test_von_mises_fisher_against_quadrature(pull):
    """The mean integrates out: one integral over the concentration is left, in three dimensions."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 3)) + np.array([0, pull, pull])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    scale, length = 20.0, np.linalg.norm(x.sum(0))
    inside = lambda k: np.exp(log_mgf(k * length) - 40 * log_mgf(k) - k / scale) / scale
    truth = np.log(quad(inside, 1e-9, 200, points=[1, 5], limit=500)[0])
    found = Directional(scale=scale, num_warmup=300, num_draws=1000).fit(x).bayes_factor()
    assert found.error < 0.1
    assert abs(found.log_bayes_factor - truth) < 4 * found.error + 0.03
    assert (truth > 3) == (pull > 0)


def log_law(p):
    """Von Mises-Fisher x Gamma(3) x two normals x Dirichlet(2, 3, 4), every one normalised."""
    mean = jnp.array([0.0, 0.6, 0.8])
    direction = VonMisesFisher(mean, 6.0).logdensity(p["direction"])
    positive = 2 * jnp.log(p["positive"]) - p["positive"] - gammaln(3.0)
    flat = -jnp.sum(p["flat"] ** 2) / 2 - jnp.log(2 * jnp.pi)
    return direction + positive + flat + Dirichlet(jnp.array([2.0, 3.0, 4.0])).logdensity(p["weight"])


def test_charts_and_bridge_on_every_kind_of_parameter():
    """A normalised law has log Z = 0, here from exact draws on a product of four spaces."""
    factors = {"direction": Sphere(), "positive": LogPositive(), "flat": Euclidean(), "weight": LogRatioSimplex()}
    with jax.enable_x64(True):
        k = jax.random.split(jax.random.key(0), 4)
        draws = {
            "direction": VonMisesFisher(jnp.array([0.0, 0.6, 0.8]), 6.0).sample(k[0], (4000,)),
            "positive": jax.random.gamma(k[1], 3.0, (4000,)),
            "flat": jax.random.normal(k[2], (4000, 2)),
            "weight": Dirichlet(jnp.array([2.0, 3.0, 4.0])).sample(k[3], (4000,)),
        }
        draws = {name: np.asarray(value) for name, value in draws.items()}
        value, error = log_marginal(Target(Product(factors), log_law), draws, 7.0, 1.5, 0)
    constants = sum(_log_prior_constant(factors[name], draws[name][0], 7.0, 1.5) for name in factors)
    assert error < 0.03
    assert abs(value - constants) < 4 * error
