"""Units of a random walk where its draws cannot tell them: scales that differ by many orders of magnitude."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome import Euclidean, Product, RandomWalk, Sphere, Target, sample
from orthodrome.tuning import probing

SETTINGS: dict[str, Any] = {"seed": 0, "num_warmup": 400, "num_draws": 2000, "progress": False}


def two_leaves(p: dict[str, Array]) -> Array:
    return -0.5 * (p["narrow"] / 1e-6) ** 2 - 0.5 * (p["wide"] / 1e6) ** 2


def three_elements(x: Array) -> Array:
    return -0.5 * jnp.sum((x / jnp.asarray([1e-6, 1.0, 1e6])) ** 2)


def test_leaves_of_very_different_scale_both_move() -> None:
    """Variances within 25 % (effective draws: some 800); without the probe that of `wide` is 1e-13 of the true one."""
    target = Target(Product({"narrow": Euclidean(), "wide": Euclidean()}), two_leaves)
    draws = sample(RandomWalk(target), {"narrow": jnp.zeros(()), "wide": jnp.zeros(())}, **SETTINGS)["posterior"]
    for name, sd in (("narrow", 1e-6), ("wide", 1e6)):
        assert float(np.var(np.asarray(draws[name], float))) == pytest.approx(sd**2, rel=0.25)


def test_elements_of_one_leaf_too() -> None:
    draws = sample(RandomWalk(Target(Euclidean(), three_elements)), jnp.zeros(3), **SETTINGS)["posterior"]["x"]
    np.testing.assert_allclose(np.asarray(draws, float).var((0, 1)) / np.array([1e-12, 1, 1e12]), 1, rtol=0.3)


def corrected(manifold: Any, logdensity: Any, x: Any, units: Any) -> Any:
    height = Target(manifold, logdensity).embedded_logdensity
    return jax.jit(lambda x, u: probing.corrected(manifold, height, x, u, lambda a: a))(x, units)


def test_units_that_are_near_are_left_to_the_draws() -> None:
    units = jnp.asarray([1e-6, 1.0, 1e6]) * jnp.asarray([10.0, 0.1, 1.0])
    np.testing.assert_array_equal(corrected(Euclidean(), three_elements, jnp.zeros(3), units), units)


def test_far_units_become_those_of_the_density() -> None:
    found = corrected(Euclidean(), three_elements, jnp.zeros(3), jnp.ones(3))
    np.testing.assert_allclose(found, [1.35e-6, 1, 1.35e6], rtol=0.1)


def concentrated(x: Array) -> Array:
    return 1e6 * x[0]


def flat_density(x: Array) -> Array:
    return 0.0 * x[0]


def test_curved_leaves_and_a_density_that_says_nothing() -> None:
    x = jnp.asarray([1.0, 0.0, 0.0])
    assert 3e-4 < float(corrected(Sphere(), concentrated, x, jnp.ones(()))) < 3e-3
    np.testing.assert_array_equal(corrected(Euclidean(), flat_density, x, jnp.ones(3)), jnp.ones(3))
