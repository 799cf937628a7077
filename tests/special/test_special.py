"""Bessel functions and the probit's pieces against mpmath (power series and Hankel's expansion at 40 digits).

The tolerance is the promise itself: 1e-10 max(1, |log I|) for the log, 1e-10 relative for the ratio and its slope. The
control is a Debye expansion with two terms at the order itself, the recipe usually given, which fails at small orders.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from orthodrome import special
from support.quick import quick

# Compiled whole: called as they are, every one of their operations is compiled by itself.
log_bessel_i, log_bessel_ie, bessel_ratio, log_sphere_mgf = map(
    jax.jit, (special.log_bessel_i, special.log_bessel_ie, special.bessel_ratio, special.log_sphere_mgf)
)

ORDERS = [0, 0.5, 1, 3, 7.25, 20.5, 99, 2499, 1e4, 1e5]
ARGUMENTS = [1e-8, 1e-3, 0.3, 1, 5.6, 30, 100, 1e3, 6.63e3]
FAR = [(0, 1e5), (0, 1e8), (0.5, 1e8), (49, 1e6), (499, 1e8), (1e4, 1e8), (1e5, 6.62743e4), (99999.5, 3e4)]
GRID = [(nu, x) for nu in ORDERS for x in ARGUMENTS] + FAR


def exact_log_bessel(order: float, x: float) -> mp.mpf:
    """log I by the power series, or by Hankel's expansion where its terms fall below 1e-30."""
    nu, x = mp.mpf(order), mp.mpf(x)
    hankel = x > 2000 + nu**2 / 20
    term, total, k = mp.mpf(1), mp.mpf(1), 0
    while k < 10 or abs(term) > total * mp.mpf(10) ** -28:
        k += 1
        term *= ((2 * k - 1) ** 2 - 4 * nu**2) / (8 * k * x) if hankel else (x * x / 4) / (k * (nu + k))
        total += term
    leading = x - mp.log(2 * mp.pi * x) / 2 if hankel else nu * mp.log(x / 2) - mp.loggamma(nu + 1)
    return leading + mp.log(total)


@pytest.fixture(scope="module")
def exact() -> dict[str, np.ndarray]:
    """log I_nu, the ratio, and the slope 1 - A^2 - (2 nu + 1) A / x, rounded to float64 only at the end."""
    with mp.workdps(40):
        logs = [exact_log_bessel(*p) for p in GRID]
        ratios = [mp.exp(exact_log_bessel(nu + 1, x) - value) for (nu, x), value in zip(GRID, logs, strict=True)]
        slopes = [1 - a**2 - (2 * mp.mpf(nu) + 1) / mp.mpf(x) * a for (nu, x), a in zip(GRID, ratios, strict=True)]
        return {name: np.array(v, float) for name, v in {"log": logs, "ratio": ratios, "slope": slopes}.items()}


def columns(dtype: str) -> tuple[jax.Array, jax.Array]:
    return jnp.array([p[0] for p in GRID], dtype), jnp.array([p[1] for p in GRID], dtype)


def log_error(got: jax.Array, truth: np.ndarray) -> float:
    return float(np.max(np.abs(np.asarray(got, float) - truth) / np.maximum(1, np.abs(truth))))


def relative_error(got: jax.Array, truth: np.ndarray) -> float:
    return float(np.max(np.abs(np.asarray(got, float) / truth - 1)))


def test_float64_meets_the_promise(exact: dict[str, np.ndarray]) -> None:
    with jax.enable_x64(True):
        order, x = columns("float64")
        assert log_error(log_bessel_i(order, x), exact["log"]) < 1e-10
        assert log_error(log_bessel_ie(order, x) + x, exact["log"]) < 1e-10
        assert relative_error(bessel_ratio(order, x), exact["ratio"]) < 1e-12
        slope = jax.jit(jax.vmap(jax.grad(bessel_ratio, argnums=1)))(order, x)
        assert relative_error(slope, exact["slope"]) < 1e-10


