"""The rule for the trajectory length, on the one chain whose answer is known: a Gaussian turned by an angle.

From x ~ N(m, s^2) a trajectory of l steps of angle t goes to m + cos(lt) (x - m) + sin(lt) s z. Its eigenfunctions are
Hermite polynomials, so mean and standard deviation have the inefficiencies (1 + c) / (1 - c) and half of
(1 + c^2) / (1 - c^2), c = cos(lt), wherever the mean is.
"""

from __future__ import annotations

import numpy as np
import pytest

from orthodrome.samplers.trajectory_length import FACTORS, LONGEST, OVERHEAD, Curve, best, effective, stuck


def turned_gaussian(mean: float, sd: float, angle: float) -> Curve:
    """The expectations of a curve, in place of sums: d = x - reference with the given mean."""
    m, v = mean, sd**2
    powers = np.array([m, m**2 + v, m**3 + 3 * m * v, m**4 + 6 * m**2 * v + 3 * v**2])[:, None]
    c = np.cos(np.outer(FACTORS, np.arange(1, LONGEST + 1)) * angle)
    linear, square = 2 * v * (1 - c), 4 * v**2 * (1 - c**2)  # of x - m and (x - m)^2, uncorrelated
    jumps = np.stack([linear, 2 * m * linear, square + 4 * m**2 * linear], axis=2)[..., None]
    return Curve(np.zeros(1), jumps, np.ones(c.shape), powers, np.ones(()))


def inefficiency(c: np.ndarray) -> np.ndarray:
    return np.maximum((1 + c) / (1 - c + 1e-300), (1 + c**2) / (1 - c**2 + 1e-300) / 2)


@pytest.mark.parametrize("mean", [0.0, 0.7, 100.0])
def test_the_errors_of_mean_and_standard_deviation(mean: float) -> None:
    c = np.array([0.9, 0.3, 0.0, -0.3])
    v = 1.0
    linear, square = 2 * v * (1 - c), 4 * v**2 * (1 - c**2)
    jumps = np.stack([linear, 2 * mean * linear, square + 4 * mean**2 * linear], axis=1)[..., None]
    found = effective(np.array([mean]), [np.ones(1), np.zeros(1), np.full(1, 2.0)], jumps)
    np.testing.assert_allclose(found, 1 / inefficiency(c), rtol=1e-4)


@pytest.mark.parametrize("mean", [0.0, 2.0, 50.0])
def test_half_a_period_is_not_taken_for_mixing_wherever_the_mean_is(mean: float) -> None:
    """At half a period the mean is known at once and the spread never."""
    angle = np.pi / 8
    factor, lengths = best(turned_gaussian(mean, 1.0, angle))
    time = factor * angle * lengths
    assert np.pi / 4 < time.mean() < 0.85 * np.pi
    average = np.cos(time).mean(), (np.cos(time) ** 2).mean()
    mixed = max((1 + average[0]) / (1 - average[0]), (1 + average[1]) / (1 - average[1]) / 2)
    one_length = [1 / inefficiency(np.cos(f * angle * n)) / (n + OVERHEAD) for f in FACTORS for n in range(1, LONGEST)]
    assert 1 / mixed / (lengths.mean() + OVERHEAD) > 0.99 * np.max(one_length)


def test_a_coordinate_that_does_not_move_is_slow_not_undefined() -> None:
    found = effective(np.zeros(1), [np.ones(1), np.zeros(1), np.full(1, 2.0)], np.zeros((1, 3, 1)))
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
    both = Curve(*(np.concatenate([a, b], axis=-1) for a, b in zip(curve[:2], constant[:2], strict=True)),
                 curve.visits, np.concatenate([curve.powers, constant.powers], axis=-1), curve.draws)  # fmt: skip
    assert best(both)[0] == best(curve)[0] and np.array_equal(best(both)[1], best(curve)[1])
    assert np.array_equal(best(constant)[1], np.ones_like(best(constant)[1]))
