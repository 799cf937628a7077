"""Poles of a simplex on the sphere are announced where they are, and only there, with many categories too."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import OrthodromeWarning, Simplex, Target
from orthodrome.doors import warn_poles


def dirichlet(p, a):
    return jnp.sum((a - 1) * jnp.log(p))


def starts(k):
    """Even weights, and nearly all weight in one category."""
    return {"even": np.full(k, 1 / k), "peaked": np.r_[1.0, np.full(k - 1, 1e-6)]}


@pytest.mark.parametrize("start", ["even", "peaked"])
@pytest.mark.parametrize("k", [3, 1000])
@pytest.mark.parametrize("a, rest", [(0.6, 0.6), (0.55, 40.0)])
def test_no_pole_is_announced_above_one_half(start, k, a, rest):
    """With 1,000 categories, a peaked start and a concentration of .6 a pole of -.44 used to be announced."""
    p = np.float32(starts(k)[start])
    concentration = jnp.full(k, rest, jnp.float32).at[k // 2].set(a)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrthodromeWarning)
        warn_poles(Target(Simplex(), dirichlet, concentration), jnp.sqrt(p / p.sum()), adjusted=True)


@pytest.mark.parametrize("start", ["even", "peaked"])
@pytest.mark.parametrize("k", [3, 1000])
def test_a_pole_is_told_with_its_concentration(start, k):
    p = np.float32(starts(k)[start])
    target = Target(Simplex(), dirichlet, jnp.full(k, 0.39, jnp.float32))
    with pytest.warns(OrthodromeWarning, match=r"about 0\.39"):
        warn_poles(target, jnp.sqrt(p / p.sum()), adjusted=True)
