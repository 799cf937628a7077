"""Recipes without noise: refused without jumps, right with them; matrices that are no metric at some draws are told."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray

from orthodrome import sample
from orthodrome.core.pytree import replace
from orthodrome.diagnostics import diagnose
from orthodrome.diagnostics.verdict import objections
from orthodrome.doors import check_sampler
from orthodrome.errors import BadInput, Diverged
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Euclidean
from orthodrome.metrics import ExactDivergence, InverseMetric, ProbedDivergence
from orthodrome.recipe import MatrixFree, Recipe
from orthodrome.samplers import SGRLD
from orthodrome.targets import Target
from support import recipes

COPIES = 4_000


def energy(z: Any) -> jax.Array:
    return 0.5 * jnp.sum(z[0] ** 2) + 0.5 * jnp.sum(z[1] ** 2)


def turned(z: Any, v: Any) -> Any:
    return -v[1], v[0]


HMC = Recipe(energy, None, MatrixFree(turned), 0.05, auxiliary=recipes.normal_momentum, divergence=ProbedDivergence())


@jax.jit
def second_moment(recipe: Recipe, start: jax.Array) -> jax.Array:
    """E x^2 of independent oscillators, at 30 times after 20 jumps."""
    state = recipe.init(start, jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), 50 * 25).reshape(50, 25)
    several = lambda state, keys: jax.lax.scan(lambda s, k: (recipe.step(k, s)[0], None), state, keys)[0]
    moments = lambda state, keys: (state := several(state, keys), jnp.mean(state.position**2))
    return jnp.mean(jax.lax.scan(moments, state, keys)[1][20:])


def test_hmc_by_the_recipe_needs_jumps() -> None:
    """4,000 oscillators from x = 3: the variance is 1 with jumps (standard error 0.005), and 5 on the first levels."""
    start = jnp.full(COPIES, 3.0)
    assert second_moment(replace(HMC, refresh_every=25), start) == pytest.approx(1.0, abs=0.02)
    assert second_moment(HMC, start) > 4


def test_a_recipe_without_noise_and_jumps_is_refused() -> None:
    start = jnp.zeros((1, 2))
    with pytest.raises(BadInput, match=r"D = 0.*no jumps.*set refresh_every"):
        sample(HMC, start[0], seed=0, num_warmup=1, num_draws=1, progress=False)
    zero = replace(HMC, diffusion=lambda z: 0 * recipes.symplectic(recipes.eye(z[0])))
    with pytest.raises(BadInput, match=r"`diffusion` is 0 at the start.*set refresh_every"):
        check_sampler(zero, start)
    for jumping in (replace(HMC, refresh_every=5), replace(zero, refresh_every=5)):
        check_sampler(jumping, start)
    with pytest.raises(BadInput, match="no momentum"):
        check_sampler(Recipe(recipes.potential, lambda z: jnp.eye(2), step_size=0.1, refresh_every=3), start)
    with pytest.raises(BadInput, match="refresh_every is 0"):
        check_sampler(replace(HMC, refresh_every=0), start)


def test_a_jump_must_draw_from_its_conditional_law() -> None:
    """A momentum of variance 1 whose energy says 2: the jumps would heat the chain."""
    heavy = replace(HMC, hamiltonian=lambda z: energy(z) - 0.25 * z[1][1] ** 2, refresh_every=5)
    with pytest.raises(BadInput, match=r"E \[r dH/dr\] is 0\.\d+ instead of 1 .* momentum of z\[1\]"):
        check_sampler(heavy, jnp.zeros((1, 2)))


def test_a_diffusion_that_is_none_somewhere_is_flagged() -> None:
    recipe = Recipe(recipes.potential, lambda z: jnp.diag(jnp.stack([jnp.ones(()), z[0]])), step_size=0.01)
    for first, expected in ((0.5, False), (-0.5, True)):
        _, info = recipe.step(jax.random.key(0), recipe.init(jnp.asarray([first, 0.0])))
        assert bool(info.indefinite) is expected


def test_draws_with_an_indefinite_matrix_are_told() -> None:
    flags = np.zeros((2, 50), bool)
    flags[1, 7:9] = True
    rng = np.random.default_rng(0)
    tree = xarray.DataTree.from_dict(
        {
            "posterior": xarray.Dataset({"x": (("chain", "draw"), rng.normal(size=(2, 50)))}),
            "sample_stats": xarray.Dataset({"indefinite": (("chain", "draw"), flags)}),
        }
    )
    expected = "not positive definite at 2 of 100 draws, the first being draw 7 of chain 1"
    assert expected in objections(tree)[0] and expected in diagnose(tree).verdict
    tree["sample_stats"]["indefinite"] = tree["sample_stats"]["indefinite"] & False
    assert not objections(tree)


def test_a_metric_without_a_root_is_named_where_the_chain_fails() -> None:
    metric = InverseMetric(lambda x: 0.2 - x)  # walks into x > 0.2 soon
    law = FullGradient(Target(Euclidean(), lambda x: -0.5 * jnp.sum(x**2)))
    with pytest.raises(Diverged, match=r"the metric \(or D\) is not positive definite"):
        sample(SGRLD(law, metric, 0.1), jnp.zeros(1), seed=0, num_warmup=5, num_draws=400, num_chains=1, progress=False)


def test_a_diffusion_that_is_none_some_draws_before_the_chain_fails_is_named() -> None:
    """Beyond x = 1 a negative friction throws the chain out within some tens of steps."""
    friction = lambda z: jnp.diag(jnp.stack([0 * z[0][0], 1 - z[0][0] ** 2]))
    wall = replace(HMC, diffusion=friction, step_size=0.1, divergence=ExactDivergence())
    with pytest.raises(Diverged, match=r"\(or D\) is not positive definite at a position \d+ draws earlier"):
        sample(wall, jnp.zeros(1), seed=0, num_warmup=0, num_draws=400, num_chains=2, progress=False)
