"""Constants of directional laws against closed forms and quadrature, in both precisions, and their slopes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from orthodrome import special
from orthodrome.densities import Bingham, BinghamVonMisesFisher

compiled = special.fisher_bingham


def turned(d: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


def on_sphere(a: np.ndarray, c: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """log constant, E x and E x^2 of exp(sum a x^2 + c'x) in three dimensions, by a product rule."""
    height, weight = np.polynomial.legendre.leggauss(600)
    turn = np.linspace(0, 2 * np.pi, 1200, endpoint=False)
    ring = np.sqrt(1 - height**2)[:, None]
    x = np.stack(np.broadcast_arrays(ring * np.cos(turn), ring * np.sin(turn), height[:, None]))
    logs = np.tensordot(a, x**2, 1) + np.tensordot(c, x, 1)
    mass = weight[:, None] * np.exp(logs - logs.max())
    share = mass / mass.sum()
    log_constant = logs.max() + np.log(mass.sum() * 2 * np.pi / turn.size)
    return log_constant, (x * share).sum((1, 2)), (x**2 * share).sum((1, 2))


def test_jacobi_is_an_eigendecomposition(x64: None) -> None:
    for d in (3, 7):
        m = turned(d, d) * np.logspace(-3, 4, d) @ turned(d, d).T
        values, vectors = jax.jit(special.jacobi)(jnp.asarray(m))
        np.testing.assert_allclose((vectors * values[None]) @ vectors.T, m, atol=1e-11)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(d), atol=1e-13)
    values, _ = jax.jit(special.jacobi)(jnp.eye(3))
    np.testing.assert_array_equal(values, 1)


@pytest.mark.parametrize("d", [3, *(pytest.param(d, marks=pytest.mark.slow) for d in (2, 20))])
def test_without_the_matrix_it_is_von_mises_fisher(d: int, x64: None) -> None:
    """The closed form, from nearly uniform to a concentration of 1e5; relative errors of rounding."""
    for kappa in (1e-3, 2.0, 1e3, 1e5):
        found = compiled(jnp.zeros((d, d)), jnp.zeros(d).at[1].set(kappa))
        expected = special.log_sphere_mgf(d / 2 - 1, kappa) + special.log_sphere_area(d)
        np.testing.assert_allclose(found.log_constant, expected, rtol=1e-14, atol=1e-13)
        np.testing.assert_allclose(found.mean[1], special.bessel_ratio(d / 2 - 1, kappa), rtol=1e-13)
        np.testing.assert_allclose(jnp.trace(found.second), 1, rtol=1e-13)


@pytest.mark.slow
def test_on_the_circle_bingham_is_a_bessel_function(x64: None) -> None:
    for gap in (0.1, 30.0, 1e5):
        found = compiled(jnp.diag(jnp.asarray([3.0, 3.0 - gap])), jnp.zeros(2))
        np.testing.assert_allclose(found.log_constant, 3 + np.log(2 * np.pi * ive(0, gap / 2)), rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1.0, 10.0, 60.0])
def test_on_the_sphere_it_is_the_quadrature(size: float) -> None:
    rng = np.random.default_rng(int(size))
    for lean in (0.0, 1.0, 4.0):
        a, c, q = rng.normal(size=3) * size, rng.normal(size=3) * size * lean, turned(3, 1)
        expected, mean, second = on_sphere(a, c)
        with jax.enable_x64(True):
            found = compiled(jnp.asarray(q @ np.diag(a) @ q.T), jnp.asarray(q @ c))
            np.testing.assert_allclose(found.log_constant, expected, rtol=1e-11, atol=1e-10)
            np.testing.assert_allclose(q.T @ found.mean, mean, atol=1e-9)
            np.testing.assert_allclose(np.diag(q.T @ found.second @ q), second, atol=1e-9)
        single = compiled(jnp.asarray(q @ np.diag(a) @ q.T, jnp.float32), jnp.asarray(q @ c, jnp.float32))
        np.testing.assert_allclose(single.log_constant, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.slow
def test_the_moments_of_the_paper_s_laws(x64: None) -> None:
    """Erratum section 5.3, found by importance sampling to about 0.002."""
    known = {
        0.0: (0.0, (0.0127, 0.0170, 0.0260, 0.0538, 0.8905)),
        40.0: (0.512, (0.275, 0.017, 0.026, 0.056, 0.626)),
        80.0: (0.918, (0.845, 0.015, 0.021, 0.035, 0.084)),
    }
    for c, (first, squares) in known.items():
        found = compiled(jnp.diag(jnp.asarray([-20.0, -10, 0, 10, 20])), jnp.zeros(5).at[0].set(c))
        np.testing.assert_allclose(found.mean[0], first, atol=0.002)
        np.testing.assert_allclose(jnp.diagonal(found.second), squares, atol=0.002)


def test_slopes_are_the_moments_and_densities_have_constants(x64: None) -> None:
    a, c = jnp.asarray(turned(3, 2) * np.array([1.0, -4, 9]) @ turned(3, 2).T), jnp.asarray([2.0, -1.0, 0.5])
    slope = jax.jit(jax.grad(special.log_fisher_bingham, (0, 1)))(a, c)
    np.testing.assert_allclose(slope[0], compiled(a, c).second, rtol=1e-12)
    step = 1e-6
    rough = special.log_fisher_bingham(a, c.at[0].add(step)) - special.log_fisher_bingham(a, c.at[0].add(-step))
    np.testing.assert_allclose(slope[1][0], rough / (2 * step), rtol=1e-7)
    np.testing.assert_allclose(BinghamVonMisesFisher(a, c).log_constant(), compiled(a, c).log_constant)
    np.testing.assert_allclose(Bingham(a).log_constant(), compiled(a, jnp.zeros(3)).log_constant)


TORUS = {
    "sine": (special.log_sine_constant, lambda u, v: np.sin(u) * np.sin(v)),
    "cosine": (special.log_cosine_constant, lambda u, v: np.cos(u - v)),
}


@pytest.mark.parametrize("name", [pytest.param("sine", marks=pytest.mark.slow), "cosine"])
def test_torus_constants_are_the_double_sums(name: str) -> None:
    """Both angles on a grid, which is exact for periodic functions; one mode and two, couplings of either sign."""
    constant, coupled = TORUS[name]
    slopes = jax.jit(jax.value_and_grad(constant, (0, 1)))
    angle = np.linspace(0, 2 * np.pi, 700, endpoint=False)
    u, v = np.meshgrid(angle, angle)
    for k1, k2, c in ((0.3, 2.0, 0.0), (5.0, 3.0, -2.0), (5.0, 5.0, 40.0), (300.0, 200.0, 150.0), (2.0, 1.0, 2.0)):
        logs = k1 * np.cos(u) + k2 * np.cos(v) + c * coupled(u, v)
        expected = logs.max() + np.log(np.sum(np.exp(logs - logs.max())) * (2 * np.pi / 700) ** 2)
        with jax.enable_x64(True):
            value, slope = slopes(jnp.asarray([k1, k2]), jnp.asarray(c))
        np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-12)
        share = np.exp(logs - expected) * (2 * np.pi / 700) ** 2
        np.testing.assert_allclose(slope[0], [np.sum(np.cos(u) * share), np.sum(np.cos(v) * share)], atol=1e-10)
        np.testing.assert_allclose(slope[1], np.sum(coupled(u, v) * share), atol=1e-10)
        single = constant(jnp.asarray([k1, k2], jnp.float32), jnp.asarray(c, jnp.float32))
        np.testing.assert_allclose(single, expected, rtol=1e-6, atol=1e-6)
