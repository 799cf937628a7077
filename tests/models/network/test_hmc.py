"""Compiled trajectories of the eigenmodel: links, sums over pairs and geodesics by their definitions, and the law."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numba import njit
from scipy.special import log_expit, log_ndtr

from orthodrome.errors import BadInput
from orthodrome.kernels.lanes import LANES, load, store
from orthodrome.kernels.vectors.elementary import exp, log
from orthodrome.manifolds import Stiefel
from orthodrome.models.network import hmc
from orthodrome.models.network.hmc import EigenmodelHMC, eigenmodel_hmc
from orthodrome.models.network.kernels import frames
from orthodrome.models.network.kernels.link_lanes import logit, probit
from orthodrome.models.network.law import target
from orthodrome.models.network.scales import information
from orthodrome.models.network.starts import spectral_starts
from orthodrome.random.keys import DrawnSeed
from orthodrome.run import sample
from orthodrome.run.engines import python as engine

STEPS = {"frame": 0.3, "eigenvalues": 0.5, "intercept": 0.3}


@njit
def _links(is_probit, z, slope, value):  # type: ignore[no-untyped-def]
    for row in range(z.shape[0]):
        found, r, minus = probit(load(z, row)) if is_probit else logit(load(z, row))
        store(slope, row, found)
        store(value, row, log(r) + minus)


@njit
def _exponentials(x, out):  # type: ignore[no-untyped-def]
    for row in range(x.shape[0]):
        store(out, row, exp(load(x, row)))


@pytest.mark.parametrize(("link", "reference"), [("probit", log_ndtr), ("logit", log_expit)])
def test_links_are_stable_at_any_argument(link: str, reference: Any) -> None:
    """Value and slope of all lanes against scipy, from -1e4 to 1e4."""
    z = np.concatenate([np.linspace(-40, 10, 40 * LANES - 4), [-1e4, -300, 50, 1e4]]).astype("f4").reshape(-1, LANES)
    slope, value = np.empty_like(z), np.empty_like(z)
    _links(link == "probit", z, slope, value)
    wide, step = z.astype(float), 1e-6 * (1 + np.abs(z.astype(float)))
    np.testing.assert_allclose(-value, reference(wide), rtol=2e-6, atol=2e-7)
    rough = (reference(wide + step) - reference(wide - step)) / (2 * step)
    np.testing.assert_allclose(slope, rough, rtol=2e-5, atol=1e-8)


def test_exponentials_have_single_precision() -> None:
    """Over the whole range, to two units in the last place."""
    x = np.linspace(-87, 88, 100 * LANES, dtype="f4").reshape(-1, LANES)
    out = np.empty_like(x)
    _exponentials(x, out)
    np.testing.assert_allclose(out, np.exp(x.astype(float)), rtol=2.5e-7)


def network(m: int, seed: int = 0) -> np.ndarray:
    side = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    draw = np.triu(np.random.default_rng(seed).uniform(size=(m, m)) < np.where(np.outer(side, side) > 0, 0.7, 0.1), 1)
    edges = (draw | draw.T).astype(float)
    edges[0, 3] = edges[3, 0] = np.nan
    return edges


def place(m: int, rank: int, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(m, rank)))[0]
    return {"frame": frame, "eigenvalues": 8 * rng.normal(size=rank), "intercept": np.asarray(-0.7)}


@pytest.mark.parametrize(("m", "rank"), [(5, 2), (41, 3), (64, 1)])
@pytest.mark.parametrize("link", ["probit", "logit"])
def test_density_and_gradient_are_those_of_the_law(m: int, rank: int, link: str) -> None:
    """Padding, blocks, the diagonal, a missing pair and the prior, against the law differentiated in float64."""
    edges, x = network(m), place(m, rank)
    state = eigenmodel_hmc(edges, link, STEPS, 3, 0, "float64").init(x)
    with jax.enable_x64(True):
        law = target(edges, link, "float64")
        value, slope = jax.value_and_grad(law.embedded_logdensity)({name: jnp.asarray(v) for name, v in x.items()})
    assert abs(state.logdensity - float(value)) < 1e-6 * m**2
    np.testing.assert_allclose(state.slopes.T, slope["frame"], atol=2e-5)
    np.testing.assert_allclose(state.flat_slopes, [*slope["eigenvalues"], float(slope["intercept"])], atol=1e-4)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_frames_move_along_geodesics(rank: int) -> None:
    """Projection and motion of a long and a short way against `Stiefel`; rounding is taken out again."""
    rng = np.random.default_rng(0)
    x, v = np.linalg.qr(rng.normal(size=(9, rank)))[0], rng.normal(size=(9, rank))
    with jax.enable_x64(True):
        wanted = np.asarray(Stiefel().project(jnp.asarray(x), jnp.asarray(v)))
        ends = [Stiefel().geodesic(jnp.asarray(x), jnp.asarray(wanted), t) for t in (0.01, 3.0)]
    tangent = np.array(v.T, order="C")
    frames.project(np.array(x.T, order="C"), tangent)
    np.testing.assert_allclose(tangent.T, wanted, atol=1e-14)
    for t, (end, velocity) in zip((0.01, 3.0), ends, strict=True):
        moved, turned = np.array(x.T, order="C"), tangent.copy()
        frames.move(moved, turned, t)
        np.testing.assert_allclose(moved.T, end, atol=1e-12)
        np.testing.assert_allclose(turned.T, velocity, atol=1e-11)
    rough = np.array(x.T, order="C") * (1 + 1e-6)
    frames.straighten(rough)
    np.testing.assert_allclose(rough @ rough.T, np.eye(rank), atol=1e-11)


def joint_draws(link: str, number: int, seed: int) -> np.ndarray:
    """Changes of the squares of eigenvalues, of the intercept and its square, and of two probabilities, from prior
    draws over some transitions given networks that follow them."""
    rng, changes = np.random.default_rng(seed), []
    for i in range(number):
        u = np.linalg.qr(rng.normal(size=(5, 2)))[0]
        x = {"frame": u, "eigenvalues": 5**0.5 * rng.normal(size=2), "intercept": np.asarray(10 * rng.normal())}
        eta = (u * x["eigenvalues"]) @ u.T + x["intercept"]
        noise = rng.normal(size=(5, 5)) if link == "probit" else rng.logistic(size=(5, 5))
        upper = np.triu(eta + noise > 0, 1)
        edges = (upper | upper.T).astype(float)
        edges[0, 1] = edges[1, 0] = np.nan
        sampler = eigenmodel_hmc(edges, link, STEPS, 4, 0, "float64")
        state = sampler.init(x)
        for t in range(5):
            state, _ = sampler.step(DrawnSeed(10_000 * seed + 5 * i + t), state)
        changes.append(seen(state.position) - seen(x))
    return np.array(changes)


def seen(x: Any) -> np.ndarray:
    squares, eta = np.sort(x["eigenvalues"] ** 2), (x["frame"] * x["eigenvalues"]) @ x["frame"].T
    return np.array([*squares, x["intercept"], x["intercept"] ** 2, np.tanh(eta[0, 1]), np.tanh(eta[2, 3])])


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_the_prior_stays_when_networks_follow_it(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters from the prior, a network given them, five transitions: the prior again. A control: H without its
    kinetic energy."""
    change = joint_draws(link, 1200, 0)
    assert np.all(np.abs(change.mean(0)) < 4 * change.std(0) / np.sqrt(len(change)))
    monkeypatch.setattr(hmc, "_kinetic", lambda v, flat_v: 0.0)
    wrong = joint_draws(link, 400, 7)
    assert np.any(np.abs(wrong.mean(0)) > 6 * wrong.std(0) / np.sqrt(len(wrong)))


