"""The reference measures: surface measure times exp(log_measure), pushed to the user's coordinates, is as promised.

With points x spread over the embedded surface, each standing for an area a(x), test functions f must satisfy

    sum over points of a(x) f(to_user(x)) exp(log_measure(x)) = integral of f over the user's space,

constants included. Monte Carlo: 300,000 points, errors of 0.2-0.6 %, accepted within 4 of them; quadrature: 1e-6.
A missing factor 2, sqrt(d) or power of |x_i| is off by 30 % and more: the controls at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy.special import gamma

from orthodrome.manifolds import (
    Ball,
    Box,
    LogPositive,
    LogRatioSimplex,
    Manifold,
    ReflectedSimplex,
    Rotation,
    Simplex,
    Sphere,
    Stiefel,
)
from support.quick import quick

POINTS = 300_000
POWERS = ((0, 0, 0), (1, 0, 0), (0, 2, 1))


def sphere_area(d: int) -> float:
    """The surface of the unit sphere in R^d."""
    return 2 * math.pi ** (d / 2) / gamma(d / 2)


def terms(manifold: Manifold, x: Array, powers: Sequence[Sequence[float]], shift: float = 0.0) -> np.ndarray:
    """prod |p_i - shift|^k_i exp(log_measure) at every point, for every k of `powers`."""
    exponents = jnp.asarray(powers, x.dtype)

    @jax.jit
    def at(one: Array) -> Array:
        user = manifold.to_user(one)
        p = jnp.exp(user) if getattr(manifold, "carry_logs", False) else jnp.abs(user - shift)
        return jnp.prod(jnp.broadcast_to(p, exponents.shape) ** exponents, axis=-1) * jnp.exp(manifold.log_measure(one))

    return np.asarray(jax.vmap(at)(x), np.float64)


def assert_means(values: np.ndarray, wanted: np.ndarray) -> None:
    """The means agree within 4 standard errors, and these are small enough to see 2.5 %."""
    mean, error = values.mean(0), values.std(0) / math.sqrt(len(values))
    assert np.all(error < 0.006 * wanted)
    np.testing.assert_array_less(np.abs(mean - wanted), 4 * error + 1e-6 * wanted)


def random_points(manifold: Manifold, shape: tuple[int, ...]) -> Array:
    return manifold.random_point(jax.random.key(0), jax.ShapeDtypeStruct((POINTS, *shape), "float32"))


def simplex_integrals(powers: Sequence[Sequence[float]]) -> np.ndarray:
    """Dirichlet's integrals, with respect to dp_1 ... dp_{d-1}."""
    return np.asarray([np.prod(gamma(np.add(k, 1))) / gamma(sum(k) + len(k)) for k in powers])


def ball_integrals(powers: Sequence[Sequence[float]], radius: float, norm: float) -> np.ndarray:
    """Dirichlet's integrals over the ball of a norm."""
    sizes = [np.add(k, 1) for k in powers]
    unit = [(2 / norm) ** len(s) * np.prod(gamma(s / norm)) / gamma(np.sum(s) / norm + 1) for s in sizes]
    return np.asarray([radius ** np.sum(s) * u for s, u in zip(sizes, unit, strict=True)])


@pytest.mark.parametrize("d", [2, 3])
def test_simplex(d: int) -> None:
    powers = [k[:d] for k in POWERS]
    values = terms(Simplex(), random_points(Simplex(), (d,)), powers)
    assert_means(sphere_area(d) * values, simplex_integrals(powers))


def test_reflected_simplex() -> None:
    manifold = ReflectedSimplex()
    values = terms(manifold, random_points(manifold, (3,)), POWERS)
    assert_means(math.sqrt(3) / 2 * values, simplex_integrals(POWERS))


@pytest.mark.parametrize(("dimension", "norm"), [(1, 2.0), (3, 2.0), (2, 1.0), (2, 3.0)])
def test_ball(dimension: int, norm: float) -> None:
    manifold, powers = Ball(radius=1.5, center=0.7, norm=norm), [k[:dimension] for k in POWERS]
    values = terms(manifold, random_points(manifold, (dimension,)), powers, shift=0.7)
    assert_means(sphere_area(dimension + 1) * values, ball_integrals(powers, 1.5, norm))


def test_box() -> None:
    manifold, upper = Box(0.0, jnp.asarray([2.0, 3.0, 0.5])), np.asarray([2.0, 3.0, 0.5])
    values = terms(manifold, random_points(manifold, (3,)), POWERS)
    assert_means(
        (2 * math.pi) ** 3 * values, np.asarray([np.prod(upper ** np.add(k, 1) / np.add(k, 1)) for k in POWERS])
    )


