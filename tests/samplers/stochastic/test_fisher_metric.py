"""SGRLD and SGRHMC with the information of the data as their metric."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.checks import check_recipe
from orthodrome.doors import check_sampler
from orthodrome.errors import BadInput
from orthodrome.gradients import FullGradient
from orthodrome.linear import Dense, LowRank
from orthodrome.manifolds import Euclidean, Positive, Product
from orthodrome.metrics import FisherMetric, InverseMetric, LocalMetric
from orthodrome.recipe import recipe_of
from orthodrome.samplers import SGRHMC, SGRLD
from orthodrome.targets import Posterior, Target

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(40, 2)), RNG.integers(0, 2, 40)])
POINTS = RNG.normal(size=(10, 2))


def prior(w: Any) -> jax.Array:
    return -0.5 * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(w))


def logistic(w: jax.Array, row: jax.Array) -> jax.Array:
    slope = row[:2] @ w
    return row[2] * slope - jnp.logaddexp(0.0, slope)


POSTERIOR = Posterior(Euclidean(), prior, logistic, ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SGRLD, SGRHMC])
def test_the_information_is_a_metric_of_both(kind: Any) -> None:
    """D or S, Gamma and all: the SDE keeps the posterior at every point, with half of the rows as well."""
    sampler = kind(FullGradient(POSTERIOR), FisherMetric(POSTERIOR, num_rows=20), 0.01)
    points = POINTS if kind is SGRLD else (POINTS, RNG.normal(size=(10, 2)))
    report = check_recipe(recipe_of(sampler), points)
    assert report.ok, report
    check_sampler(sampler, jnp.zeros((1, 2)))
    state, info = jax.jit(sampler.step)(jax.random.key(0), sampler.init(jnp.zeros(2), jax.random.key(1)))
    assert np.isfinite(state.position).all() and not info.indefinite


SQUASHED = InverseMetric(lambda x: Dense(jnp.eye(2) + 0.1 * jnp.outer(jnp.tanh(x), jnp.tanh(x))))
THIN = InverseMetric(lambda x: LowRank(0.3 * jnp.tanh(x)[:, None], jnp.ones(2)))


@pytest.mark.parametrize("kind", [SGRLD, SGRHMC])
@pytest.mark.parametrize("metric", [FisherMetric(POSTERIOR), SQUASHED, THIN], ids=["Fisher", "dense", "low rank"])
def test_chains_side_by_side_have_the_steps_of_each_alone(kind: Any, metric: Any) -> None:
    """Roots of matrices that mix coordinates have derivatives under `vmap` too, as `sample` needs them."""
    sampler = kind(FullGradient(POSTERIOR), metric, 0.01)
    keys = jax.random.split(jax.random.key(0), 3)
    begin = jax.random.key(1)
    step = lambda x, key: sampler.step(key, sampler.init(x, jax.random.clone(begin)))[0].position
    together = jax.jit(jax.vmap(step))(jnp.asarray(POINTS[:3], jnp.float32), keys)
    alone = [jax.jit(step)(jnp.asarray(x, jnp.float32), key) for x, key in zip(POINTS[:3], keys, strict=True)]
    np.testing.assert_allclose(together, np.stack(alone), rtol=2e-5, atol=1e-6)
    assert np.abs(np.asarray(together) - POINTS[:3]).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("metric", [SQUASHED, THIN], ids=["dense", "low rank"])
def test_metrics_that_mix_coordinates_keep_the_posterior(metric: Any) -> None:
    recipe = recipe_of(SGRHMC(FullGradient(POSTERIOR), metric, 0.01))
    report = check_recipe(recipe, (POINTS, RNG.normal(size=(10, 2))))
    assert report.ok, report


@pytest.mark.usefixtures("x64")
def test_the_matrix_is_the_sum_of_squared_scores_and_the_prior() -> None:
    w = jnp.asarray([0.3, -0.2])
    misses = ROWS[:, 2] - 1 / (1 + np.exp(-ROWS[:, :2] @ np.asarray(w)))
    scores = misses[:, None] * ROWS[:, :2]
    inverse = FisherMetric(POSTERIOR).inverse(w)
    np.testing.assert_allclose(inverse.dense(), np.linalg.inv(scores.T @ scores + np.eye(2)), rtol=1e-9)
    every = np.linspace(0, 39, 10).round().astype(int)
    some = FisherMetric(POSTERIOR, num_rows=10).matrix(w)
    np.testing.assert_allclose(some, 4 * scores[every].T @ scores[every] + np.eye(2), rtol=1e-9)


def test_every_leaf_has_its_own_block() -> None:
    law = Posterior(
        Product({"a": Euclidean(), "b": Euclidean()}),
        prior,
        lambda w, row: logistic(jnp.stack([w["a"], w["b"][0]]), row),
        ROWS,
    )
    x = {"a": jnp.asarray(0.3), "b": jnp.asarray([-0.2])}
    matrix, inverse = FisherMetric(law).matrix(x), FisherMetric(law).inverse(x)
    np.testing.assert_allclose(inverse["a"].dense()[0, 0], 1 / matrix[0, 0], rtol=1e-5)
    np.testing.assert_allclose(inverse["b"].dense()[0, 0], 1 / matrix[1, 1], rtol=1e-5)


def test_metrics_that_are_none_are_refused() -> None:
    walled = Posterior(Positive(), prior, logistic, ROWS)
    with pytest.raises(BadInput, match="walls reflect one at a time"):
        check_sampler(SGRLD(FullGradient(walled), FisherMetric(walled), 0.01), jnp.ones((1, 2)))
    gradient = FullGradient(Target(Euclidean(), prior))
    with pytest.raises(BadInput, match="not positive definite at the start: its smallest eigenvalue is -1"):
        check_sampler(SGRHMC(gradient, LocalMetric(lambda x: x), 0.01), -jnp.ones((1, 2)))
    with pytest.raises(BadInput, match="not positive definite at the start"):
        check_sampler(SGRLD(gradient, InverseMetric(lambda x: x), 0.01), -jnp.ones((1, 2)))
    for wrong, words in (
        (InverseMetric(lambda x: jnp.eye(2)), r"shape \(2, 2\) for a leaf of the shape \(2,\)"),
        (InverseMetric(lambda x: Dense(jnp.eye(3))), r"a leaf of 2 numbers: .*\(3, 3\)"),
        (LocalMetric(lambda x: jnp.eye(3)), r"shape \(3, 3\) for a position of 2 numbers"),
        (LocalMetric(lambda x: jnp.asarray([[1.0, 0.5], [0.0, 1.0]])), "not symmetric at the start: .* 0.5"),
        (LocalMetric(lambda x: jnp.full(2, jnp.nan)), "non-finite elements"),
    ):
        with pytest.raises(BadInput, match=words):
            check_sampler(SGRHMC(gradient, wrong, 0.01), jnp.ones((1, 2)))
