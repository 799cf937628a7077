"""Draws as ArviZ reads them, and what diagnose and summary say of draws whose law is known."""

from __future__ import annotations

import json
from typing import Any

import arviz_stats
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray

from orthodrome.diagnostics import convergence, diagnose, summary
from orthodrome.errors import BadInput
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Euclidean, Product, Sphere
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.storage import draws
from orthodrome.targets import Posterior
from support.run_cases import draws as run
from support.run_cases import fisher

MANIFOLD = Product({"topics": Sphere(), "noise": {"scale": Euclidean()}})
START = {"topics": np.eye(3, dtype=np.float32)[:2], "noise": {"scale": np.float32(0.5)}}


def logprior(p: Any) -> Any:
    return -0.5 * p["noise"]["scale"] ** 2 + jnp.sum(p["topics"])


def loglikelihood(p: Any, row: Any) -> Any:
    return -0.5 * (row["y"] - p["noise"]["scale"] * row["z"]) ** 2


ROWS = {"y": np.linspace(-1, 1, 7, dtype=np.float32), "z": np.linspace(0, 1, 7, dtype=np.float32)}


@pytest.fixture(scope="module")
def tree() -> xarray.DataTree:
    """A product of two spheres and a nested number, with names for its axes and a pointwise likelihood."""
    sampler = GeodesicHMC(FullGradient(Posterior(MANIFOLD, logprior, loglikelihood, ROWS)), 0.3, 3)
    return sample(
        sampler,
        START,
        seed=1,
        num_chains=2,
        num_warmup=10,
        num_draws=40,
        progress=False,
        dims={"topics": ["topic", "word"]},
        coords={"word": ["a", "b", "c"]},
        log_likelihood=True,
    )


def test_names_dims_and_coords(tree: xarray.DataTree) -> None:
    assert tree.posterior["topics"].dims == ("chain", "draw", "topic", "word")
    assert list(tree.posterior["word"].values) == ["a", "b", "c"]
    assert tree.posterior["noise.scale"].dims == ("chain", "draw")
    assert {"lp", "acceptance_rate", "diverging", "energy", "n_steps", "step_size"} <= set(tree.sample_stats.data_vars)
    assert run().posterior["x"].dims == ("chain", "draw", "x_dim_0")


def test_data_groups(tree: xarray.DataTree) -> None:
    np.testing.assert_array_equal(tree["observed_data"]["y"], ROWS["y"])
    np.testing.assert_array_equal(tree["constant_data"]["z"], ROWS["z"])
    assert list(run()["constant_data"].data_vars) == ["data"]


def test_log_likelihood_is_that_of_every_datum(tree: xarray.DataTree) -> None:
    scale = tree.posterior["noise.scale"].values[..., None]
    np.testing.assert_allclose(tree["log_likelihood"]["y"], -0.5 * (ROWS["y"] - scale * ROWS["z"]) ** 2, atol=1e-6)
    with pytest.raises(BadInput, match="needs a `Posterior`"):
        run(log_likelihood=True)


def test_attributes(tree: xarray.DataTree) -> None:
    assert tree.attrs["inference_library"] == "orthodrome" and tree.attrs["seed"] == 1
    assert tree.attrs["manifold"] == "Product(noise.scale: Euclidean, topics: Sphere)"
    assert json.loads(tree.attrs["manifolds"]) == {"noise.scale": "Euclidean", "topics": "Sphere"}


def test_arviz_reads_the_tree(tree: xarray.DataTree) -> None:
    assert np.all(np.isfinite(arviz_stats.ess(tree)["topics"].values))
    assert "topics[0, a]" in arviz_stats.summary(tree).index


def test_dims_and_coords_that_do_not_fit() -> None:
    with pytest.raises(BadInput, match=r"coords\['a'\] has 2 labels, but the axis has length 3"):
        draws.dataset({"x": np.zeros((1, 1, 3))}, {"x": ["a"]}, {"a": [1, 2]})
    with pytest.raises(BadInput, match=r"dims\['x'\] names 2 axes, but x has 1"):
        draws.dataset({"x": np.zeros((1, 1, 3))}, {"x": ["a", "b"]})


def test_the_store_is_read_when_asked(tmp_path: Any) -> None:
    lazy = run(store=tmp_path / "draws.zarr", dims={"x": ["axis"]}, keep_warmup=True)
    assert not lazy.posterior["x"].variable._in_memory
    plain = run(keep_warmup=True)
    np.testing.assert_array_equal(lazy.posterior["x"], plain.posterior["x"])
    np.testing.assert_array_equal(lazy["warmup_posterior"]["x"], plain["warmup_posterior"]["x"])
    assert lazy.posterior["x"].dims[-1] == "axis" and lazy.attrs["sampler"] == "GeodesicHMC"
    again = xarray.open_datatree(tmp_path / "draws.zarr", engine="zarr", consolidated=False)
    np.testing.assert_array_equal(again.sample_stats["energy"], plain.sample_stats["energy"])


# --- diagnose and summary on made-up draws -------------------------------------------------------------------------


def made_up(kind: str, values: np.ndarray, **stats: np.ndarray) -> xarray.DataTree:
    groups = {"posterior": draws.dataset({"x": values})}
    groups["sample_stats"] = draws.dataset({"distance": np.zeros(values.shape[:2])} | stats)
    return draws.datatree(groups, {"manifolds": json.dumps({"x": kind})})


