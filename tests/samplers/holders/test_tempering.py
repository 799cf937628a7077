"""Parallel tempering: every replica keeps its own law, exchanges without the ratio are caught, modes are crossed, the
ladder spaces itself, runs resume, and the ladder gives normalising constants.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import orthodrome.dynamics.swaps as swaps
from orthodrome.diagnostics.evidence import log_evidence
from orthodrome.errors import BadInput
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, Product, Rotation, Simplex, Sphere, Stiefel
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.random_walk import RandomWalk
from orthodrome.samplers.holders.tempering import Tempering, begin
from orthodrome.samplers.stochastic.sgld import SGLD
from orthodrome.targets import Target
from orthodrome.tuning.tempering_tuning import respaced
from support import exact_draws as exact
from support.truth import LARGEST_BIAS, THRESHOLD

KAPPA, LADDER = 5.0, (0.2, 0.5, 1.0)
CHAINS, STEPS = 8_000, 20


def fisher(x: jax.Array, kappa: jax.Array) -> jax.Array:
    return kappa * x[0]


def law(kappa: float = KAPPA) -> Target:
    return Target(Sphere(), fisher, jnp.float32(kappa))


def hmc() -> Tempering:
    return Tempering(GeodesicHMC(FullGradient(law()), 0.5, 2), LADDER)


def walk() -> Tempering:
    return Tempering(RandomWalk(law(), 0.9), LADDER, random_swaps=3)


def stay(tempering: Tempering, chains: int = CHAINS) -> tuple[np.ndarray, np.ndarray]:
    """z-scores of E x1, E x1^2, E x2 at every rung after 20 steps from exact draws of every rung, and errors in sd."""
    rng = np.random.default_rng(5)
    start = np.stack([exact.von_mises_fisher(rng, chains, 3, KAPPA * e) for e in LADDER], axis=1)

    @jax.jit
    def run(tempering: Any, key: jax.Array, start: jax.Array) -> jax.Array:
        def chain(i: jax.Array, positions: jax.Array) -> jax.Array:
            exponents = tempering.exponents(positions.dtype)
            state = begin(jax.vmap(lambda e, x: tempering.replica({}, e).init(x))(exponents, positions))

            def step(state: Any, t: jax.Array) -> Any:
                state, _ = tempering.step(jax.random.fold_in(jax.random.fold_in(key, i), t), state)
                x = state.replicas.position
                return state, jnp.stack([x[:, 0], x[:, 0] ** 2, x[:, 1]], axis=1)

            return jnp.mean(jax.lax.scan(step, state, jnp.arange(STEPS))[1][STEPS // 4 :], axis=0)

        return jax.vmap(chain)(jnp.arange(chains), start)

    seen = np.asarray(run(tempering, jax.random.key(1), jnp.asarray(start, jnp.float32)), float)
    means, sds = zip(*[moments(KAPPA * e) for e in LADDER], strict=True)
    error = seen.std(axis=0) / np.sqrt(chains)
    return (seen.mean(axis=0) - np.array(means)) / error, error / np.array(sds)


def moments(kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact means and standard deviations of x1, x1^2, x2."""
    w, weight = exact.von_mises_fisher_cosine(3, kappa)
    m = [weight @ w**k for k in range(5)]
    return np.array([m[1], m[2], 0]), np.sqrt([m[2] - m[1] ** 2, m[4] - m[2] ** 2, (1 - m[2]) / 2])


@pytest.mark.parametrize("make", [hmc, pytest.param(walk, marks=pytest.mark.slow)])
def test_every_replica_stays_in_its_truth(make: Any) -> None:
    """A bias of 3 % of a standard deviation in any functional of any rung is seen."""
    z, error = stay(make(), CHAINS if make is hmc else 2 * CHAINS)
    assert np.all(np.abs(z) < THRESHOLD), z
    assert np.all((THRESHOLD + 2) * error <= LARGEST_BIAS)


def test_exchanges_without_the_ratio_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swaps, "log_odds", lambda exponents, heights, xp=jnp: xp.full(heights.size - 1, xp.inf))
    z, _ = stay(hmc(), 2000)
    assert np.abs(z).max() > 2 * THRESHOLD


