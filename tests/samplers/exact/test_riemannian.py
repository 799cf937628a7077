"""Riemannian HMC and Langevin beyond the registry: what breaks them is counted and rejected; wrong ones are caught."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import orthodrome.dynamics.generalised_leapfrog as generalised_leapfrog
import orthodrome.samplers.exact.riemannian_langevin as riemannian_langevin
from orthodrome.diagnostics import diagnose
from orthodrome.errors import BadInput, NotConverged, Unsupported
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, LogPositive, Positive, Product, Sphere
from orthodrome.metrics.local_metric import FisherMetric, LocalMetric
from orthodrome.run import sample
from orthodrome.samplers.exact.riemannian_hmc import RiemannianHMC
from orthodrome.samplers.exact.riemannian_langevin import RiemannianLangevin
from orthodrome.samplers.holders.tempering import Tempering
from orthodrome.targets import Posterior, Target
from support.registry import TARGETS
from support.registry.flat_laws import following, mixing
from support.truth import THRESHOLD, verdict

FUNNEL = TARGETS["funnel"]


def hmc(metric: Any, step: float = 0.5, **settings: Any) -> RiemannianHMC:
    return RiemannianHMC(FullGradient(FUNNEL.target()), LocalMetric(metric), step, 3, **settings)


def langevin(metric: Any, step: float = 0.9, **settings: Any) -> RiemannianLangevin:
    return RiemannianLangevin(FullGradient(FUNNEL.target()), LocalMetric(metric), step, **settings)


def test_an_energy_without_the_determinant_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = generalised_leapfrog.System.energy

    def forgetful(self: Any, point: Any) -> jax.Array:
        return right(self, point) - self.metric_at(point.x).log_determinant / 2

    monkeypatch.setattr(generalised_leapfrog.System, "energy", forgetful)
    found = verdict(FUNNEL, hmc(following, 0.51), 4000, "float32", num_steps=21)
    assert np.abs(found.z).max() > 2 * THRESHOLD


def test_a_proposal_without_the_determinant_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = riemannian_langevin.log_normal
    monkeypatch.setattr(
        riemannian_langevin, "log_normal", lambda q, y, h: right(q, y, h) - q.metric.log_determinant / 2
    )
    found = verdict(FUNNEL, langevin(following, 0.91), 4000, "float32", num_steps=21)
    assert np.abs(found.z).max() > 2 * THRESHOLD


def steps(sampler: Any, x: Any, count: int = 64) -> Any:
    """So many single transitions from one position."""
    one = lambda i: sampler.step(jax.random.fold_in(jax.random.key(0), i), sampler.init(x))
    return jax.jit(jax.vmap(one))(jnp.arange(count))


def test_the_generalised_leapfrog_keeps_volume_and_leads_back(x64: None) -> None:
    """det d(x', p') / d(x, p) = 1, and with the momentum turned round the step ends where it began."""
    gradient = FullGradient(FUNNEL.target())
    system = generalised_leapfrog.System(gradient, LocalMetric(following), jnp.asarray(1e-14), lambda x: x, 200)

    def move(z: jax.Array) -> jax.Array:
        point = generalised_leapfrog.PhasePoint(z[:3], z[3:], *system.look(z[:3]))
        end, _ = system.step(point, jnp.asarray(0.4))
        return jnp.concatenate([end.x, end.p])

    z = jnp.asarray([0.4, -0.7, 0.9, 0.3, 1.1, -0.6])
    forward = jax.jit(move)
    assert float(jnp.linalg.det(jax.jit(jax.jacfwd(move))(z))) == pytest.approx(1, abs=1e-9)
    turned = forward(z) * jnp.asarray([1.0, 1, 1, -1, -1, -1])
    np.testing.assert_allclose(forward(turned) * jnp.asarray([1.0, 1, 1, -1, -1, -1]), z, atol=1e-11)
    assert np.abs(forward(z) - z).max() > 0.1


def test_where_the_metric_is_not_definite_no_move_ends() -> None:
    """G = 1 - x0^2: the region beyond 1 is closed, and attempts are counted."""
    bounded = lambda x: jnp.stack([1 - x[0] ** 2, jnp.ones_like(x[0]), jnp.ones_like(x[0])])
    x = jnp.asarray([0.6, 0.1, 0.2])
    for sampler in (hmc(bounded, 0.2), langevin(bounded, 0.5)):
        states, infos = steps(sampler, x)
        assert 0 < infos.not_definite.sum() < 64
        assert np.all(np.abs(states.position[:, 0]) < 1)
        assert np.all(infos.acceptance_rate[infos.not_definite] == 0)
        assert np.all(states.position[infos.not_definite] == x[None])


def test_a_metric_that_is_none_in_places_is_told() -> None:
    """At the start it is refused; later moves into such places are rejected, and the run says so."""
    bounded = LocalMetric(lambda x: 1 - x**2)
    gradient = FullGradient(Target(Euclidean(), lambda x: -jnp.sum(x**2) / 2))
    settings: dict[str, Any] = {"seed": 0, "num_chains": 2, "num_warmup": 20, "num_draws": 200, "progress": False}
    for sampler in (RiemannianHMC(gradient, bounded, 0.3, 2), RiemannianLangevin(gradient, bounded, 0.6)):
        with pytest.raises(BadInput, match=r"not positive definite at the start: its smallest eigenvalue is -0\.21"):
            sample(sampler, jnp.full(1, 1.1), **settings)
        with pytest.warns(NotConverged, match="moves were rejected as the metric is not positive definite"):
            draws = sample(sampler, jnp.zeros(1), **settings)
        rejected = int(draws["sample_stats"]["not_definite"].sum())
        assert any(f"{rejected} of 400 moves were rejected" in text for text in diagnose(draws).problems)
        draws["sample_stats"]["not_definite"] = draws["sample_stats"]["not_definite"] & False
        assert not any("definite" in text for text in diagnose(draws).problems)


def test_fixed_points_that_do_not_converge_are_rejected() -> None:
    x = jnp.asarray([0.9, 0.1, 0.2])
    states, infos = steps(hmc(following, max_iterations=2), x)
    assert np.all(infos.not_converged) and np.all(infos.acceptance_rate == 0)
    assert np.all(states.position == x[None])
    _, infos = steps(hmc(following), x)
    assert not np.any(infos.not_converged)


def test_steps_that_do_not_lead_back_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generalised_leapfrog, "BACK", -1)
    x = jnp.asarray([0.9, 0.1, 0.2])
    states, infos = steps(hmc(following, 0.49), x)
    assert np.all(infos.not_reversible) and np.all(states.position == x[None])


@pytest.mark.slow
def test_large_steps_fail_and_say_so() -> None:
    _, infos = steps(hmc(mixing, 4.0), jnp.asarray([-2.0, 0.1, 0.2]))
    faults = infos.not_converged | infos.not_reversible | infos.not_definite
    assert faults.sum() > 10 and np.all(infos.acceptance_rate[faults] == 0)


def test_the_drift_has_the_divergence_of_the_inverse_metric() -> None:
    """-G^-1 c = sum_j d_j (G^-1)_ij, by differentiating the inverse."""
    with jax.enable_x64(True):
        x = jnp.asarray([0.3, -0.4, 0.8])
        inverse = jnp.linalg.inv(mixing(x))
        slope = jax.jacfwd(lambda y: jnp.linalg.inv(mixing(y)))(x)
        found = -inverse @ riemannian_langevin._contracted_slope(mixing, x, inverse)
        np.testing.assert_allclose(found, jnp.einsum("ijj->i", slope), rtol=1e-10)


def test_without_the_test_the_law_is_that_of_the_discretisation() -> None:
    """x <- (1 - h^2/2) x + h s z has the variance s^2 / (1 - h^2/4): 1.333 at h = 1, to 3 %."""
    law = TARGETS["gaussian-1"]
    sampler = RiemannianLangevin(
        FullGradient(law.target()), LocalMetric(lambda x: jnp.full_like(x, 1 / 2.25)), 1.0, adjusted=False
    )
    one = lambda i: run_alone(sampler, jax.random.fold_in(jax.random.key(0), i))
    x = np.asarray(jax.jit(jax.vmap(one))(jnp.arange(20_000)))[:, 0]
    assert x.var() == pytest.approx(2.25 / 0.75, rel=0.03)


def run_alone(sampler: Any, key: jax.Array) -> jax.Array:
    step = lambda state, t: (sampler.step(jax.random.fold_in(key, t), state)[0], None)
    return jax.lax.scan(step, sampler.init(jnp.asarray([0.3])), jnp.arange(25))[0].position


def normal_likelihood(p: Any, y: jax.Array) -> jax.Array:
    return -0.5 * (y - p["mean"][0]) ** 2 * p["precision"] + 0.5 * jnp.log(p["precision"])


def normal_prior(p: Any) -> jax.Array:
    return -0.5 * p["mean"][0] ** 2 * p["precision"] + 0.5 * jnp.log(p["precision"]) - p["precision"]


@pytest.mark.slow
def test_fisher_metric_and_self_tuning_on_a_tree() -> None:
    """Normal-gamma: precision ~ Gamma(1 + (n + 1)/2, ...), exact mean; within 4 standard errors."""
    y = np.random.default_rng(0).normal(1.0, 0.7, size=12).astype(np.float32)
    manifold = Product({"mean": Euclidean(), "precision": LogPositive()})
    posterior = Posterior(manifold, normal_prior, normal_likelihood, y)
    start = {"mean": np.zeros(1, np.float32), "precision": np.float32(1.0)}
    sampler = RiemannianHMC(FullGradient(posterior), FisherMetric(posterior))
    draws = sample(sampler, start, seed=0, num_warmup=200, num_draws=1000, progress=False)
    shape, rate = 1 + len(y) / 2, 1 + 0.5 * (np.sum(y**2) - np.sum(y) ** 2 / (len(y) + 1))
    precision = draws["posterior"]["precision"].values
    blocks = precision.reshape(40, 100).mean(axis=1)
    assert abs(blocks.mean() - shape / rate) < 4 * blocks.std(ddof=1) / np.sqrt(40)
    assert 0.65 < draws["sample_stats"]["acceptance_rate"].values.mean() < 0.95
    assert "not_reversible" in draws["sample_stats"]


@pytest.mark.parametrize(
    ("manifold", "words"), [(Sphere(), "GeodesicHMC"), (Positive(), "LogPositive")], ids=["curved", "walls"]
)
def test_other_spaces_are_refused(manifold: Any, words: str) -> None:
    target = Target(manifold, lambda x: -jnp.sum(x))
    sampler = RiemannianHMC(FullGradient(target), LocalMetric(jnp.ones_like), 0.1)
    start = np.array([0.6, 0.8], np.float32)
    with pytest.raises(Unsupported, match=words):
        sample(sampler, start, seed=0, num_draws=1, progress=False)


def test_bad_settings_are_refused() -> None:
    start = np.zeros(3, np.float32)
    with pytest.raises(BadInput, match="one number"):
        sample(hmc(mixing, np.ones(3, np.float32)), start, seed=0, num_draws=1, progress=False)
    with pytest.raises(BadInput, match="set step_size"):
        sample(langevin(mixing, None, adjusted=False), start, seed=0, num_draws=1, progress=False)
    with pytest.raises(BadInput, match="cannot be exchanged"):
        sample(Tempering(langevin(mixing, adjusted=False)), start, seed=0, num_draws=1, progress=False)
