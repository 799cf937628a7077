"""Laws on frames and rotations against closed forms, an exact identity and importance sampling from the uniform law.

The identity: for X with density exp(tr F'X) on n x p frames, E[F - X sym(X'F)] = (n - (p + 1) / 2) E[X], because the
Laplacian of the coordinates of the embedding is -(n - (p + 1) / 2) X and generators have mean zero. It holds at any
concentration, where importance sampling fails. All comparisons are within 4.5 standard errors.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from orthodrome.densities import (
    MatrixBingham,
    MatrixVonMisesFisher,
    RotationVonMisesFisher,
    UniformBall,
    UniformRotation,
    UniformSimplex,
    UniformSphere,
    UniformStiefel,
)
from orthodrome.errors import BadInput
from orthodrome.special import bessel_ratio

N = 50_000


def normal_matrix(seed: int, n: int, p: int, scale: float) -> jax.Array:
    return scale * jax.random.normal(jax.random.key(seed), (n, p))


def features(x: np.ndarray) -> np.ndarray:
    """All entries and their products with the first column."""
    flat = x.reshape(len(x), -1)
    return np.concatenate([flat, (x[:, :, :1] * x[:, :1, :]).reshape(len(x), -1)], axis=-1)


def z_against_uniform(law, uniform, seed: int, drawn=None) -> float:
    """The largest difference of means between exact draws and weighted uniform ones, in standard errors."""
    x = features(np.asarray((drawn or law).sample(jax.random.key(seed), (N,)), float))
    y = uniform.sample(jax.random.key(seed + 1), (4 * N,))
    log_weight = np.asarray(law.logdensity(y), float)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    assert 1 / np.sum(weight**2) > 5000
    y = features(np.asarray(y, float))
    mean = weight @ y
    error = np.sqrt(x.var(0) / N + weight**2 @ (y - mean) ** 2)
    return float(np.abs((x.mean(0) - mean) / (error + 1e-6)).max())


@pytest.mark.slow
def test_one_column_is_von_mises_fisher() -> None:
    x = MatrixVonMisesFisher(3 * jnp.eye(6)[:, :1]).sample(jax.random.key(0), (N,))[:, 0, 0]
    assert abs(float(x.mean()) - float(bessel_ratio(2.0, 3.0))) < 4.5 * float(x.std()) / N**0.5


@pytest.mark.slow
def test_orthogonal_group_of_the_plane() -> None:
    """On O(2) the determinants have odds I_0(a + b) : I_0(a - b), and each half is a von Mises law."""
    a, b = 2.0, 0.7
    x = np.asarray(MatrixVonMisesFisher(jnp.diag(jnp.array([a, b]))).sample(jax.random.key(1), (N,)), float)
    proper = np.linalg.det(x) > 0
    share = ive(0, a + b) * math.exp(2 * b) / (ive(0, a + b) * math.exp(2 * b) + ive(0, a - b))
    assert abs(proper.mean() - share) < 4.5 * (share * (1 - share) / N) ** 0.5
    for half, kappa in [(proper, a + b), (~proper, a - b)]:
        cosine = x[half, 0, 0]
        assert abs(cosine.mean() - float(bessel_ratio(0.0, kappa))) < 4.5 * cosine.std() / half.sum() ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "scale"), [(4, 2, 1.0), (3, 3, 0.8)])
def test_matrix_von_mises_fisher_against_uniform(n: int, p: int, scale: float) -> None:
    law = MatrixVonMisesFisher(normal_matrix(2, n, p, scale))
    assert z_against_uniform(law, UniformStiefel(n, p), 3) < 4.5
    if n == 4:  # control: a law 8 % stronger
        assert z_against_uniform(law, UniformStiefel(n, p), 3, MatrixVonMisesFisher(1.08 * law.parameter)) > 4.5


def identity_z(x: np.ndarray, f: np.ndarray) -> float:
    n, p = f.shape
    inner = np.einsum("cij,ik->cjk", x, f)
    projected = f[None] - np.einsum("cij,cjk->cik", x, (inner + inner.transpose(0, 2, 1)) / 2)
    left, _, right = np.linalg.svd(f, full_matrices=False)
    gap = np.einsum("ij,cik,jk->cj", left, projected - (n - (p + 1) / 2) * x, right)  # along the singular directions
    return float(np.abs(gap.mean(0) / (gap.std(0) / len(x) ** 0.5)).max())


@pytest.mark.parametrize(
    ("n", "p", "scale"),
    [pytest.param(20, 3, 5.0, marks=pytest.mark.slow), pytest.param(20, 3, 50.0, marks=pytest.mark.slow), (3, 3, 4.0)],
)
def test_identity_at_any_concentration(n: int, p: int, scale: float) -> None:
    law = MatrixVonMisesFisher(normal_matrix(4, n, p, scale))
    x = np.asarray(law.sample(jax.random.key(5), (N,)), float)
    assert np.abs(np.einsum("cij,cik->cjk", x, x) - np.eye(p)).max() < 5e-6
    assert identity_z(x, np.asarray(law.parameter, float)) < 4.5
    assert identity_z(x, 1.05 * np.asarray(law.parameter, float)) > 4.5  # control
    assert law.acceptance_rate(jax.random.key(6)) > 0.02


def test_rotations_in_space() -> None:
    law = RotationVonMisesFisher(normal_matrix(7, 3, 3, 1.0))
    assert z_against_uniform(law, UniformRotation(3), 8) < 4.5
    x = law.sample(jax.random.key(9), (100,))
    np.testing.assert_allclose(jnp.linalg.det(x), 1, atol=1e-5)
    strong = RotationVonMisesFisher(jnp.diag(jnp.array([1e3, 5e2, -3e2])))
    assert strong.acceptance_rate(jax.random.key(10)) > 0.2


@pytest.mark.slow
def test_rotations_in_four_dimensions() -> None:
    assert z_against_uniform(RotationVonMisesFisher(normal_matrix(11, 4, 4, 0.4)), UniformRotation(4), 12) < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("right", [(1.0, 1.0), (0.8, -0.4)])
def test_matrix_bingham_against_uniform(right: tuple[float, float]) -> None:
    symmetric = normal_matrix(13, 5, 5, 0.8)
    law = MatrixBingham(symmetric + symmetric.T, jnp.diag(jnp.array(right)))
    assert z_against_uniform(law, UniformStiefel(5, 2), 14) < 4.5
    if right[0] == right[1]:  # control: a law 15 % stronger
        assert z_against_uniform(law, UniformStiefel(5, 2), 14, MatrixBingham(1.15 * law.left, law.right)) > 4.5


def test_a_hopeless_envelope_is_refused() -> None:
    law = MatrixBingham(jnp.diag(jnp.array([0.0, 1e3, 2e3])), jnp.diag(jnp.array([0.0, 1.0, 2.0])))
    with pytest.raises(BadInput, match=r"MatrixBingham: the rejection sampler accepts about"):
        law.sample(jax.random.key(15))


def test_volumes() -> None:
    """O(2) is two circles of length 2 pi sqrt(2); SO(3) has volume 8 pi^2 in the unit of angles, times 2^(3/2)."""
    np.testing.assert_allclose(UniformStiefel(2, 2).logdensity(jnp.eye(2)), -math.log(4 * math.pi * 2**0.5), rtol=1e-6)
    np.testing.assert_allclose(UniformRotation(3).logdensity(jnp.eye(3)), -math.log(8 * math.pi**2 * 2**1.5), rtol=1e-6)
    np.testing.assert_allclose(UniformSphere(3).logdensity(jnp.eye(3)), -math.log(4 * math.pi), rtol=1e-6)
    np.testing.assert_allclose(UniformSimplex(4).logdensity(jnp.full(4, 0.25)), math.log(6), rtol=1e-6)
    ball = UniformBall(3, 2.0)
    np.testing.assert_allclose(ball.logdensity(jnp.zeros(3)), -math.log(32 * math.pi / 3), rtol=1e-6)
    radius = np.linalg.norm(ball.sample(jax.random.key(16), (N,)), axis=-1)
    assert abs((radius**3 / 8).mean() - 0.5) < 4.5 * (1 / 12 / N) ** 0.5
