"""Riemannian HMC and Langevin: they leave a funnel alone, with metrics that follow it and metrics that mix coordinates;
what breaks them is counted and rejected; wrong ones are caught.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import orthodrome.dynamics.generalised_leapfrog as generalised_leapfrog
import orthodrome.samplers.exact.riemannian_langevin as riemannian_langevin
from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, LogPositive, Positive, Product, Sphere
from orthodrome.metrics.local_metric import FisherMetric, LocalMetric
from orthodrome.run import sample
from orthodrome.samplers.exact.riemannian_hmc import RiemannianHMC
from orthodrome.samplers.exact.riemannian_langevin import RiemannianLangevin
from orthodrome.samplers.holders.tempering import Tempering
from orthodrome.targets import Posterior, Target
from support.registry import TARGETS, Law
from support.truth import LARGEST_BIAS, THRESHOLD, verdict


def funnel(p: jax.Array) -> jax.Array:
    """p0 ~ N(0, 1), p1 and p2 ~ N(0, exp(p0))."""
    return -0.5 * p[0] ** 2 - 0.5 * jnp.sum(p[1:] ** 2) * jnp.exp(-p[0]) - p[0]


def draw_funnel(rng: np.random.Generator, n: int) -> np.ndarray:
    first = rng.normal(size=(n, 1))
    return np.concatenate([first, np.exp(first / 2) * rng.normal(size=(n, 2))], axis=1)


def look(p: jax.Array) -> jax.Array:
    z = p[1:] * jnp.exp(-p[0] / 2)
    return jnp.concatenate([p[:1], p[:1] ** 2, z, z**2])


FUNNEL = Law(Euclidean, funnel, draw_funnel, step=0.5, num_steps=3, walk=1.0, functionals=look)


def following(x: jax.Array) -> jax.Array:
    """The diagonal of the expected information."""
    w = jnp.exp(-x[0])
    return jnp.stack([jnp.full_like(w, 2), w, w])


def mixing(x: jax.Array) -> jax.Array:
    """A full matrix that depends on two coordinates."""
    u = jnp.asarray([1.0, 0.5, 0.0], x.dtype)
    return jnp.diag(following(x)) + 0.3 * jnp.outer(u, u) * (1 + jnp.tanh(x[1]))


def hmc(metric: Any, step: float = 0.5, **settings: Any) -> RiemannianHMC:
    return RiemannianHMC(FullGradient(FUNNEL.target()), LocalMetric(metric), step, 3, **settings)


def langevin(metric: Any, step: float = 0.9, **settings: Any) -> RiemannianLangevin:
    return RiemannianLangevin(FullGradient(FUNNEL.target()), LocalMetric(metric), step, **settings)


CASES = {
    "hmc-mixing": (hmc, mixing, 13_000, "float32"),
    "hmc-following": (hmc, following, 13_000, "float32"),
    "hmc-mixing-64": (hmc, mixing, 13_000, "float64"),
    "langevin-following": (langevin, following, 30_000, "float32"),
    "langevin-mixing": (langevin, mixing, 30_000, "float32"),
    "langevin-mixing-64": (langevin, mixing, 30_000, "float64"),
}
FAST = ("hmc-following", "langevin-following")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FAST else [pytest.mark.slow]) for n in CASES])
def test_stay_in_the_truth(name: str) -> None:
    """A bias of 3 % of a standard deviation in any functional is seen."""
    make, metric, chains, dtype = CASES[name]
    with jax.enable_x64(dtype == "float64"):
        found = verdict(FUNNEL, make(metric), chains, dtype)
    assert found.passes, found
    assert np.all(found.smallest_bias <= LARGEST_BIAS), found.smallest_bias
    assert found.acceptance > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian-1", "log-positive"])
def test_other_flat_laws(name: str) -> None:
    law = TARGETS[name]
    metric = LocalMetric(lambda x: 1 + jax.nn.sigmoid(x))
    gradient = FullGradient(law.target())
    for sampler in (RiemannianHMC(gradient, metric, 0.5, 3), RiemannianLangevin(gradient, metric, 0.7)):
        assert verdict(law, sampler, 20_000, "float32").passes


def test_an_energy_without_the_determinant_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = generalised_leapfrog.System.energy

    def forgetful(self: Any, point: Any) -> jax.Array:
        return right(self, point) - self.metric_at(point.x).log_determinant / 2

    monkeypatch.setattr(generalised_leapfrog.System, "energy", forgetful)
    found = verdict(FUNNEL, hmc(following, 0.51), 4000, "float32", num_steps=21)
    assert np.abs(found.z).max() > 2 * THRESHOLD


def test_a_proposal_without_the_determinant_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = riemannian_langevin.log_normal
    wrong = lambda q, y, h: right(q, y, h) - q.metric.log_determinant / 2
    monkeypatch.setattr(riemannian_langevin, "log_normal", wrong)
    found = verdict(FUNNEL, langevin(following, 0.91), 4000, "float32", num_steps=21)
    assert np.abs(found.z).max() > 2 * THRESHOLD


def steps(sampler: Any, x: Any, count: int = 64) -> Any:
    """So many single transitions from one position."""
    one = lambda i: sampler.step(jax.random.fold_in(jax.random.key(0), i), sampler.init(x))
    return jax.jit(jax.vmap(one))(jnp.arange(count))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_step_keeps_structure_and_dtype_and_vmap_is_a_loop(dtype: str) -> None:
    with jax.enable_x64(dtype == "float64"):
        x = jnp.asarray(draw_funnel(np.random.default_rng(1), 3), dtype)
        for sampler in (hmc(following), langevin(following)):
            one = lambda i, y, s=sampler: s.step(jax.random.fold_in(jax.random.key(0), i), s.init(y))
            states, infos = jax.jit(jax.vmap(one))(jnp.arange(3), x)
            assert states.position.dtype == states.logdensity.dtype == infos.lp.dtype == jnp.dtype(dtype)
            for i in range(3):
                alone, _ = jax.jit(one)(i, x[i])
                np.testing.assert_allclose(alone.position, states.position[i], rtol=1e-4, atol=1e-5)


def test_the_generalised_leapfrog_keeps_volume_and_leads_back(x64: None) -> None:
    """det d(x', p') / d(x, p) = 1, and with the momentum turned round the step ends where it began."""
    gradient = FullGradient(FUNNEL.target())
    system = generalised_leapfrog.System(gradient, LocalMetric(following), jnp.asarray(1e-14), lambda x: x, 200)

    def move(z: jax.Array) -> jax.Array:
        point = generalised_leapfrog.MomentumPoint(z[:3], z[3:], *system.look(z[:3]))
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
