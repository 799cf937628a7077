"""Hoff's Gibbs samplers: they leave their laws alone, the bound is a bound, its collapse is what it is said to be."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.models.network import NetworkEigenmodel
from orthodrome.models.network import gibbs as eigenmodel_gibbs
from orthodrome.models.network.gibbs import EigenmodelGibbs
from orthodrome.random import beta_envelope
from orthodrome.run import sample
from orthodrome.samplers.exact.column_gibbs import ColumnGibbs, draw_column
from support import exact_draws as exact

A = np.array([-3.0, 1.0, 0.0, 4.0])
THRESHOLD = 4.5
"""In standard errors, for some ten moments."""


def z_scores(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Of the means of two samples of rows."""
    error = np.sqrt(found.var(0) / len(found) + expected.var(0) / len(expected))
    return np.abs(found.mean(0) - expected.mean(0)) / error


def moments(x: np.ndarray) -> np.ndarray:
    """First and second moments of vectors."""
    return np.concatenate([x, x**2], axis=1)


def after_rounds(linear: float, values: np.ndarray) -> np.ndarray:
    """10,000 exact draws, three rounds each, against as many fresh draws, in standard errors."""
    rng = np.random.default_rng(0)
    start, fresh = (exact.bingham_von_mises_fisher(rng, 10_000, A, linear) for _ in range(2))
    c = np.array([linear, 0, 0, 0])
    for x in start:
        for _ in range(3):
            beta_envelope.sweep(rng, rng.permutation(4), x, values, c, 10_000)
    return z_scores(moments(start), moments(fresh))


@pytest.mark.parametrize("linear", [pytest.param(0.0, marks=pytest.mark.slow), 3.0])
def test_vectors_stay_in_the_truth(linear: float) -> None:
    """Biases of 6 % of a standard deviation are seen; a matrix that is 15 % too large is (the control)."""
    assert after_rounds(linear, A).max() < THRESHOLD
    assert after_rounds(linear, 1.15 * A).max() > THRESHOLD


@pytest.mark.slow
def test_frames_stay_in_the_truth() -> None:
    """exp(tr C'X + tr B X'AX) on 4 x 2 frames, by rejection from uniform ones."""
    rng = np.random.default_rng(1)
    left, right, linear = np.diag(A) / 2, np.array([1.0, -0.5]), rng.normal(size=(4, 2))
    height = lambda x: np.einsum("nij,ij->n", x, linear) + np.einsum("nij,ik,nkj,j->n", x, left, x, right)
    most = np.linalg.svd(linear, compute_uv=False).sum() + 3.0
    draw = lambda n: exact.rejection(rng, n, lambda m: exact.uniform_pairs(rng, m, 4), lambda x: height(x) - most)
    assert height(exact.uniform_pairs(rng, 20_000, 4)).max() < most
    start, fresh = draw(3000), draw(12_000)
    for x in start:
        for r in (0, 1, 0):
            draw_column(rng, x, r, right[r] * left, linear[:, r], 10_000)
    both = [np.concatenate([moments(x.reshape(-1, 8)), height(x)[:, None]], axis=1) for x in (start, fresh)]
    assert z_scores(*both).max() < THRESHOLD
    np.testing.assert_allclose(
        np.einsum("nij,nik->njk", start, start), np.broadcast_to(np.eye(2), (3000, 2, 2)), atol=1e-9
    )


def test_the_bound_is_a_bound_and_the_rate_is_right() -> None:
    """At random settings the density over the envelope is never above it, and the rate is the quadrature's."""
    rng = np.random.default_rng(2)
    t = np.linspace(1e-9, 1 - 1e-9, 20_001)
    for _ in range(60):
        k, a, b, c = rng.integers(1, 9) / 2, 20 * rng.normal(), 10 * rng.normal(), 10 * abs(rng.normal())
        g, bound = beta_envelope.envelope(k, a, b, c)
        height = a * t + (k - g) * np.log1p(-t) + b * np.sqrt(1 - t) + np.logaddexp(c * np.sqrt(t), -c * np.sqrt(t))
        assert height.max() <= bound + 1e-9
    for k, a, b, c in ((1.5, -4.0, 1.0, 2.0), (2.0, 6.0, -1.0, 1.0)):
        tries = [beta_envelope.propose(rng, k, a, b, c, 10_000)[1] for _ in range(4000)]
        assert 1 / np.mean(tries) == pytest.approx(np.exp(beta_envelope.log_acceptance(k, a, b, c)), rel=0.08)


def test_the_rate_collapses_with_the_linear_part() -> None:
    """exp(c t^(1/2) - |a| t) is at most exp(c^2 / 4|a|), its bound exp(c): nothing is left at c = |a| = 400."""
    rates = [beta_envelope.log_acceptance(2.0, -float(s), 0.0, float(s)) / np.log(10) for s in (10, 100, 400)]
    assert rates[0] > -5 and rates[1] < -30 and rates[2] < -100


