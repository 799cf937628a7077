"""`check_sde` judges every coordinate and point on its own scale, looks at D, and says what was passed instead."""

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import BadInput, check_recipe, check_sde
from orthodrome.recipe import Recipe
from support.quick import slow

POINTS = np.random.default_rng(0).normal(size=(20, 3))


def normal(scales):
    return lambda z: -jnp.sum((z / jnp.asarray(scales)) ** 2) / 2


def constant(matrix):
    return lambda z: jnp.asarray(matrix, z.dtype)


def eye(z):
    return jnp.eye(z.size, dtype=z.dtype)


def test_a_tiny_coordinate_hides_nothing():
    """A scale of 3e-4 beside a doubled drift: the residual used to be 1e-7 and the verdict "stationary"."""
    scales = np.array([3e-4, 1.0, 2.0])
    right = lambda z: -z / jnp.asarray(scales) ** 2
    wrong = lambda z: right(z) * jnp.array([1.0, 1.0, 2.0])
    assert check_sde(right, eye, normal(scales), POINTS * scales).ok
    report = check_sde(wrong, eye, normal(scales), POINTS * scales)
    assert not report.ok and report.residual > 0.1 and report.coordinate == "z[2]"


def test_a_tiny_pair_that_turns_hides_nothing():
    """Large terms that cancel between a position and its momentum, beside a drift that is 1 % off elsewhere."""
    scales = np.array([1e-4, 1.0, 1.0])
    turning = lambda z: jnp.stack([z[1], -z[0] / 1e-8, -1.01 * z[2]])
    noise = constant(np.diag([0.0, 0.0, 1.0]))
    report = check_sde(turning, noise, normal(scales), POINTS * scales)
    assert not report.ok and report.coordinate == "z[2]"
    right = lambda z: turning(z).at[2].set(-z[2])
    assert check_sde(right, noise, normal(scales), POINTS * scales).ok


def test_a_far_point_hides_nothing():
    points = POINTS.copy()
    points[7] = 1e6
    wrong = lambda z: -1.001 * z
    report = check_sde(wrong, eye, normal(np.ones(3)), points)
    near = check_sde(wrong, eye, normal(np.ones(3)), np.delete(points, 7, axis=0))
    assert not report.ok and not near.ok


def test_a_far_point_with_an_error_elsewhere():
    """The drift is wrong only near the origin, where terms are a trillionth of those of the far point."""
    points = np.concatenate([POINTS, np.full((1, 3), 1e6)])
    wrong = lambda z: -z * (1 + 0.01 * jnp.exp(-jnp.sum(z**2) / 20))
    assert not check_sde(wrong, eye, normal(np.ones(3)), points).ok


@pytest.mark.parametrize(
    "matrix, text",
    [
        (np.diag([1.0, -1.0, 1.0]), "not positive semidefinite.*z\\[1\\]"),
        (np.diag([1e8, 1.0, -1e-3]), "not positive semidefinite.*z\\[2\\]"),
        (np.array([[1.0, 2.0, 0], [2.0, 1.0, 0], [0, 0, 1.0]]), "not positive semidefinite"),
        (np.array([[1.0, 0.3, 0], [0.0, 1.0, 0], [0, 0, 1.0]]), "not symmetric"),
        (np.array([[1e10, 0, 0], [0, 1.0, 0.3], [0, 0.1, 1.0]]), "not symmetric.*z\\[1\\]"),
    ],
)
def test_a_matrix_that_is_no_diffusion(matrix, text):
    """With the drift that would keep the law if D were one, the residual is nothing, and D was accepted."""
    drift = lambda z: -jnp.asarray(matrix) @ z
    report = check_sde(drift, constant(matrix), normal(np.ones(3)), POINTS)
    assert not report.ok and report.problems
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(str(report))


def test_check_recipe_sees_a_negative_entry_beside_a_large_one():
    report = check_recipe(Recipe(lambda z: jnp.sum(z**2) / 2, constant(np.diag([1e8, 1.0, -1e-3]))), POINTS)
    assert not report.ok and "z[2]" in str(report)


def test_points_without_a_density_are_refused():
    with pytest.raises(BadInput, match="log density is nan at point 3"):
        points = np.abs(POINTS) + 0.1
        points[3, 0] = -1
        # no slope: the gradient of the part that is NaN does not reach z
        log_p = lambda z: -jnp.sum(z**2) / 2 + jnp.where(z[0] > 0, 0.0, jnp.nan)
        check_sde(lambda z: -z, eye, log_p, points)


def test_a_point_on_a_kink_is_left_out():
    """log p = -|z| and its Langevin drift, written with a maximum: at 0 the two halves' slopes are averaged."""
    log_p = lambda z: -jnp.sum(jnp.maximum(z, -2 * z))
    drift = lambda z: -jnp.where(z >= 0, 1.0, -2.0)
    points = POINTS.copy()
    points[4] = 0
    report = check_sde(drift, eye, log_p, points)
    assert report.ok and report.kinks == (4,) and "kink" in str(report)
    assert not check_sde(lambda z: 1.1 * drift(z), eye, log_p, points).ok


@pytest.mark.parametrize(
    "passed, text", [slow("root", r"sqrt\(2 D\)"), ("cholesky", r"sqrt\(2 D\)"), ("double", "2 D as")]
)
def test_what_was_passed_for_the_diffusion_is_said(passed, text):
    d = np.array([[1.0, 0.3, 0.0], [0.3, 0.5, 0.1], [0.0, 0.1, 2.0]])
    values, vectors = np.linalg.eigh(2 * d)
    given = {"root": (vectors * np.sqrt(values)) @ vectors.T, "cholesky": np.linalg.cholesky(2 * d), "double": 2 * d}
    drift = lambda z: -jnp.asarray(d) @ z
    assert check_sde(drift, constant(d), normal(np.ones(3)), POINTS).ok
    report = check_sde(drift, constant(given[passed]), normal(np.ones(3)), POINTS)
    assert not report.ok
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(report.hint)
