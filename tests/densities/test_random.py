"""The vectorised generators against exact distribution functions, with 100,000 draws each.

A Kolmogorov-Smirnov test at p = 1e-3 sees a distance of 0.0062 between distribution functions, about 1.6 % of a
standard deviation in location; the controls shift the draws by 3 % of theirs and must be caught.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats as st

from orthodrome import random
from support.quick import quick

N = 100_000


def draws(function, seed: int, *parameters: float) -> np.ndarray:
    arrays = [jnp.full((N,), p) for p in parameters]
    return np.asarray(jax.jit(function)(jax.random.key(seed), *arrays), float)


def p_value(x: np.ndarray, law) -> float:
    return st.kstest(x, law.cdf).pvalue


@pytest.mark.parametrize("shape", quick([0.05, 0.3, 1.0, 5.0, 1e3, 1e6], 0.05, 5.0))
def test_gamma(shape: float) -> None:
    x = draws(random.log_gamma, 1, shape)
    law = st.gamma(shape)
    assert p_value(np.exp(x), law) > 1e-3
    assert p_value(np.exp(x) + 0.03 * law.std(), law) < 1e-3


def test_gamma_of_tiny_shape_is_finite_in_the_log() -> None:
    x = draws(random.log_gamma, 2, 1e-4)
    assert np.isfinite(x).all()
    assert (np.exp(x.astype(np.float32)) == 0).mean() > 0.98  # why the draws are logs
    assert st.kstest(np.exp(1e-4 * x), "uniform").pvalue > 1e-3  # G(s)^s is uniform up to O(s)


@pytest.mark.parametrize("rate", quick([0.1, 3.0, 9.9, 10.0, 30.0, 1e3], 9.9, 10.0))
def test_poisson(rate: float) -> None:
    x = draws(random.poisson, 3, rate)
    assert chi_square_p_value(x, rate) > 1e-3
    assert chi_square_p_value(draws(random.poisson, 3, rate + 0.03 * rate**0.5), rate) < 1e-3


def chi_square_p_value(x: np.ndarray, rate: float) -> float:
    counts = np.bincount(x.astype(int))
    expected = N * st.poisson(rate).pmf(np.arange(counts.size))
    usual = expected > 20
    return st.chi2.sf(np.sum((counts - expected)[usual] ** 2 / expected[usual]), usual.sum() - 1)


@pytest.mark.parametrize("rate", [1e6, 1e8])
def test_poisson_at_huge_rates(rate: float) -> None:
    """Mean and variance to 4 standard errors: 1.3 % and 1.8 % of the exact standard deviation and variance."""
    z = (draws(random.poisson, 4, rate) - rate) / rate**0.5
    assert abs(z.mean()) < 4 / N**0.5
    assert abs(z.var() - 1) < 4 * (2 / N) ** 0.5


@pytest.mark.parametrize(("degrees", "noncentrality"), [(0.2, 3.0), (2.0, 0.0), (5.0, 400.0)])
def test_noncentral_chisquare(degrees: float, noncentrality: float) -> None:
    x = np.exp(draws(random.log_noncentral_chisquare, 5, degrees, noncentrality))
    law = st.ncx2(degrees, noncentrality) if noncentrality else st.chi2(degrees)
    assert p_value(x, law) > 1e-3
    assert p_value(x + 0.03 * law.std(), law) < 1e-3


def test_orientation_is_the_determinant() -> None:
    q = random.frame(jax.random.key(7), (1000, 4, 4), "float32").at[0].set(jnp.eye(4)).at[1].set(-jnp.eye(4))
    np.testing.assert_array_equal(random.orientation(q), np.round(np.linalg.det(np.asarray(q))))


def test_frames_need_the_sign_of_the_diagonal() -> None:
    q = random.frame(jax.random.key(6), (N, 4, 2), "float32")
    np.testing.assert_allclose(jnp.einsum("cij,cik->cjk", q, q), np.broadcast_to(np.eye(2), (N, 2, 2)), atol=1e-6)
    first = st.beta(0.5, 1.5)  # a squared coordinate of a uniform unit vector in R^4
    for entry in (q[:, 0, 0], q[:, 3, 1]):
        assert p_value(np.asarray(entry, float) ** 2, first) > 1e-3
        assert abs(float(entry.mean())) < 4 * 0.5 / N**0.5
    plain = jnp.linalg.qr(jax.random.normal(jax.random.key(6), (2000, 4, 2)))[0]
    assert abs(float(plain[:, 0, 0].mean())) > 0.1
