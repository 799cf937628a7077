"""Sums over blocks of rows are those over all rows, with their gradients, for whatever rows are left over."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import Positive, Posterior, Product, Sphere
from orthodrome.core import row_blocks
from orthodrome.core.row_blocks import rows_of_block, summed_over_rows
from orthodrome.targets import value_and_gradient

SPACE = Product({"axis": Sphere(), "scale": Positive()})


def logprior(p: Any) -> Any:
    """Return a log prior of both parameters."""
    return jnp.sum(p["axis"]) - p["scale"]


def loglikelihood(p: Any, row: Any) -> Any:
    """Return the log likelihood of a row that is a tree, with a small whole number in it."""
    return p["scale"] * jnp.tanh(row["x"] @ p["axis"]) * row["weight"].astype(jnp.float32) - jnp.log(p["scale"])


def law_of(count: int) -> Posterior:
    """Return a posterior with so many rows."""
    rng = np.random.default_rng(count)
    rows = {"x": rng.standard_normal((count, 3), np.float32), "weight": rng.integers(0, 3, count).astype(np.int8)}
    return Posterior(SPACE, logprior, loglikelihood, jax.tree.map(jnp.asarray, rows))


@pytest.fixture(name="small_blocks")
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a block have 256 rows."""
    monkeypatch.setattr(row_blocks, "BLOCK", 256 * 13)
    monkeypatch.setattr(row_blocks, "LEAST_ROWS", 256)
    monkeypatch.setattr(row_blocks, "SMALL", 1)


@pytest.mark.parametrize("count", [1024, 1025, 1279, 2500])
def test_a_gradient_by_blocks_is_the_gradient(count: int, small_blocks: None) -> None:
    """Value and gradient agree with one sum over all rows, also over chains at once."""
    law = law_of(count)
    positions = {"axis": jnp.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]]), "scale": jnp.array([0.7, 1.9])}
    first = jax.tree.map(lambda leaf: leaf[0], positions)
    assert rows_of_block(first, law.data) == 256
    plain = jax.vmap(jax.value_and_grad(law.embedded_logdensity))(positions)
    blocks = jax.vmap(law.with_gradient)(positions)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-3), blocks, plain)
    assert jax.tree.map(lambda leaf: leaf.dtype, blocks) == jax.tree.map(lambda leaf: leaf.dtype, plain)
    rows = jax.vmap(lambda x: law.likelihood_with_gradient(x))(positions)
    alone = jax.vmap(lambda x: jax.value_and_grad(law.embedded_likelihood)(x, law.data))(positions)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-3), rows, alone)


@pytest.mark.parametrize("count", [5, 9, 10])
def test_every_row_counts_once(count: int) -> None:
    """A sum of whole numbers is exact, so a row that is left out or taken twice shows."""
    rows = jnp.arange(1, count + 1)
    assert int(summed_over_rows(lambda some: jnp.sum(some**2), rows, 3)) == sum(k**2 for k in range(1, count + 1))


def test_few_rows_wide_rows_and_large_parameters_are_summed_at_once() -> None:
    """Blocks are for many narrow rows and parameters that fit beside them: elsewhere no draw changes."""
    x = jnp.zeros(20)
    wide = jax.ShapeDtypeStruct((1_000_000, 20), jnp.float32)
    assert rows_of_block(x, wide) == 16384
    assert rows_of_block(x, jax.ShapeDtypeStruct((50_000, 20), jnp.float32)) is None
    assert rows_of_block(jnp.zeros(1 << 20), wide) is None
    assert rows_of_block(x, jax.ShapeDtypeStruct((5_000_000,), jnp.int8)) is None
    assert rows_of_block(x, jax.ShapeDtypeStruct((200_000, 200), jnp.float32)) is None
    few = law_of(1000)
    x = {"axis": jnp.array([0.0, 0.6, 0.8]), "scale": jnp.array(1.2)}
    whole = jax.jit(jax.value_and_grad(few.embedded_logdensity))(x)
    jax.tree.map(np.testing.assert_array_equal, value_and_gradient(few, x), whole)
