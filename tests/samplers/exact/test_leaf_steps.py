"""Leaves of NUTS that are several leapfrogs apart: Hamiltonian Monte Carlo where there are two, and the law."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core.pytree import replace
from orthodrome.dynamics.leapfrog import leapfrog
from orthodrome.errors import BadInput
from orthodrome.gradients.full import FullGradient
from orthodrome.linear import leaves
from orthodrome.manifolds import Sphere
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.learnt import Learnt
from orthodrome.targets import Target
from support.exact_draws import uniform_directions
from support.quick import quick
from support.registry import TARGETS
from support.tilted_sphere import plain_energy, plain_orbit, tilted_sphere
from support.truth import LARGEST_BIAS, THRESHOLD, verdict

MAX_DEPTH = 4


def tilted(step_size: float | None = 0.7, **settings: Any) -> GeodesicNUTS:
    return GeodesicNUTS(FullGradient(Target(Sphere(), tilted_sphere)), step_size, MAX_DEPTH, **settings)


@jax.jit
def transitions(sampler: GeodesicNUTS, x0: jax.Array) -> Any:
    step = lambda i, x: sampler.step(jax.random.fold_in(jax.random.key(4), i), sampler.init(x))
    return jax.vmap(step)(jnp.arange(len(x0)), x0)


# --- two leaves are Hamiltonian Monte Carlo --------------------------------------------------------------------------


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_one_doubling_is_hamiltonian_monte_carlo(count: int) -> None:
    """1,000 transitions: the probability of acceptance is Metropolis', the draw is the start or the end of `count`
    steps from it, in one direction of time or the other, and it is the end as often as it must be."""
    x0, h = uniform_directions(np.random.default_rng(1), 1000, 3), 0.9
    keys = jax.vmap(lambda i: jax.random.split(jax.random.fold_in(jax.random.key(4), i), 3))(jnp.arange(len(x0)))
    v0 = np.asarray(jax.vmap(Sphere().random_velocity)(keys[:, 0], x0))
    state, info = transitions(tilted(h, depth_limit=np.int32(1), leaf_steps=np.int32(count)), jnp.asarray(x0))
    ends = [[a[:, -1] for a in plain_orbit(x0, v0, time * h, count)] for time in (1, -1)]
    wanted = np.stack([np.exp(np.minimum(0, plain_energy(x0, v0) - plain_energy(*end))) for end in ends])
    rate, drawn = np.asarray(info.acceptance_rate), np.asarray(state.position)
    way = np.argmin(np.abs(wanted - rate), axis=0)
    np.testing.assert_allclose(rate, np.take_along_axis(wanted, way[None], 0)[0], rtol=1e-9)
    near = lambda x: np.max(np.abs(drawn - x), axis=1) < 1e-9
    moved = near(ends[0][0]) | near(ends[1][0])
    assert np.all(moved | near(x0)) and np.all(np.asarray(info.n_steps) == count)
    assert 0.5 < rate.mean() < 0.995
    assert abs(np.sum(moved - rate)) < THRESHOLD * np.sqrt(np.sum(rate * (1 - rate)))


def test_a_single_step_is_what_is_done_where_nothing_is_set() -> None:
    """Transition for transition, bit for bit; two steps are another orbit."""
    x0 = jnp.asarray(uniform_directions(np.random.default_rng(2), 200, 3), "float32")
    wanted, one, two = (transitions(tilted(leaf_steps=m), x0) for m in (None, np.int32(1), np.int32(2)))
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(two[0].position, wanted[0].position)


# --- the law ---------------------------------------------------------------------------------------------------------

LAWS = ("vmf-3", "gaussian-1", "positive", "log-positive")
"""A sphere, a flat law, one with a wall, one in a chart."""


def nuts_on(name: str, count: int, persistence: float, max_depth: int = 3) -> GeodesicNUTS:
    """Steps that are shorter where a leaf has more of them, so that no trajectory is of several periods."""
    law = TARGETS[name]
    gradient = FullGradient(law.target())
    return GeodesicNUTS(gradient, 2 * law.step / (1 + count), max_depth, None, np.float32(persistence), np.int32(count))


EVERY = [(name, count, p) for name in LAWS for count in (1, 2, 3) for p in (0.5, 0.85)]
FAST = [("vmf-3", 2, 0.85), ("vmf-3", 3, 0.5), ("gaussian-1", 3, 0.5), ("positive", 2, 0.85)]


@pytest.mark.parametrize("case", quick(EVERY, *FAST), ids=lambda case: "-".join(map(str, case)))
def test_leaves_several_steps_apart_keep_the_law(case: tuple[str, int, float]) -> None:
    """At one, two and three steps a leaf, with fair coins and persistent ones."""
    name, count, persistence = case
    law = TARGETS[name]
    found = verdict(law, nuts_on(name, count, persistence), 2 * law.chains, "float32")
    assert found.passes, found
    assert found.smallest_bias.max() < LARGEST_BIAS


def defective(defect: str) -> Any:
    """Growth whose leaves are two steps away, with a defect."""

    def grow(self: GeodesicNUTS, growth: Any, tree: Any) -> Any:
        start, h = growth.origin(tree), leaves.scaled(growth.h, growth.sign(tree))
        before = leapfrog(self.gradient, start, h)
        after = leapfrog(self.gradient, before, h)
        if defect == "weighed on the way":
            return self.joined(growth, tree, after._replace(logdensity=before.logdensity))
        single = start.position[0] > 0.7
        return self.joined(growth, tree, jax.tree.map(lambda a, b: jnp.where(single, a, b), before, after))

    return grow


@pytest.mark.parametrize("defect", ["weighed on the way", "a number that depends on the position"])
def test_a_defect_of_the_leaves_is_caught(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The controls, each with a `max_depth` of its own, as JAX would take the compiled transitions of another test.

    Every transition begins with the right density, whatever the leaf that was drawn before it was taken to have.
    """
    begin = GeodesicNUTS.begin
    monkeypatch.setattr(GeodesicNUTS, "begin", lambda self, key, state: begin(self, key, self.init(state.position)))
    monkeypatch.setattr(GeodesicNUTS, "_grow", defective(defect))
    max_depth = 5 if defect == "weighed on the way" else 6
    sampler = replace(nuts_on("vmf-3", 2, 0.85, max_depth), step_size=TARGETS["vmf-3"].step)
    found = verdict(TARGETS["vmf-3"], sampler, 10_000, "float32")
    assert np.abs(found.z).max() > 2 * THRESHOLD, found