def test_float32_is_good_to_a_few_roundings(exact: dict[str, np.ndarray]) -> None:
    order, x = columns("float32")
    got = log_bessel_i(order, x)
    assert got.dtype == jnp.float32
    with mp.workdps(40):
        truth = np.array([float(exact_log_bessel(float(n), float(a))) for n, a in zip(order, x, strict=True)])
    scale = np.maximum(np.maximum(1, np.asarray(order)), np.abs(truth))  # one rounding of x moves log I by order x 6e-8
    assert np.max(np.abs(np.asarray(got, float) - truth) / scale) < 1e-6
    assert relative_error(bessel_ratio(order, x), exact["ratio"]) < 1e-6


def test_the_two_term_expansion_fails_at_small_orders(exact: dict[str, np.ndarray]) -> None:
    errors = []
    for (nu, x), truth in zip(GRID, exact["log"], strict=True):
        if nu > 0:
            s = math.hypot(1, x / nu)
            t = 1 / s
            u = (3 * t - 5 * t**3) / 24 / nu + (81 * t**2 - 462 * t**4 + 385 * t**6) / 1152 / nu**2
            value = nu * (s + math.log(x / nu / (1 + s))) - math.log(2 * math.pi * nu * s) / 2 + math.log1p(u)
            errors.append(abs(value - truth) / max(1, abs(truth)))
    assert max(errors) > 1e-5


def test_published_values() -> None:
    with jax.enable_x64(True):
        logs = log_bessel_i(jnp.array([2499.0, 2499, 1499]), jnp.array([1e4, 3e4, 6e3]))
        np.testing.assert_allclose(logs, [9683.806085957, 29889.901570854, 5808.422317494], rtol=0, atol=2e-9)
        np.testing.assert_allclose(bessel_ratio(2499, jnp.array([1e4, 3e4])), [0.7808051, 0.9201469], atol=5e-8)
        constant = 2499 * math.log(3e4) - 2500 * math.log(2 * math.pi) - log_bessel_i(2499, 3e4)
        np.testing.assert_allclose(constant, -8722.52, atol=5e-3)


def test_derivatives_and_the_limit_at_zero() -> None:
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(log_bessel_i, argnums=1))(3.5, 2.0)
        np.testing.assert_allclose(slope, bessel_ratio(3.5, 2.0) + 3.5 / 2.0, rtol=1e-14)
        second = jax.jit(jax.grad(jax.grad(log_sphere_mgf, argnums=1), argnums=1))
        np.testing.assert_allclose(second(2.0, 0.0), 1 / 6, rtol=1e-14)  # 1 / d, the variance of u_1
        assert log_sphere_mgf(2.0, 0.0) == 0
        np.testing.assert_allclose(log_sphere_mgf(-0.5, 3.0), math.log(math.cosh(3.0)), rtol=1e-14)
        np.testing.assert_allclose(log_sphere_mgf(0.5, 3.0), math.log(math.sinh(3.0) / 3), rtol=1e-14)
    with pytest.raises(NotImplementedError, match="order"):
        jax.grad(log_bessel_i, argnums=0)(1.0, 1.0)


@pytest.mark.parametrize("dtype", quick(["float32", "float64"], "float32"))
def test_probit_pieces(dtype: str) -> None:
    with jax.enable_x64(dtype == "float64"):
        x = jnp.array([-3e4, -200.0, -20, -5, -3.01, -2.99, -1, 0, 1, 6], dtype)
        with mp.workdps(40):
            points = [mp.mpf(float(v)) for v in x]
            logs = [mp.log(mp.erfc(-v / mp.sqrt(2)) / 2) for v in points]
            hazards = [mp.exp(-v * v / 2 - value) / mp.sqrt(2 * mp.pi) for v, value in zip(points, logs, strict=True)]
            slopes = [-h * (h + v) for h, v in zip(hazards, points, strict=True)]
        tolerance = 3e-6 if dtype == "float32" else 3e-14
        np.testing.assert_allclose(special.log_normal_cdf(x), np.array(logs, float), rtol=tolerance)
        np.testing.assert_allclose(special.normal_hazard(x), np.array(hazards, float), rtol=tolerance)
        np.testing.assert_allclose(
            jax.jit(jax.vmap(jax.grad(special.log_normal_cdf)))(x), np.array(hazards, float), rtol=tolerance
        )
        np.testing.assert_allclose(
            jax.jit(jax.vmap(jax.grad(special.normal_hazard)))(x), np.array(slopes, float), rtol=3 * tolerance
        )