@pytest.mark.slow
def test_runs_give_up_and_say_so() -> None:
    """Under `sample`; with a collapsed rate coordinates stay, are counted, and the frame is still one."""
    start = np.array([[0.6], [0.8], [0.0]], np.float32)
    sampler = ColumnGibbs(np.diag([-200.0, 0, 0]), np.ones(1), np.array([[200.0], [0], [0]]), max_proposals=50)
    draws = sample(sampler, start, seed=0, num_chains=2, num_warmup=0, num_draws=20, progress=False)
    stats = draws["sample_stats"]
    assert np.all(stats["gave_up"] >= 1) and stats["acceptance_rate"].max() < 0.1
    assert stats["distance"].max() < 1e-5
    again = sample(sampler, start, seed=0, num_chains=2, num_warmup=0, num_draws=20, progress=False)
    np.testing.assert_array_equal(draws["posterior"]["x"], again["posterior"]["x"])
    with pytest.raises(BadInput, match="have the shapes"):
        sample(ColumnGibbs(np.eye(2), np.ones(1), start), start, seed=0, num_draws=1, progress=False)


def joint_draws(
    rng: np.random.Generator, number: int, rounds: int, wrong: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and intercepts from the prior, and after rounds of Gibbs given networks drawn from them."""
    before, after = [], []
    for i in range(number):
        u = np.linalg.qr(rng.normal(size=(5, 2)))[0]
        p = {"frame": u, "eigenvalues": np.sqrt(5) * rng.normal(size=2), "intercept": np.asarray(10 * rng.normal())}
        eta = (u * p["eigenvalues"]) @ u.T + p["intercept"]
        upper = np.triu(eta + rng.normal(size=(5, 5)) > 0, 1)
        edges = (upper | upper.T).astype(float)
        edges[0, 1] = edges[1, 0] = np.nan
        sampler = EigenmodelGibbs(edges)
        state = sampler.init({**p, "eigenvalues": wrong * p["eigenvalues"]})
        for t in range(rounds):
            state, _ = sampler.step(jax.random.fold_in(jax.random.key(i), t), state)
        before.append([*p["eigenvalues"] ** 2, p["intercept"], p["intercept"] ** 2])
        after.append(
            [*state.position["eigenvalues"] ** 2, state.position["intercept"], state.position["intercept"] ** 2]
        )
    return np.array(before), np.array(after)


@pytest.mark.slow
def test_the_network_s_gibbs_sampler_keeps_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters from the prior, a network given them, ten rounds: the prior again (paired). Then a control."""
    with jax.enable_x64(True):
        before, after = joint_draws(np.random.default_rng(0), 1500, 10)
        change = after - before
        assert np.all(np.abs(change.mean(0)) < 4 * change.std(0) / np.sqrt(len(change)))
        right = eigenmodel_gibbs.draw_eigenvalue
        monkeypatch.setattr(eigenmodel_gibbs, "draw_eigenvalue", lambda rng, f, m: 1.3 * right(rng, f, m))
        before, after = joint_draws(np.random.default_rng(1), 600, 10)
        change = (after - before)[:, :2]
        assert np.any(np.abs(change.mean(0)) > 6 * change.std(0) / np.sqrt(len(change)))


def network(m: int = 24) -> np.ndarray:
    side = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    probability = np.where(np.outer(side, side) > 0, 0.8, 0.1)
    draw = np.triu(np.random.default_rng(0).uniform(size=(m, m)) < probability, 1)
    return (draw | draw.T).astype(float)


@pytest.mark.slow
def test_the_model_with_gibbs_and_its_picture() -> None:
    from orthodrome.plots.network import plot_network

    edges = network()
    model = NetworkEigenmodel(1, method="gibbs", num_chains=2, num_warmup=60, num_draws=100).fit(edges)
    side = np.sign(model.frame_[:, 0])
    assert np.all(side[:12] == side[0]) and np.all(side[12:] == -side[0])
    assert model.draws_["sample_stats"]["lp"].mean() > -140 and model.eigenvalues_[0] > 8
    assert len(plot_network(model).axes) == 4
    with pytest.raises(BadInput, match="probit"):
        NetworkEigenmodel(1, method="gibbs", link="logit").fit(edges)


@pytest.mark.slow
def test_gibbs_and_hmc_have_the_same_posterior() -> None:
    """Mean eigenvalue and intercept of a small network, within 4 joint standard errors."""
    found: list[Any] = []
    for settings in ({"method": "gibbs"}, {"num_steps": 8}):
        model = NetworkEigenmodel(1, num_warmup=400, num_draws=2000, random_state=3, **settings).fit(network())
        posterior = model.draws_["posterior"]
        blocks = [np.asarray(posterior[n], float).reshape(4, 20, 100, -1).mean(2) for n in ("eigenvalues", "intercept")]
        found.append(np.concatenate(blocks, axis=-1).reshape(80, -1))
    assert z_scores(*found).max() < 4
