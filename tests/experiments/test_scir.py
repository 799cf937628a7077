"""The experiments on SCIR: the distance against exact draws, the two drifts of SGRLD, and claims that can fail."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from orthodrome.diagnostics.ks_distance import ks_distance, rosenblatt, uniform_distance
from orthodrome.experiments.scir import bias as scir_bias
from orthodrome.experiments.scir import sparse as scir_sparse
from orthodrome.experiments.support import contract
from orthodrome.experiments.support.scir import dirichlet
from support.quick import slow

SPARSE = dirichlet.problem(sparse=True, seed=5)


def test_the_transform_of_exact_draws_is_uniform() -> None:
    """Also where the first weights take all, and 1 minus their sum would cancel to 0; another law is seen."""
    draws = dirichlet.exact_dirichlet(np.random.default_rng(0), SPARSE.concentration)
    u = rosenblatt(draws, SPARSE.concentration)
    assert np.all(np.isfinite(u)) and u.shape == (1000, 9)
    assert uniform_distance(u).max() * np.sqrt(1000) < 2.2  # probability 1e-3 over nine coordinates
    assert ks_distance(draws, SPARSE.concentration) == pytest.approx(0.027, abs=0.006)
    assert ks_distance(draws, SPARSE.concentration + 0.1) > 0.1


def test_the_statistic_is_that_of_scipy() -> None:
    u = np.random.default_rng(1).random((50, 2)) ** 1.2
    np.testing.assert_allclose(uniform_distance(u), [stats.kstest(column, "uniform").statistic for column in u.T])


def test_the_data_of_the_paper() -> None:
    np.testing.assert_allclose(SPARSE.concentration[:4], [800.1, 100.1, 100.1, 0.1])
    assert SPARSE.start.sum() == pytest.approx(1001) and SPARSE.start.min() > 60
    dense = dirichlet.problem(sparse=False, seed=5)
    np.testing.assert_allclose(dense.start, dense.concentration, rtol=1e-6)
    assert dense.concentration.std() > 3  # categories at random: not 100 each


@pytest.mark.parametrize("method", ["SGRLD", slow("SGRLD, authors' drift")])
def test_the_two_drifts_of_sgrld(method: str) -> None:
    """With all rows the mean over many steps from one point is the drift: right, or as the authors' code has it."""
    with jax.enable_x64(True):
        theta = jnp.asarray(np.random.default_rng(0).gamma(2.0, size=10))
        sampler = dirichlet.sampler_of(method, jnp.asarray(SPARSE.rows), 1000, 2e-6)
        step = lambda i: sampler.step(jax.random.key(i), sampler.init(theta))[0].position
        moved = np.asarray(jax.jit(jax.vmap(step))(jnp.arange(4_000)))
        counts = np.array([800.0, 100, 100, *[0] * 7])
        p = np.asarray(theta / theta.sum())
        right = 0.1 - np.asarray(theta) + counts - p * 1000
        wanted = right if method == "SGRLD" else np.asarray(theta) * right + 1
        noise = moved.std(axis=0) / np.sqrt(len(moved))
        z = (moved.mean(axis=0) - np.asarray(theta) - 1e-6 * wanted) / noise
    assert np.abs(z).max() < 4.4


def test_claims_can_fail() -> None:
    rows = [
        {"method": "SCIR", "shape": a, "step_size": h, "bias": 0.1, "error": 0.01, "relative": 0.1 / a}
        for a in scir_bias.SHAPES
        for h in scir_bias.STEPS
    ]
    noisy = [
        {"mean": 1.0, "exact_mean": 2.0, "mean_error": 0.1, "variance": 1, "exact_variance": 9, "variance_error": 0.1}
    ]
    assert not any(claim.holds for claim in scir_bias.scir_claims(rows, noisy))
    flat = [row | {"method": "SGRLD", "relative": 0.1} for row in rows]
    holds = {claim.id: claim.holds for claim in scir_bias.sgrld_claims(flat)}
    assert not holds["order-at-1"] and not holds["relative"] and not holds["logarithm"]
    boxes = {name: np.zeros(10) for name in (*dirichlet.GRIDS, "exact")}
    assert not scir_sparse.box_claims(boxes)[1].holds


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scir-sparse", "scir-dense", "scir-bias"])
def test_quick_scale(name: str, tmp_path: Path) -> None:
    result = contract.reproduce(name, scale="quick", seed=0, out=tmp_path)
    assert [claim["id"] for claim in result["claims"] if not claim["holds"]] in ([], ["cost-update"])
