"""From the spectrum to the mode of a large network: sums over all pairs, and the directions that a spectrum misses."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr

from orthodrome.models.network.all_pairs import BLOCK, gradient, rows_of, sums
from orthodrome.models.network.climb import solved
from orthodrome.models.network.law import target
from orthodrome.models.network.pairs import read_pairs
from orthodrome.models.network.stochastic import near_mode, sparse_spectrum


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_the_sums_are_those_of_the_dense_model(link: str) -> None:
    """Value, gradient and curvature, with unknown pairs, and with a last block that is not full."""
    m, rng = BLOCK + 44, np.random.default_rng(0)
    matrix = np.triu((rng.uniform(size=(m, m)) < 0.1).astype(float), 1)
    matrix[0, 1] = matrix[3, 280] = np.nan
    matrix = matrix + matrix.T
    with jax.enable_x64(True):
        x = {
            "frame": jnp.asarray(np.linalg.qr(rng.normal(size=(m, 2)))[0]),
            "eigenvalues": jnp.asarray([150.0, -60.0]),
            "intercept": jnp.asarray(-1.2),
        }
        found = sums(rows_of(read_pairs(matrix)), x, link)
        value, whole = gradient(found, x)
        law = target(matrix, link, "float64").embedded_logdensity
        prior = lambda x: -jnp.sum(x["eigenvalues"] ** 2) / (2 * m) - x["intercept"] ** 2 / 200
        likelihood = lambda x: law(x) - prior(x)
        exact, wanted = jax.jit(jax.value_and_grad(likelihood))(x)  # eager, it is hundreds of programs
        np.testing.assert_allclose(value, exact, rtol=1e-10)
        for name in wanted:
            np.testing.assert_allclose(whole[name], wanted[name], rtol=1e-8, atol=1e-8)
        bend = jax.jit(jax.grad(jax.grad(lambda c: likelihood(x | {"intercept": c}))))(x["intercept"])
        np.testing.assert_allclose(found.bend / 2, -bend, rtol=1e-8)
        node = lambda u: likelihood(x | {"frame": x["frame"].at[BLOCK + 3].set(u)})
        scaled = np.outer(x["eigenvalues"], x["eigenvalues"]) * np.asarray(found.curvature[BLOCK + 3])
        np.testing.assert_allclose(scaled, -jax.jit(jax.hessian(node))(x["frame"][BLOCK + 3]), rtol=1e-8)


def test_small_systems_are_solved_together() -> None:
    rng = np.random.default_rng(0)
    roots, vectors = rng.normal(size=(50, 4, 4)), rng.normal(size=(50, 4))
    matrices = roots @ roots.swapaxes(1, 2) + np.eye(4)
    found = solved(jnp.asarray(matrices, jnp.float32), jnp.asarray(vectors, jnp.float32))
    np.testing.assert_allclose(found, np.linalg.solve(matrices, vectors[..., None])[..., 0], atol=1e-3)


def test_a_direction_that_the_spectrum_misses_is_found() -> None:
    """Of a planted network of unequal degrees the spectrum has two of three directions, the climb all of them."""
    m, rng = 1_200, np.random.default_rng(3)
    frame = np.linalg.qr(rng.normal(size=(m, 3)))[0]
    values = np.array([0.53, 0.43, -0.48]) * m
    edges = np.argwhere(np.triu(rng.uniform(size=(m, m)) < ndtr((frame * values) @ frame.T - 3.0), 1))
    network = read_pairs(edges.astype(np.int32), nodes=range(m))
    least = lambda found: float(np.linalg.svd(np.asarray(found).T @ frame)[1][-1])
    anchor = near_mode(network, 3, "probit", "float32")
    assert least(sparse_spectrum(network, 3, "probit")[0]) < 0.4 < 0.85 < least(anchor.position["frame"])
    np.testing.assert_allclose(anchor.position["eigenvalues"], [values[0], values[1], values[2]], rtol=0.25)
