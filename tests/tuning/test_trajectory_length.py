"""The rule for the trajectory length, on the one chain whose answer is known: a Gaussian turned by an angle.

From x ~ N(m, s^2) a trajectory of l steps of angle t goes to m + cos(lt) (x - m) + sin(lt) s z. Its eigenfunctions are
Hermite polynomials: x - m and (x - m)^2 - s^2 have the eigenvalues c and c^2, c = cos(lt), wherever the mean is.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.targets import Target
from orthodrome.tuning.trajectories import taking_turns
from orthodrome.tuning.trajectories.choice import (
    MOST_OVERHEAD,
    SPREAD_COUNTS,
    TURNS,
    best,
    candidates,
    effective,
    moments,
    overhead,
    stuck,
)
from orthodrome.tuning.trajectories.length import FACTORS, LONGEST, TrajectorySums
from support.quick import quick

COST = 1.5


def turned_gaussian(mean: float, sd: float, angle: float) -> TrajectorySums:
    """The expectations of a curve, in place of sums: d = x - reference with the given mean, the reference 0."""
    c, v = np.cos(np.outer(FACTORS, np.arange(1, LONGEST + 1)) * angle), sd**2
    linear, square = v * (1 - c), 2 * v**2 * (1 - c**2)  # J of x - m and (x - m)^2, uncorrelated
    jumps = np.stack([linear, 2 * mean * linear, square + 4 * mean**2 * linear], axis=-1)[..., None]
    m = mean
    everywhere = lambda values: np.broadcast_to(np.array(values)[:, None], (*c.shape, len(values), 1))
    products = everywhere([m**2 + v, m**3 + 3 * m * v, m**4 + 6 * m**2 * v + 3 * v**2])
    return TrajectorySums(
        np.zeros((1, 1)), 2 * jumps, np.ones(c.shape), everywhere([m, m**2 + v]), products, np.zeros(c.shape)
    )


def by_lags(eigenvalues: np.ndarray, num_lags: int = 20_000) -> float:
    """The inefficiency of an eigenfunction under kernels that take turns, lag by lag."""
    m, total = len(eigenvalues), 0.0
    for start in range(m):
        total += 1 + 2 * np.sum(np.cumprod(np.resize(np.roll(eigenvalues, -start), num_lags)))
    return total / m


def exactly(mean: float, c: np.ndarray) -> float:
    """Of the worst of x, x^2 and the standard deviation of N(mean, 1), for turns with the cosines c."""
    first, second = by_lags(c), by_lags(c**2)
    square = (4 * mean**2 * first + 2 * second) / (4 * mean**2 + 2)
    return max(first, square, second / 2 / SPREAD_COUNTS**2)


@pytest.mark.parametrize("mean", [0.0, 0.7, 100.0])
@pytest.mark.parametrize("lengths", [[1], [2], [1, 2], [2, 3, 4, 5]])
def test_the_errors_of_the_means_and_the_standard_deviation(mean: float, lengths: list[int]) -> None:
    angle = 0.3
    law, jumps, covariance, _ = moments(turned_gaussian(mean, 1.0, angle))
    found = effective(law, jumps, covariance, np.array([lengths]))[FACTORS.index(1.0), 0]
    assert found == pytest.approx(1 / exactly(mean, np.cos(angle * np.array(lengths))), rel=0.02)  # the floor


def test_kernels_that_take_turns_are_worth_more_than_a_lottery() -> None:
    """A fast and an antithetic kernel in turns, in a basis where neither is diagonal; and the lottery between them."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    values = np.array([[0.8, 0.5, -0.2], [-0.6, 0.1, 0.7]])
    p = np.stack([basis @ np.diag(v) @ basis.T for v in values])[:, None]
    c = basis[None, :, :]
    found = taking_turns.inefficiency(p, np.array([[0, 1]]), c)[0, 0]
    np.testing.assert_allclose(found, [by_lags(v) for v in values.T], rtol=1e-10)
    lottery = (1 + values.mean(axis=0)) / (1 - values.mean(axis=0))
    assert found[0] < 0.8 * lottery[0]


def test_kernels_that_do_not_commute() -> None:
    """Against the lag sums of the matrices themselves."""
    rng = np.random.default_rng(1)
    raw = rng.normal(size=(3, 1, 2, 2))
    p = 0.4 * (raw + np.swapaxes(raw, -1, -2)) / 2
    c = np.array([1.0, -0.5])
    turns = [0, 1, 2, 1]
    total = 0.0
    for start in range(4):
        at, total = c, total + c @ c
        reach = np.eye(2)
        for k in range(400):
            reach = reach @ p[turns[(start + k) % 4], 0]
            total += 2 * c @ reach @ at
    found = taking_turns.inefficiency(p, np.array([turns]), c[None, :, None])
    assert found.item() == pytest.approx(total / 4 / (c @ c), rel=1e-9)


