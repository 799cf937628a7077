"""Tests of uniformity: the right size in small samples, power where they should have it, and exact by simulation."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn

from orthodrome import BadInput
from orthodrome.models.directional.uniformity import bingham_test, rayleigh_test
from support.quick import quick

SETS = 4000


def uniform(rng, n, d):
    x = rng.normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("test", [rayleigh_test, bingham_test])
@pytest.mark.parametrize("d", quick([2, 3, 5], 3))
def test_the_size_is_right_in_small_samples(test, d):
    """20 rows: 5 % of p-values are below .05, to 1 %, where the uncorrected statistics are off by more at d = 5."""
    rng = np.random.default_rng(d)
    p = np.array([test(uniform(rng, 20, d)).p_value for _ in range(SETS)])
    for level in (0.05, 0.5):
        assert abs(np.mean(p < level) - level) < 4 * np.sqrt(level * (1 - level) / SETS)


def test_directions_and_axes_are_told_apart():
    rng = np.random.default_rng(0)
    x = uniform(rng, 60, 3) + np.array([0, 0, 1.0])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    axes = x * rng.choice([-1, 1], size=(60, 1))
    assert rayleigh_test(x).p_value < 1e-4 < 0.01 < rayleigh_test(axes).p_value
    assert bingham_test(axes).p_value < 1e-3
    assert rayleigh_test(axes).degrees == 3 and bingham_test(axes).degrees == 5


def test_rotations():
    rng = np.random.default_rng(1)
    p = [rayleigh_test(Turn.random(60, rng=rng).as_matrix()).p_value for _ in range(1000)]
    assert abs(np.mean(np.array(p) < 0.1) - 0.1) < 0.04
    near = Turn.from_rotvec(0.8 * rng.normal(size=(60, 3))).as_matrix()
    found = rayleigh_test(near)
    assert found.p_value < 1e-6 and found.degrees == 9
    with pytest.raises(BadInput, match="row 3 has determinant -1"):
        rayleigh_test(np.where(np.arange(60)[:, None, None] == 3, -near, near))
    with pytest.raises(BadInput, match="not a rotation"):
        rayleigh_test(near * 1.1)


def test_p_values_by_simulation_agree():
    x = uniform(np.random.default_rng(2), 15, 3)
    for test in (rayleigh_test, bingham_test):
        simulated = test(x, num_simulations=4000).p_value
        assert abs(simulated - test(x).p_value) < 0.04