def spread(rng: np.random.Generator, *shape: int) -> np.ndarray:
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def test_good_draws_pass_and_bad_ones_are_told() -> None:
    rng = np.random.default_rng(0)
    good = made_up(
        "Sphere", spread(rng, 4, 1000, 3), diverging=np.zeros((4, 1000), bool), energy=rng.normal(size=(4, 1000))
    )
    assert diagnose(good).ok and "Nothing looks wrong" in repr(diagnose(good))
    apart = spread(rng, 4, 1000, 3) + np.arange(4)[:, None, None]
    assert "the chains disagree" in diagnose(made_up("Euclidean", apart)).verdict
    short = np.tile(spread(rng, 1, 60, 3), (4, 1, 1))  # too few, yet in perfect agreement
    assert "effective draws" in diagnose(made_up("Sphere", short)).verdict
    flags = np.zeros((4, 1000), bool)
    flags[0, :3] = True
    assert "3 of 4000 draws diverged" in diagnose(made_up("Sphere", spread(rng, 4, 1000, 3), diverging=flags)).verdict
    slow = np.cumsum(rng.normal(size=(4, 1000)), axis=1)
    assert "E-BFMI" in diagnose(made_up("Sphere", spread(rng, 4, 1000, 3), energy=slow)).verdict
    off = made_up("Sphere", spread(rng, 4, 1000, 3))
    off["sample_stats"]["distance"].values[0, 0] = 1e-3
    assert "off the manifold by 1e-03" in diagnose(off).verdict


def test_mirror_images_are_recognised_by_invariants() -> None:
    """Two chains at +m and two at -m: x disagrees, x x' does not."""
    rng = np.random.default_rng(1)
    x = np.array([3.0, 0, 0]) + rng.normal(size=(4, 1000, 3))
    x = x / np.linalg.norm(x, axis=-1, keepdims=True) * np.array([1, 1, -1, -1])[:, None, None]
    found = diagnose(made_up("Sphere", x))
    assert found.variables["x"]["rhat"] > 1.5 and found.variables["x"]["rhat_invariant"] < 1.01
    assert "mirror images" in found.verdict


def test_invariants_are_entries_of_the_outer_product() -> None:
    x = np.random.default_rng(2).normal(size=(2, 5, 4, 3))
    vectors = convergence.invariants(x, 1)
    expected = np.einsum("cdki,cdkj->cdkij", x, x)[..., *np.triu_indices(3)].reshape(2, 5, -1)
    np.testing.assert_allclose(vectors, expected)
    matrices = convergence.invariants(x, 2)
    np.testing.assert_allclose(matrices, np.einsum("cdik,cdjk->cdij", x, x)[..., *np.triu_indices(4)])
    assert convergence.invariants(np.zeros((1, 4, 1000)), 1).shape[-1] == convergence.MOST


def test_summary_of_directions_rotations_and_frames() -> None:
    rng = np.random.default_rng(3)
    x = np.array([0, 3.0, 0]) + rng.normal(size=(2, 4000, 3))
    sphere = summary(made_up("Sphere", x / np.linalg.norm(x, axis=-1, keepdims=True)))["x"]
    np.testing.assert_allclose(sphere["directional_mean"], [0, 1, 0], atol=0.03)
    assert 0.7 < float(sphere["resultant_length"]) < 0.95

    angles = 0.5 + 0.3 * rng.normal(size=(2, 4000))
    rotations = np.stack([np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)], -1).reshape(2, 4000, 2, 2)
    rotation = summary(made_up("Rotation", rotations))["x"]
    mean = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    np.testing.assert_allclose(rotation["mean_rotation"], mean, atol=0.02)
    assert abs(float(rotation["resultant_length"]) - np.exp(-0.045)) < 0.01

    frames, _ = np.linalg.qr(np.eye(4)[:, :2] + 0.05 * rng.normal(size=(2, 500, 4, 2)))
    frames = frames * rng.choice([-1, 1], size=(2, 500, 1, 2))
    frame = summary(made_up("Stiefel", frames))["x"]
    np.testing.assert_allclose(np.abs(frame["mean_frame"].values[2:]), 0, atol=0.05)
    assert float(frame["share_of_span"]) > 0.98


def test_summary_of_numbers_and_its_table() -> None:
    x = np.random.default_rng(4).normal(2.0, 3.0, size=(4, 5000, 20))
    found = summary(made_up("Euclidean", x))
    np.testing.assert_allclose(found["x"]["mean"], 2.0, atol=0.15)
    np.testing.assert_allclose(found["x"]["sd"], 3.0, atol=0.1)
    np.testing.assert_allclose(found["x"]["q95"], 2 + 1.645 * 3, atol=0.25)
    assert "... 8 more" in repr(found) and "x on Euclidean: R-hat" in repr(found)


def test_a_tuned_run_reads_well() -> None:
    text = repr(diagnose(run(fisher(0.25, 2), num_draws=300)))
    assert "rhat_invariant" in text and "divergences 0" in text


def test_named_leaves_of_tuples() -> None:
    assert list(draws.named_leaves((1, {"a": 2}))) == ["0", "1.a"]
    assert list(draws.named_leaves(3)) == ["x"]
    assert draws.named_manifolds(Sphere(), np.zeros(3)) == {"x": "Sphere"}
    assert jax.tree.leaves(draws.named_manifolds(MANIFOLD, START)) == ["Euclidean", "Sphere"]