def test_a_slow_partner_is_seen() -> None:
    """x = y + e, y an autoregression and e fresh: x alone looks as if it forgot quickly, with y it has the truth."""
    rho, noise = 0.98, 3.0
    now = np.array([[1 + noise, 1.0], [1.0, 1.0]])

    def both(linear: np.ndarray) -> np.ndarray:
        """Of (x, x^2, y, y^2): cov(x^2, y^2) = 2 cov(x, y)^2, and none between odd and even."""
        full = np.zeros((4, 4))
        full[0::2, 0::2], full[1::2, 1::2] = linear, 2 * linear**2
        return full

    covariance = both(now)
    jumps = covariance - both(rho * np.ones((2, 2)))

    def worth(keep: slice) -> float:
        p = taking_turns.kernels(jumps[keep, keep][None, None], covariance[keep, keep][None, None])
        c = taking_turns.root(covariance[keep, keep]).T @ np.eye(4)[keep, :1]
        return 1 / taking_turns.inefficiency(p, np.zeros((1, 1), int), c[None]).item()

    exact = (1 + noise) / (noise + (1 + rho) / (1 - rho))
    assert worth(slice(0, 4)) == pytest.approx(exact, rel=0.05)  # the floor
    assert worth(slice(0, 2)) > 5 * exact


@pytest.mark.parametrize("mean", quick([0.0, 2.0, 50.0], 2.0))
def test_the_best_of_the_candidates_wherever_the_mean_is(mean: float) -> None:
    """At half a period the mean is known at once and the spread never: that is not taken."""
    angle = np.pi / 8
    factor, lengths = best(turned_gaussian(mean, 1.0, angle), COST)
    score = lambda f, turns: 1 / max(exactly(mean, np.cos(f * angle * turns)), 0.2) / (turns.mean() + COST)
    short = [turns for turns in candidates() if turns.max() <= 24]
    assert score(factor, lengths) > 0.95 * max(score(f, turns) for f in FACTORS for turns in short)
    assert by_lags(np.cos(factor * angle * lengths) ** 2) < 10


def test_a_step_whose_trajectories_diverge_is_not_taken() -> None:
    """However much it would be worth; and where all diverge, the one that does so least."""
    curve = turned_gaussian(0.0, 1.0, np.pi / 8)
    chosen = FACTORS.index(best(curve, COST)[0])
    diverged = np.zeros_like(curve.visits)
    diverged[chosen] = 0.01
    assert best(curve._replace(diverged=diverged), COST)[0] != FACTORS[chosen]
    everywhere = np.full_like(diverged, 0.05)
    everywhere[chosen] = 0.04
    assert best(curve._replace(diverged=everywhere), COST)[0] == FACTORS[chosen]


def test_lengths_above_one_do_not_stand_alone() -> None:
    """They could resonate."""
    for turns in candidates():
        assert turns.shape == (TURNS,) and (turns.max() == 1 or np.unique(turns).size > 1)


def test_what_is_measured_is_never_more_than_a_kernel_can_be() -> None:
    nothing, everything = np.zeros((1, 1, 1, 2, 2)), 3 * np.eye(2)[None, None, None]
    covariance = np.eye(2)[None, None, None]
    for jumps in (nothing, everything):
        values = np.linalg.eigvalsh(taking_turns.kernels(jumps, covariance))
        assert np.all(np.abs(values) < 1)
    law, _, covariances, _ = moments(turned_gaussian(0.0, 1.0, 0.1))
    slow = effective(law, np.zeros_like(covariances), covariances, np.ones((1, TURNS), int))
    assert np.all(slow > 0) and np.all(slow < 1e-5)


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


def test_a_functional_that_is_a_constant_changes_nothing() -> None:
    """The embedded partner of a leaf that has none is 0."""
    covariance, jumps = np.diag([2.0, 0.0]), np.diag([1.0, 0.0])
    p = taking_turns.kernels(jumps[None, None], covariance[None, None])
    c = taking_turns.root(covariance).T @ np.array([[1.0], [0.0]])
    found = taking_turns.inefficiency(p, np.zeros((1, 1), int), c[None]).item()
    assert found == pytest.approx(3.0, rel=0.01)  # the eigenvalue is 1/2


def test_what_a_transition_costs_beside_its_steps() -> None:
    """Much on three numbers; little where one step multiplies large matrices."""
    small = GeodesicHMC(FullGradient(Target(Sphere(), lambda x: 3 * x[0])), 0.1)
    matrix = jnp.ones((300, 300))
    large = GeodesicHMC(FullGradient(Target(Euclidean(), lambda x: -jnp.sum((matrix @ x) ** 2))), 0.1)
    assert overhead(small, jnp.array([1.0, 0.0, 0.0])) == MOST_OVERHEAD
    assert overhead(large, jnp.ones(300)) < 0.1
