"""von Mises-Fisher, Bingham and Bingham-von Mises-Fisher draws against quadrature.

Distribution functions: 100,000 draws, p > 1e-3, which sees a shift of 1.6 % of a standard deviation; the controls shift
by 3 % and are caught. Moments: within 4 standard errors, 1.3 % of a standard deviation with 100,000 draws.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats as st

from orthodrome import random
from orthodrome.densities import Bingham, BinghamVonMisesFisher, UniformSphere, VonMisesFisher
from orthodrome.errors import BadInput
from orthodrome.special import bessel_ratio
from support.quick import slow

N = 100_000
CASES = [(2, 0.5), (3, 10.0), (100, 50.0), (1000, 1e3), (10_000, 1e5), (3, 1e6), (2, 1e6), (5, 0.0)]


logdensity = jax.jit(lambda law, x: law.logdensity(x))


def resultant(d: int, kappa: float) -> float:
    with jax.enable_x64(True):
        return float(bessel_ratio(d / 2 - 1, kappa))


def gap_distribution(d: int, kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """(1 - cos(angle), its distribution function) on a grid over the angles that matter, by quadrature."""
    angle = np.linspace(0, np.pi, 2_000_001)[1:-1]
    for _ in range(2):
        log_density = (d - 2) * np.log(np.sin(angle)) - 2 * kappa * np.sin(angle / 2) ** 2
        kept = angle[log_density > log_density.max() - 50]
        angle = np.linspace(max(kept[0] - 1e-9, 1e-12), min(kept[-1] + 1e-9, np.pi - 1e-12), 200_001)
    log_density = (d - 2) * np.log(np.sin(angle)) - 2 * kappa * np.sin(angle / 2) ** 2
    density = np.exp(log_density - log_density.max())
    total = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])])
    return 2 * np.sin(angle / 2) ** 2, total / total[-1]


@pytest.mark.parametrize(
    ("d", "kappa"), [*CASES[:2], *(slow(*case) for case in CASES[2:-3]), *CASES[-3:-1], slow(*CASES[-1])]
)
def test_cosine_against_its_distribution_function(d: int, kappa: float) -> None:
    gap = np.asarray(random.cosine_gap(jax.random.key(1), d, jnp.full((N,), kappa)), float)
    grid, distribution = gap_distribution(d, kappa)
    assert st.kstest(np.interp(gap, grid, distribution), "uniform").pvalue > 1e-3
    shifted = np.interp(gap + 0.03 * gap.std(), grid, distribution)
    assert st.kstest(shifted, "uniform").pvalue < 1e-3


@pytest.mark.parametrize(
    ("d", "kappa"), [*CASES[:2], *(pytest.param(*case, marks=pytest.mark.slow) for case in CASES[2:6])]
)
def test_von_mises_fisher_moments(d: int, kappa: float) -> None:
    """E w = A, E w^2 = 1 - (d - 1) A / kappa, and A / kappa for the square of any coordinate across the mean."""
    count = min(N, 20_000_000 // d)
    mean = UniformSphere(d).sample(jax.random.key(2))
    x = VonMisesFisher(mean, kappa).sample(jax.random.key(3), (count,))
    assert x.dtype == jnp.float32
    np.testing.assert_allclose(np.sum(np.asarray(x, float) ** 2, axis=-1), 1, atol=2e-6)
    gap = np.sum((np.asarray(x, float) - np.asarray(mean, float)) ** 2, axis=-1) / 2
    ratio = resultant(d, kappa)
    per_coordinate = ratio / kappa if kappa else 1 / d
    across = np.cross([0, 0, 1.0], np.asarray(mean)) if d == 3 else np.roll(np.asarray(mean, float), 1)
    across = across - mean * (across @ np.asarray(mean, float))
    across = across / np.linalg.norm(across)
    seen = np.asarray(x, float) @ across
    for sample, truth in [(gap, 1 - ratio), (2 * gap - gap**2, (d - 1) * per_coordinate), (seen**2, per_coordinate)]:
        assert abs(sample.mean() - truth) < 4 * sample.std() / count**0.5 + 1e-7 * (kappa < 1e4)
    assert abs(seen.mean()) < 4 * seen.std() / count**0.5


@pytest.mark.parametrize("kappa", [pytest.param(0.0, marks=pytest.mark.slow), 3.0, 1e6])
def test_von_mises_fisher_is_normalised(kappa: float) -> None:
    """In three dimensions the constant is kappa / (4 pi sinh kappa)."""
    law = VonMisesFisher(jnp.array([0.0, 0.6, 0.8]), kappa)
    log_constant = -np.log(4 * np.pi) if kappa == 0 else np.log(kappa / (2 * np.pi)) - np.log1p(-np.exp(-2 * kappa))
    np.testing.assert_allclose(logdensity(law, law.mean), log_constant, atol=1e-4)
    several = VonMisesFisher(jnp.eye(3), jnp.array([1.0, kappa, 2.0]))
    x = several.sample(jax.random.key(0), (4,))
    np.testing.assert_allclose(logdensity(several, x)[:, 1], logdensity(VonMisesFisher(jnp.eye(3)[1], kappa), x[:, 1]))


def sphere_quadrature(logdensity, power: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Points of S^2 (midpoints in height and angle, equal areas) and the weights of a law on them."""
    height = (np.arange(power) + 0.5) / power * 2 - 1
    angle = (np.arange(power) + 0.5) / power * 2 * np.pi
    z, phi = (a.ravel() for a in np.meshgrid(height, angle))
    x = np.stack([np.sqrt(1 - z**2) * np.cos(phi), np.sqrt(1 - z**2) * np.sin(phi), z], axis=-1)
    weight = np.exp(np.asarray(logdensity(jnp.asarray(x, "float32")), float))
    return x, weight / weight.sum()