# --- what is reported and refused ------------------------------------------------------------------------------------


def test_sample_stats_count_every_gradient() -> None:
    """A run with three steps a leaf reports three gradients for every leaf."""
    sampler = tilted(None, depth_limit=1, leaf_steps=3)
    tree = sample(sampler, jnp.array([1.0, 0.0, 0.0]), seed=0, num_warmup=50, num_draws=20, progress=False)
    assert np.all(tree["sample_stats"]["n_steps"] == 3)


def test_a_number_that_is_set_is_not_learnt() -> None:
    found = Learnt(0.1, depth_limit=1, persistence=0.5, leaf_steps=2)
    assert tilted(None).tuned(found).leaf_steps == 2
    assert tilted(None, leaf_steps=3).tuned(found).leaf_steps == 3
    assert tilted(None, leaf_steps=3).tuned(Learnt(0.1)).leaf_steps == 3


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "leaf_steps is 0; it must be a whole number of at least 1"),
        (-2, "leaf_steps is -2"),
        (1.5, "leaf_steps is 1.5"),
        (np.array([1, 2]), "it must be one number"),
        (np.nan, "it must consist of finite numbers"),
    ],
)
@pytest.mark.parametrize("step_size", [0.3, None])
def test_numbers_of_steps_that_cannot_be_are_refused(count: Any, told: str, step_size: float | None) -> None:
    """With a step and where the warm-up would learn it."""
    sampler = replace(tilted(step_size), leaf_steps=count)
    with pytest.raises(BadInput, match=told):
        sample(sampler, jnp.array([1.0, 0.0, 0.0]), seed=0, num_warmup=5, num_draws=5, progress=False)
