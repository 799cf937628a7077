"""Truncated normals where standard units cancel: intervals far narrower than the law, and far from its mean."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from orthodrome.densities import HalfspaceTruncatedNormal, TruncatedNormal
from support.quick import slow

SINGLE = [
    # mean, scale, lower, upper, exact distribution function in float64
    (0.0, 1e6, -1.0, 1.0, lambda x: (x + 1) / 2),
    (0.0, 1e6, 0.0, 1.0, lambda x: x),
    (-3e6, 1e6, 0.0, 1.0, lambda x: x),
    (3e6, 1e6, -1.0, 0.0, lambda x: x + 1),
    (-1e4, 1.0, 0.0, np.inf, lambda x: -np.expm1(-1e4 * x - x * x / 2)),
    (1e4, 1.0, -np.inf, 0.0, lambda x: np.exp(1e4 * x - x * x / 2)),
]
QUICK = [case if i % 2 == 0 else slow(*case) for i, case in enumerate(SINGLE)]
"""The second of each pair is like the first, or its mirror image."""


@pytest.mark.parametrize("mean, scale, lower, upper, cdf", QUICK)
def test_single_precision_draws_have_the_law_and_few_ties(mean, scale, lower, upper, cdf):
    """The old draws of the first law took 25 values and those of the fifth 2; the law is exact to 1e-3 or better."""
    law = TruncatedNormal(jnp.float32(mean), scale, lower, upper)
    x = np.asarray(law.sample(jax.random.key(3), (20_000,)), float)
    assert len(np.unique(x)) > 19_000
    assert np.all((x >= lower) & (x <= upper))
    assert kstest(x, cdf).pvalue > 1e-3


@pytest.mark.parametrize("mean, scale, lower, upper, cdf", QUICK)
def test_single_precision_log_density_is_normalised(mean, scale, lower, upper, cdf):
    """The density is the slope of the distribution function, at points where that is not tiny."""
    law = TruncatedNormal(jnp.float32(mean), scale, lower, upper)
    low, high = max(lower, -3e-4), min(upper, 3e-4)
    x = np.float32(np.linspace(low, high, 9))[1:-1].astype(float)
    h = 1e-7
    slope = (cdf(x + h) - cdf(x - h)) / (2 * h)
    np.testing.assert_allclose(law.logdensity(jnp.asarray(x, jnp.float32)), np.log(slope), atol=2e-4)


def test_double_precision_interval_agrees_with_quadrature():
    """Far, narrow, wide and straddling intervals: the constant against the exact one in 40 digits."""
    mp = pytest.importorskip("mpmath")
    cases = [
        (-2.0, 3.0),
        (-1e-3, 2e-3),
        (1.0, 1.0 + 1e-6),
        (5.0, 9.0),
        (-9.0, -8.5),
        (0.0, 0.7),
        (-40.0, 1.0),
        (20.0, 21.0),
    ]
    with jax.enable_x64(True), mp.workdps(40):
        ends = jnp.asarray(cases)
        found = np.asarray(TruncatedNormal(jnp.zeros(len(cases)), 1.0, ends[:, 0], ends[:, 1]).logdensity(ends[:, 0]))
        for (lower, upper), got in zip(cases, found, strict=True):
            a, b = mp.mpf(lower), mp.mpf(upper)
            mass = (mp.erfc(a / mp.sqrt(2)) - mp.erfc(b / mp.sqrt(2))) / 2
            exact = -a * a / 2 - mp.log(2 * mp.pi) / 2 - mp.log(mass)
            assert abs(got - float(exact)) < 2e-12 * max(1, abs(got)), (lower, upper)


def test_half_space_far_from_the_mean():
    """A plane 1e4 standard deviations away: the height above it is exponential with the mean 1e-4, in float32."""
    law = HalfspaceTruncatedNormal(jnp.array([-1e4, 2.0]), 1.0, jnp.array([1.0, 0.0]), 0.0)
    x = np.asarray(law.sample(jax.random.key(5), (20_000,)), float)
    assert len(np.unique(x[:, 0])) > 19_000
    assert kstest(x[:, 0], lambda h: -np.expm1(-1e4 * h)).pvalue > 1e-3
    assert kstest(x[:, 1], norm(2.0, 1.0).cdf).pvalue > 1e-3
    expected = np.log(1e4) - 1.0 - np.log(2 * np.pi) / 2 - 0.5
    np.testing.assert_allclose(law.logdensity(jnp.array([1e-4, 3.0])), expected, atol=1e-3)
