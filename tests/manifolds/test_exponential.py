"""Exponentials of small matrices: against SciPy's, and of a trajectory that has overflowed."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from orthodrome import Stiefel
from orthodrome.manifolds.exponential import exponential, number_of_squarings


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.3, 3.0, 20.0])
def test_is_the_exponential(size: float) -> None:
    a = np.random.default_rng(0).normal(size=(4, 4))
    a = size * (a - a.T) / np.linalg.norm(a - a.T, 2)
    found = exponential(jnp.asarray(a, jnp.float32), jnp.asarray(size, jnp.float32))
    np.testing.assert_allclose(found, scipy.linalg.expm(a), atol=3e-6 * max(1, size))


@pytest.mark.parametrize("bound", [1.0, 1e30, 3e38, np.inf, np.nan])
def test_squarings_are_few_whatever_the_bound(bound: float) -> None:
    # an infinite bound was once taken for 2^31 squarings: a chain that diverged held all others up for minutes
    count = int(number_of_squarings(jnp.asarray([0.0, bound], jnp.float32), jnp.float32))
    assert 0 <= count <= 140


def test_a_frame_of_infinite_speed_has_an_end() -> None:
    x = jnp.eye(5, 2)
    end, _ = Stiefel().geodesic(x, 1e30 * jnp.ones((5, 2)), 1.0)
    assert not np.all(np.isfinite(end))