def test_exchanges_are_permutations_of_the_allowed_pairs() -> None:
    exponents, heights = jnp.asarray([0.1, 0.3, 0.6, 1.0]), jnp.asarray([5e3, 4e3, 3e3, 2e3])  # always exchange
    in_turns = jax.jit(lambda heights, turn: swaps.in_turns(jax.random.key(0), exponents, heights, turn))
    np.testing.assert_array_equal(in_turns(heights, 0), [1, 0, 3, 2])
    np.testing.assert_array_equal(in_turns(heights, 1), [0, 2, 1, 3])
    order = jax.jit(lambda: swaps.at_random(jax.random.key(1), exponents, heights, 50))()
    np.testing.assert_array_equal(np.sort(order), np.arange(4))
    np.testing.assert_allclose(heights[order], [2e3, 3e3, 4e3, 5e3])  # the highest goes to the coldest
    not_a_number = heights.at[1].set(jnp.nan)
    np.testing.assert_array_equal(in_turns(not_a_number, 0), [0, 1, 3, 2])


def test_rungs_at_equal_distances_of_the_barrier() -> None:
    """With rejection proportional to log(e'/e), the ladder becomes geometric."""
    space = jax.jit(lambda ladder: respaced(ladder, 0.2 * jnp.diff(jnp.log(ladder))))
    ladder = jnp.asarray([0.1, 0.2, 0.5, 0.8, 1.0])
    for _ in range(60):
        ladder = space(ladder)
    np.testing.assert_allclose(jnp.diff(jnp.log(ladder)), np.log(10) / 4, rtol=0.02)
    np.testing.assert_array_equal(ladder[jnp.asarray([0, -1])], jnp.asarray([0.1, 1.0]))


# --- runs ------------------------------------------------------------------------------------------------------------

AXIAL = np.array([0.0, 5.0, 20.0], np.float32)


def axial(x: jax.Array, a: jax.Array) -> jax.Array:
    """Two modes at +-e3, and a barrier of 15 nats."""
    return jnp.sum(a * x**2)


SELF_TUNED = Tempering(GeodesicHMC(FullGradient(Target(Sphere(), axial, AXIAL)), num_steps=4), num_replicas=5)
NORTH = np.array([0.0, 0.0, 1.0], np.float32)
run = partial(sample, SELF_TUNED, NORTH, seed=2, num_chains=4, num_warmup=400, progress=False)


@pytest.fixture(scope="module")
def draws() -> Any:
    return run(num_draws=2000)


def test_modes_are_crossed(draws: Any) -> None:
    x = draws["posterior"]["x"].values[..., 2]
    ups = (x > 0).reshape(4, 20, 100).mean(axis=2)
    error = ups.std(ddof=1) / np.sqrt(ups.size)
    assert abs(ups.mean() - 0.5) < 4 * error and error < 0.03
    assert draws["sample_stats"]["round_trips"].values[:, -1].min() > 100


def test_the_ladder_spaces_itself_and_each_replica_has_its_step(draws: Any) -> None:
    rates = draws["sample_stats"]["swap_rate"].values.mean((0, 1))
    assert rates.min() > 0.5 and rates.max() - rates.min() < 0.15
    exponent = draws["sample_stats"]["exponent"].values
    assert np.all(exponent == exponent[0, 0]) and exponent[0, 0, -1] == 1
    assert 0.6 < draws["sample_stats"]["acceptance_rate"].values.mean() < 0.99


def test_a_run_resumes_to_the_same_draws(draws: Any, tmp_path: Path) -> None:
    run(num_draws=700, checkpoint=tmp_path / "c")
    resumed = run(num_draws=2000, checkpoint=tmp_path / "c")
    for name in ("round_trips", "replica_lp", "exponent"):
        np.testing.assert_array_equal(resumed["sample_stats"][name], draws["sample_stats"][name])
    np.testing.assert_array_equal(resumed["posterior"]["x"], draws["posterior"]["x"])