def test_the_information_is_the_expected_curvature() -> None:
    """Of the stiffest entry of the frame, of L and of c, with the logit link, whose curvature no edge changes."""
    edges, x = network(12), place(12, 2)
    flat = np.append(x["eigenvalues"], x["intercept"])
    known = np.isfinite(edges) & ~np.eye(12, dtype=bool)
    found = information("logit", known, x["frame"].T, flat)
    with jax.enable_x64(True):
        law = target(edges, "logit", "float64")
        split = lambda y: {"frame": y[:24].reshape(12, 2), "eigenvalues": y[24:26], "intercept": y[26]}
        hessian = jax.hessian(lambda y: law.embedded_logdensity(split(y)))(jnp.asarray([*x["frame"].ravel(), *flat]))
    curvature = -np.diagonal(hessian)
    np.testing.assert_allclose(found, [curvature[:24].max() + 12, *curvature[24:]], rtol=1e-9)


def drawn(sampler: EigenmodelHMC, edges: np.ndarray, **settings: Any) -> Any:
    starts = spectral_starts(edges, 1, "probit", 3, 0, "float64")
    with jax.enable_x64(True):
        return sample(sampler, starts, seed=0, num_chains=3, num_draws=60, progress=False, check=False, **settings)


def test_warm_up_learns_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Acceptance near the target, frames on their manifold, and the same draws whether chains run side by side."""
    edges = network(30)
    sampler = eigenmodel_hmc(edges, "probit", None, 10, 150, "float64")
    monkeypatch.setattr(engine, "usable_cores", lambda: 2)
    tree = drawn(sampler, edges)
    stats = tree["sample_stats"]
    assert 0.65 < float(stats["acceptance_rate"].mean()) < 0.95 and stats["distance"].max() < 1e-12
    assert 6 <= int(stats["n_steps"].min()) < int(stats["n_steps"].max()) <= 14
    monkeypatch.setattr(engine, "usable_cores", lambda: 1)
    alone = drawn(sampler, edges)
    for name in ("frame", "eigenvalues", "intercept"):
        np.testing.assert_array_equal(tree["posterior"][name], alone["posterior"][name])


def test_a_run_that_breaks_off_resumes_to_the_same_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off in the warm-up, and again among the draws; what was learnt is in the checkpoint."""
    edges, right, taken = network(30), EigenmodelHMC.step, 0
    sampler = eigenmodel_hmc(edges, "probit", None, 6, 80, "float64")
    whole = drawn(sampler, edges)

    def step(self: Any, key: Any, state: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken in (150, 330):
            raise RuntimeError("broken off")
        return right(self, key, state)

    monkeypatch.setattr(EigenmodelHMC, "step", step)
    monkeypatch.setattr(engine, "usable_cores", lambda: 1)
    saving = {"checkpoint": tmp_path / "state", "checkpoint_every": 1e-3}
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken off"):
            drawn(sampler, edges, **saving)
    again = drawn(sampler, edges, **saving)
    for name in ("frame", "eigenvalues", "intercept"):
        np.testing.assert_array_equal(whole["posterior"][name], again["posterior"][name])


def test_a_run_without_steps_and_without_warm_up_is_refused() -> None:
    """There would be nothing to learn the steps from."""
    edges = network(10)
    with pytest.raises(BadInput, match="num_warmup is 0"):
        drawn(eigenmodel_hmc(edges, "probit", None, 10, 0, "float64"), edges)