def z_scores(law, seed: int) -> np.ndarray:
    """Means and second moments of draws against quadrature, in standard errors."""
    x, weight = sphere_quadrature(law.logdensity)
    i, j = np.triu_indices(3)
    features = lambda y: np.concatenate([y, y[:, i] * y[:, j]], axis=-1)
    sample = features(np.asarray(law.sample(jax.random.key(seed), (N,)), float))
    return (sample.mean(0) - weight @ features(x)) / (sample.std(0) / N**0.5 + 2e-5)


MATRIX = jnp.array([[2.0, 1.0, 0.0], [1.0, -1.0, 2.0], [0.0, 2.0, 1.0]])


@pytest.mark.parametrize("law", [Bingham(MATRIX), BinghamVonMisesFisher(MATRIX, jnp.array([1.0, -2.0, 0.5]))])
def test_quadratic_laws_against_quadrature(law: Bingham) -> None:
    assert np.abs(z_scores(law, 4)).max() < 4.5


def test_the_quadrature_sees_a_law_five_per_cent_too_strong() -> None:
    right = BinghamVonMisesFisher(MATRIX, jnp.array([1.0, -2.0, 0.5]))

    class Wrong:
        logdensity = staticmethod(right.logdensity)
        sample = staticmethod(BinghamVonMisesFisher(1.05 * MATRIX, 1.05 * right.vector).sample)

    assert np.abs(z_scores(Wrong, 4)).max() > 4.5


@pytest.mark.parametrize(
    ("c1", "first", "squares"),
    [
        pytest.param(0.0, 0.0, [0.0127, 0.0170, 0.0260, 0.0538, 0.8905], marks=pytest.mark.slow),
        (40.0, 0.512, [0.275, 0.017, 0.026, 0.056, 0.626]),
        pytest.param(80.0, 0.918, [0.845, 0.015, 0.021, 0.035, 0.084], marks=pytest.mark.slow),
    ],
)
def test_the_law_of_byrne_and_girolami(c1: float, first: float, squares: list[float]) -> None:
    law = BinghamVonMisesFisher(jnp.diag(jnp.array([-20.0, -10, 0, 10, 20])), jnp.zeros(5).at[0].set(c1))
    x = np.asarray(law.sample(jax.random.key(5), (N,)), float)
    assert law.acceptance_rate(jax.random.key(6)) > 0.1
    assert abs(x[:, 0].mean() - first) < 2e-3 + 4 * x[:, 0].std() / N**0.5
    np.testing.assert_allclose((x**2).mean(0), squares, atol=4e-3)
    assert abs(x[:, 4].mean()) < 4 * x[:, 4].std() / N**0.5  # both modes


def test_compiled_draws_are_the_same() -> None:
    law = Bingham(MATRIX)
    compiled = jax.jit(lambda key: law.sample(key, (5,)))(jax.random.key(7))
    np.testing.assert_allclose(compiled, law.sample(jax.random.key(7), (5,)), atol=1e-6)
    assert jax.vmap(law.sample)(jax.random.split(jax.random.key(7), 3)).shape == (3, 3)


@pytest.mark.slow
def test_a_hopeless_envelope_is_refused() -> None:
    law = BinghamVonMisesFisher(jnp.diag(jnp.linspace(-1e6, 1e6, 30)), jnp.full((30,), 1e6))
    with pytest.raises(BadInput, match=r"accepts about .*e-.*Markov chain"):
        law.sample(jax.random.key(8))
    assert bool(jnp.isnan(jax.jit(law.sample)(jax.random.key(8))).all())  # compiled code cannot refuse
