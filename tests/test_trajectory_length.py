"""The rule for the trajectory length, on the one chain whose answer is known: a Gaussian turned by an angle.

From x ~ N(m, s^2) a trajectory of l steps of angle t goes to m + cos(lt) (x - m) + sin(lt) s z. Its eigenfunctions are
Hermite polynomials, so mean and standard deviation have the inefficiencies (1 + c) / (1 - c) and half of
(1 + c^2) / (1 - c^2), c = cos(lt), wherever the mean is.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.samplers.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.trajectory_choice import MOST_OVERHEAD, best, effective, overhead, stuck
from orthodrome.samplers.trajectory_length import FACTORS, LONGEST, Curve
from orthodrome.targets import Target

COST = 1.5


def turned(c: np.ndarray, mean: float, v: float) -> np.ndarray:
    """J of (x, x^2), the pairs along a new last axis but one."""
    linear, square = v * (1 - c), 2 * v**2 * (1 - c**2)  # of x - m and (x - m)^2, uncorrelated
    return np.stack([linear, 2 * mean * linear, square + 4 * mean**2 * linear], axis=-1)[..., None]


def moments(m: float, v: float) -> tuple[np.ndarray, np.ndarray]:
    """The means of (x, x^2), and of the products of its pairs."""
    means = np.array([m, m**2 + v])[:, None]
    return means, np.array([m**2 + v, m**3 + 3 * m * v, m**4 + 6 * m**2 * v + 3 * v**2])[:, None]


def turned_gaussian(mean: float, sd: float, angle: float) -> Curve:
    """The expectations of a curve, in place of sums: d = x - reference with the given mean."""
    c = np.cos(np.outer(FACTORS, np.arange(1, LONGEST + 1)) * angle)
    return Curve(np.zeros((1, 1)), 2 * turned(c, mean, sd**2), np.ones(c.shape), *moments(mean, sd**2), np.ones(()))


def inefficiency(c: np.ndarray) -> np.ndarray:
    return np.maximum((1 + c) / (1 - c + 1e-300), (1 + c**2) / (1 - c**2 + 1e-300) / 2)


@pytest.mark.parametrize("mean", [0.0, 0.7, 100.0])
def test_the_errors_of_mean_and_standard_deviation(mean: float) -> None:
    c = np.array([0.9, 0.3, 0.0, -0.3])
    found = effective(*moments(mean, 1.0), turned(c, mean, 1.0))
    np.testing.assert_allclose(found, 1 / inefficiency(c), rtol=1e-4)


def test_a_slow_partner_is_seen() -> None:
    """x = y + e, y an autoregression and e fresh: x alone looks as if it forgot quickly, with y it has the truth."""
    rho, noise = 0.98, 3.0
    names = ("x", "x^2", "y", "y^2")
    variance = {"x": 1 + noise, "y": 1.0}
    # of centred Gaussians: cov(x^2, y^2) = 2 cov(x, y)^2, and none between odd and even
    now = {("x", "x"): variance["x"], ("x", "y"): 1.0, ("y", "y"): 1.0}
    later = {pair: rho for pair in now}
    pairs = [(names[i], names[j]) for i, j in zip(*np.triu_indices(4), strict=True)]

    def covariance(linear: dict) -> np.ndarray:
        def entry(a: str, b: str) -> float:
            if a.endswith("2") != b.endswith("2"):
                return 0.0
            return 2 * linear[a[0], b[0]] ** 2 if a.endswith("2") else linear[a, b]

        return np.array([entry(*pair) for pair in pairs])

    means = np.array([0.0, variance["x"], 0.0, variance["y"]])
    crossed = covariance(now) + np.array([means[i] * means[j] for i, j in zip(*np.triu_indices(4), strict=True)])
    j = covariance(now) - covariance(later)
    with_partner = effective(means[:, None], crossed[:, None], j[None, :, None])
    alone = [k for k, pair in enumerate(pairs) if {p[0] for p in pair} == {"x"}]
    without = effective(means[:2, None], crossed[alone][:, None], j[alone][None, :, None])
    exact = variance["x"] / (noise + (1 + rho) / (1 - rho))
    np.testing.assert_allclose(with_partner, exact, rtol=1e-3)
    assert without[0] > 5 * exact


@pytest.mark.parametrize("mean", [0.0, 2.0, 50.0])
def test_half_a_period_is_not_taken_for_mixing_wherever_the_mean_is(mean: float) -> None:
    """At half a period the mean is known at once and the spread never."""
    angle = np.pi / 8
    factor, lengths = best(turned_gaussian(mean, 1.0, angle), COST)
    time = factor * angle * lengths
    assert np.pi / 4 < time.mean() < 0.85 * np.pi
    average = np.cos(time).mean(), (np.cos(time) ** 2).mean()
    mixed = max((1 + average[0]) / (1 - average[0]), (1 + average[1]) / (1 - average[1]) / 2)
    one_length = [1 / inefficiency(np.cos(f * angle * n)) / (n + COST) for f in FACTORS for n in range(1, LONGEST)]
    assert 1 / mixed / (lengths.mean() + COST) > 0.99 * np.max(one_length)


def test_a_coordinate_that_does_not_move_is_slow_not_undefined() -> None:
    found = effective(*moments(0.0, 1.0), np.zeros((1, 3, 1)))
    assert 0 < found[0] < 1e-5


def two_modes(local: float, angle: float) -> np.ndarray:
    """Half the squared jumps of a coordinate of variance one that turns within its modes, of variance `local`."""
    return local * (1 - np.cos(np.outer(FACTORS, np.arange(1, LONGEST + 1)) * angle))


def test_a_coordinate_with_modes_has_no_say() -> None:
    fast, modes, slow = two_modes(1.0, 0.4), two_modes(0.01, 0.4), two_modes(1.0, 0.005)
    jumps, visits = np.stack([fast, modes, slow], axis=-1), np.ones((len(FACTORS), LONGEST))
    assert stuck(np.ones(3), jumps, visits).tolist() == [False, True, False]
    assert stuck(np.ones(1), jumps[..., 1:2], visits).tolist() == [False], "somebody must decide"


def test_a_constant_coordinate_has_no_say() -> None:
    curve = turned_gaussian(0.0, 1.0, np.pi / 8)
    constant = turned_gaussian(0.0, 0.0, np.pi / 8)
    beside = lambda name: np.concatenate([getattr(curve, name), getattr(constant, name)], axis=-1)
    both = curve._replace(**{name: beside(name) for name in ("reference", "jumps", "means", "products")})
    assert best(both, COST)[0] == best(curve, COST)[0] and np.array_equal(best(both, COST)[1], best(curve, COST)[1])
    assert np.array_equal(best(constant, COST)[1], np.ones_like(best(constant, COST)[1]))


def test_what_a_transition_costs_beside_its_steps() -> None:
    """Much on three numbers; little where one step multiplies large matrices."""
    small = GeodesicHMC(FullGradient(Target(Sphere(), lambda x: 3 * x[0])), 0.1)
    matrix = jnp.ones((300, 300))
    large = GeodesicHMC(FullGradient(Target(Euclidean(), lambda x: -jnp.sum((matrix @ x) ** 2))), 0.1)
    assert overhead(small, jnp.array([1.0, 0.0, 0.0])) == MOST_OVERHEAD
    assert overhead(large, jnp.ones(300)) < 0.1
