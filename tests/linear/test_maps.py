"""The algebra of linear maps over one leaf: every form against the n x n matrix that it stands for, in float64."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import (
    SGGMC,
    SGHMC,
    Euclidean,
    FullGradient,
    Minibatch,
    Posterior,
    Target,
    sample,
)
from orthodrome.errors import BadInput
from orthodrome.gradients import GivenNoise
from orthodrome.linear import Dense, LinearStep, LowRank, Stretched, Triangular, leaves, maps
from orthodrome.linear.linear_map import is_map

pytestmark = pytest.mark.usefixtures("x64")
SHAPE = (2, 2)
N = 4
RANDOM = np.random.default_rng(0)
SQUARE = RANDOM.normal(size=(N, N))
COVARIANCE = SQUARE @ SQUARE.T + np.eye(N)
LOWER = np.linalg.cholesky(COVARIANCE)
FACTOR = 0.5 * RANDOM.normal(size=(N, 2))
DIAGONAL = np.array([1.0, 2.0, 3.0, 4.0])
TURNED = np.linalg.qr(RANDOM.normal(size=(N, 2)))[0]
STRETCH = np.array([0.6, 1.7])
SCALE = np.array([0.5, 1.0, 2.0, 0.7])
STRETCHED = np.diag(SCALE) @ (np.eye(N) + TURNED @ np.diag(STRETCH - 1) @ TURNED.T)

POSITIVE = {
    "number": (lambda: jnp.asarray(2.5), 2.5 * np.eye(N)),
    "diagonal": (lambda: jnp.asarray(DIAGONAL.reshape(SHAPE)), np.diag(DIAGONAL)),
    "dense": (lambda: Dense(jnp.asarray(COVARIANCE)), COVARIANCE),
    "low rank": (
        lambda: LowRank(jnp.asarray(FACTOR), jnp.asarray(DIAGONAL)),
        np.diag(DIAGONAL) + FACTOR @ FACTOR.T,
    ),
    "low rank, minus": (
        lambda: LowRank(jnp.asarray(FACTOR), jnp.asarray(DIAGONAL), -1),
        np.diag(DIAGONAL) - FACTOR @ FACTOR.T,
    ),
}
MAPS = {
    **POSITIVE,
    "triangular": (lambda: Triangular(jnp.asarray(LOWER)), LOWER),
    "stretched": (lambda: Stretched(jnp.asarray(SCALE), jnp.asarray(TURNED), jnp.asarray(STRETCH)), STRETCHED),
    "step": (lambda: LinearStep(jnp.asarray(0.3), Triangular(jnp.asarray(LOWER))), 0.3 * LOWER),
}
V = RANDOM.normal(size=SHAPE)
TIMES = np.array([[0.1, 0.2], [0.3, 0.4]])


def close(found: Any, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def as_matrix(a: Any) -> np.ndarray:
    return np.asarray(maps.dense(a, jnp.asarray(V)))


def test_the_matrices_are_positive_definite_and_the_roots_not_symmetric() -> None:
    """Else a transpose or a sign that is missing would pass."""
    assert all(np.linalg.eigvalsh(matrix).min() > 0.1 for _, matrix in POSITIVE.values())
    assert not np.allclose(LOWER, LOWER.T) and not np.allclose(STRETCHED, STRETCHED.T)


@pytest.mark.parametrize("name", MAPS)
def test_products(name: str) -> None:
    make, matrix = MAPS[name]
    a, v = make(), jnp.asarray(V)
    close(as_matrix(a), matrix)
    close(maps.apply(a, v), (matrix @ V.ravel()).reshape(SHAPE))
    close(maps.transposed(a, v), (matrix.T @ V.ravel()).reshape(SHAPE))
    close(maps.solve(a, v), np.linalg.solve(matrix, V.ravel()).reshape(SHAPE))
    close(as_matrix(maps.scaled(a, 3.0)), 3 * matrix)


@pytest.mark.parametrize("name", POSITIVE)
def test_positive_maps(name: str) -> None:
    make, matrix = POSITIVE[name]
    a, like = make(), jnp.asarray(V)
    root = as_matrix(maps.root(a))
    close(root @ root.T, matrix)
    close(as_matrix(maps.inverse(a)), np.linalg.inv(matrix))
    close(as_matrix(maps.inverse(maps.inverse(a))), matrix)
    close(maps.diagonal(a, like), np.diag(matrix).reshape(SHAPE))


@pytest.mark.parametrize("name", POSITIVE)
def test_budget_and_drag_of_a_friction(name: str) -> None:
    """2 t^(1/2) C t^(1/2) is twice the matrix of the drag, with one time for all elements and with one each."""
    make, matrix = POSITIVE[name]
    for time in (0.3, TIMES):
        half = np.sqrt(np.diag(np.broadcast_to(time, SHAPE).ravel()))
        wanted = half @ matrix @ half
        close(as_matrix(maps.budget(make(), jnp.asarray(time))), 2 * wanted)
        close(maps.damped(make(), jnp.asarray(time), jnp.asarray(V)), (wanted @ V.ravel()).reshape(SHAPE))


@pytest.mark.parametrize("first", POSITIVE)
@pytest.mark.parametrize("second", POSITIVE)
def test_sums(first: str, second: str) -> None:
    (a, matrix), (b, other) = POSITIVE[first], POSITIVE[second]
    close(as_matrix(maps.add(a(), b(), jnp.asarray(V))), matrix + other)


# --- trees ------------------------------------------------------------------------------------------------------------

POSITION = {"a": np.zeros(SHAPE), "b": [np.zeros(SHAPE)]}


@pytest.mark.parametrize("name", MAPS)
def test_one_entry_serves_all_leaves(name: str) -> None:
    entry = MAPS[name][0]()
    found = leaves.spread(entry, POSITION)
    product = leaves.over(lambda a, x: maps.apply(a, jnp.ones(x.shape)), found, POSITION)
    assert jax.tree.structure(product) == jax.tree.structure(POSITION)
    close(product["a"].ravel(), np.asarray(product["b"][0]).ravel())


def test_numbers_take_the_precision_of_their_leaf_and_maps_keep_theirs() -> None:
    position = {"a": np.zeros(3, np.float32), "b": [np.zeros(4)], "c": np.zeros(2)}
    found = leaves.spread({"a": 0.5, "b": [Dense(jnp.eye(4))], "c": 1}, position)
    assert jax.tree.structure(found, is_leaf=is_map) == jax.tree.structure(position)
    assert found["a"].dtype == "float32" and found["c"].dtype == "float64" and isinstance(found["b"][0], Dense)
    assert leaves.any_map(found) and not leaves.any_map({"a": 0.5, "b": [1.0]})
    assert leaves.scaled(0.5, 2) == 1 and leaves.scaled(1, 0.5) == 0.5  # a whole number is no reason to round


def test_too_many_entries_are_an_error_and_none_is_an_entry() -> None:
    with pytest.raises(ValueError):
        leaves.spread((0.5, 0.5, 0.5), POSITION)
    assert leaves.entries(None, POSITION) == [None, None]
    assert leaves.entries({"a": None, "b": [2.0]}, POSITION)[0] is None


def test_means_and_maxima_of_diagonals() -> None:
    values = {"a": 2.0, "b": [Dense(jnp.diag(jnp.asarray(DIAGONAL)))]}
    assert float(leaves.mean_diagonal(values, POSITION)) == pytest.approx((4 * 2 + DIAGONAL.sum()) / 8)
    assert float(leaves.largest_diagonal(leaves.spread(values, POSITION), POSITION)) == DIAGONAL.max()


# --- doors ------------------------------------------------------------------------------------------------------------


def normal(x: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum(x**2)


def refused(sampler: Any) -> str:
    with pytest.raises(BadInput) as caught:
        sample(sampler, jnp.zeros(4), seed=0, num_chains=1, num_warmup=0, num_draws=1, progress=False)
    return str(caught.value)


EXACT = FullGradient(Target(Euclidean(), normal))
ROWS = Posterior(Euclidean(), normal, lambda x, row: -jnp.sum((x - row) ** 2), np.zeros((20, 4)))
SMALL = Dense(jnp.eye(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SGHMC(EXACT, 0.1, SMALL), r"SGHMC.friction.*start.*4 numbers: `matrix` has the shape \(3, 3\)"),
        (lambda: SGHMC(EXACT, 0.1, 1.0, LowRank(jnp.ones((3, 2)), jnp.ones(4))), r"SGHMC.mass.*`factor`"),
        (lambda: SGHMC(EXACT, 0.1, 1.0, LowRank(jnp.ones((4, 2)), jnp.ones(3))), r"SGHMC.mass.*`diagonal`"),
        (lambda: SGGMC(EXACT, LinearStep(0.1, SMALL.root()), 1.0), r"SGGMC.step_size.*\(3, 3\), not \(4, 4\)"),
        (
            lambda: SGGMC(EXACT, LinearStep(0.1, Stretched(jnp.ones(3), jnp.eye(4, 2), jnp.ones(2))), 1.0),
            r"SGGMC.step_size.*`scale`",
        ),
        (lambda: SGGMC(Minibatch(ROWS, 5, noise=GivenNoise(SMALL)), 0.1, 1.0), r"GivenNoise.value.*4 numbers"),
        (lambda: SGGMC(EXACT, 0.1, (SMALL, 1.0)), r"SGGMC.friction.*has the leaves"),
        (lambda: SGGMC(EXACT, Dense(jnp.eye(4)), 1.0), r"without a step size.*LinearStep\(0.1, units\)"),
    ],
)
def test_maps_that_do_not_fit_are_refused(make: Any, message: str) -> None:
    assert re.search(message, refused(make()))