def plane_grid(d: int) -> tuple[Array, float]:
    """A grid on the plane sum x = 0 of R^d, and the area of a cell."""
    axes = np.linalg.svd(np.ones((1, d)))[2][1:]
    ticks, spacing = np.linspace(-25, 25, 401, retstep=True)
    coordinates = np.stack(np.meshgrid(*[ticks] * (d - 1)), axis=-1).reshape(-1, d - 1)
    return jnp.asarray(coordinates @ axes), float(spacing) ** (d - 1)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("carry_logs", [False, True])
def test_log_ratio(d: int, carry_logs: bool, x64: None) -> None:
    x, cell = plane_grid(d)
    powers = [k[:d] for k in POWERS]
    sums = cell * terms(LogRatioSimplex(carry_logs=carry_logs), x, powers).sum(0)
    np.testing.assert_allclose(sums, simplex_integrals(powers), rtol=1e-6)


@pytest.mark.parametrize("carry_logs", [False, True])
def test_log_positive(carry_logs: bool, x64: None) -> None:
    x, spacing = np.linspace(-40, 5, 4001, retstep=True)
    powers = terms(LogPositive(carry_logs=carry_logs), jnp.asarray(x)[:, None], ((0.0,), (1.0,), (2.5,)))
    sums = spacing * np.sum(powers * np.exp(-np.exp(x))[:, None], axis=0)
    np.testing.assert_allclose(sums, gamma(np.asarray([1.0, 2.0, 3.5])), rtol=1e-6)


def assert_moments(values: Array, wanted: Sequence[float]) -> None:
    values = np.asarray(values, np.float64)
    error = values.std(0) / math.sqrt(len(values))
    assert np.all(error < 0.006)
    np.testing.assert_array_less(np.abs(values.mean(0) - np.asarray(wanted)), 4 * error + 1e-6)


def test_random_unit_vectors_are_uniform() -> None:
    x = random_points(Sphere(), (3,))
    moments = [x[:, 0], x[:, 1] ** 2, x[:, 0] * x[:, 1], x[:, 2] ** 4, x[:, 0] ** 2 * x[:, 1] ** 2]
    assert_moments(jnp.stack(moments, 1), [0, 1 / 3, 0, 1 / 5, 1 / 15])


def test_random_frames_are_uniform() -> None:
    x = random_points(Stiefel(), (3, 2))[: POINTS // 2]
    minor = x[:, 0, 0] * x[:, 1, 1] * x[:, 0, 1] * x[:, 1, 0]
    moments = [x[:, 0, 0], x[:, 2, 1] ** 2, x[:, 1, 0] ** 4, minor]
    assert_moments(jnp.stack(moments, 1), [0, 1 / 3, 1 / 5, -1 / 30])


@pytest.mark.parametrize("special", quick([True, False], True))
def test_random_rotations_are_uniform_in_their_component(special: bool) -> None:
    """E (trace)^3 is 1 on SO(3) and 0 on O(3)."""
    trace = jnp.trace(random_points(Rotation(special=special), (3, 3)), axis1=1, axis2=2)
    with_sign = [0, 1, 1 if special else 0]
    values = np.stack([trace, trace**2, trace**3], 1).astype(np.float64)
    error = values.std(0) / math.sqrt(len(values))
    np.testing.assert_array_less(np.abs(values.mean(0) - with_sign), 4 * error)


class UnsharedSimplex(Simplex):
    """Forgets that all orthants stand for the simplex."""

    def log_measure(self, x: Array) -> Array:
        return super().log_measure(x) + x.size // x.shape[-1] * math.log(2)


class UnscaledLogRatio(LogRatioSimplex):
    """Takes the plane's surface measure for dx_1 ... dx_{d-1}."""

    def log_measure(self, x: Array) -> Array:
        return super().log_measure(x) - 0.5 * math.log(x.shape[-1])


class FlatBall(Ball):
    """Forgets to bend the ball of a norm."""

    def log_measure(self, x: Array) -> Array:
        return super().log_measure(x) - (2 / self.norm - 1) * jnp.sum(jnp.log(jnp.abs(x[..., :-1])))


def test_wrong_measures_are_caught(x64: None) -> None:
    x = random_points(Simplex(), (3,))
    with pytest.raises(AssertionError):
        assert_means(sphere_area(3) * terms(UnsharedSimplex(), x, POWERS), simplex_integrals(POWERS))
    with pytest.raises(AssertionError):
        powers = [k[:2] for k in POWERS]
        assert_means(sphere_area(3) * terms(FlatBall(norm=1.0), x, powers), ball_integrals(powers, 1.0, 1.0))
    grid, cell = plane_grid(3)
    with pytest.raises(AssertionError):
        sums = cell * terms(UnscaledLogRatio(), grid, POWERS).sum(0)
        np.testing.assert_allclose(sums, simplex_integrals(POWERS), rtol=1e-6)