def test_evidence_of_bingham(draws: Any) -> None:
    """log int exp(x'Ax) dS by quadrature; both estimates within 4 of their errors, which are below 0.04."""
    inside = lambda w: np.exp(20 * w**2) * mean_exp_over_circle(5 * (1 - w**2))
    truth = np.log(2 * np.pi * 2 * quad(inside, 0, 1)[0])
    found = log_evidence(draws, SELF_TUNED.sampler.gradient.target)
    assert abs(found.bridge - truth) < 4 * found.bridge_error and found.bridge_error < 0.04
    assert abs(found.thermodynamic - truth) < 4 * found.thermodynamic_error + 0.01
    relative = log_evidence(draws)
    assert relative.reference == 0 and relative.bridge < found.bridge


def mean_exp_over_circle(b: float) -> float:
    from scipy.special import ive

    return float(ive(0, b / 2) * np.exp(b))


@pytest.mark.slow
def test_evidence_of_von_mises_fisher() -> None:
    """log Z = log(4 pi sinh(kappa) / kappa)."""
    target = law(20.0)
    sampler = Tempering(GeodesicHMC(FullGradient(target), 0.5, 3), (0.05, 0.15, 0.4, 1.0))
    seen = sample(sampler, -NORTH[::-1], seed=1, num_warmup=50, num_draws=1000, progress=False)
    found = log_evidence(seen, target)
    truth = np.log(4 * np.pi * np.sinh(20.0) / 20)
    assert abs(found.bridge - truth) < 4 * found.bridge_error and found.bridge_error < 0.06


def test_evidence_needs_a_tempered_run_and_a_volume() -> None:
    import xarray

    empty = xarray.DataTree.from_dict({"sample_stats": xarray.Dataset({"lp": ("draw", [0.0])})})
    with pytest.raises(BadInput, match="Tempering"):
        log_evidence(empty)
    with pytest.raises(BadInput, match="Euclidean"):
        Euclidean().log_volume(np.zeros(3))


def test_volumes() -> None:
    """Circles, spheres, SO(3) (whose unit of length is sqrt(2) radians), and V_{3,2}, which is SO(3) without its last
    column: 8 pi^2 sqrt(2) by the area of the sphere times that of the circle, stretched once by sqrt(2).
    """
    expected = {
        (Sphere(), (2,)): 2 * np.pi,
        (Sphere(), (3, 4)): (2 * np.pi**2) ** 3,
        (Simplex(), (3,)): 4 * np.pi,
        (Rotation(), (3, 3)): 8 * np.pi**2 * 2**1.5,
        (Stiefel(), (3, 2)): 8 * np.pi**2 * 2**0.5,
    }
    for (manifold, shape), volume in expected.items():
        assert manifold.log_volume(np.zeros(shape)) == pytest.approx(np.log(volume))
    both = Product({"a": Sphere(), "b": Rotation()})
    parts = {"a": np.zeros(2), "b": np.zeros((3, 3))}
    assert both.log_volume(parts) == pytest.approx(np.log(2 * np.pi * 8 * np.pi**2 * 2**1.5))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ladder": (0.5, 0.2, 1.0)}, "increase"),
        ({"ladder": (0.0, 0.5, 1.0)}, r"\(0, 1\]"),
        ({"ladder": (0.2, 0.5)}, "end at 1"),
        ({"ladder": (0.5, 0.5, 1.0)}, "increase"),
        ({"ladder": (0.2, float("nan"), 1.0)}, "finite"),
        ({"ladder": (0.5, 1.0, 1.5)}, "end at 1"),
        ({"ladder": (1.0,)}, "at least 2"),
        ({"num_replicas": 1}, "at least 2"),
        ({"hottest": 1.5}, "hottest"),
        ({"random_swaps": 0}, "random_swaps"),
        ({"sampler": SGLD(FullGradient(Target(Sphere(), axial, AXIAL)), 0.1)}, "SGLD"),
    ],
)
def test_bad_ladders_are_refused(changes: dict[str, Any], words: str) -> None:
    import dataclasses

    with pytest.raises(BadInput, match=words):
        sample(dataclasses.replace(SELF_TUNED, **changes), NORTH, seed=0, num_warmup=10, num_draws=10, progress=False)
