"""Known samplers as recipes: H, D and Q of each, for `check_recipe` and as a place to start from.

A step of a sampler of flat space is a step of its recipe with the integrator `SemiImplicit`: to the digit if D is
diagonal, else in law, as there is more than one root of a matrix for the noise. The geodesic samplers
need coordinates (`chart`), and their recipe is the dynamics that they follow, not their integrator.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import replace
from orthodrome.core.types import Tree
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.geodesic import Chart, momentum
from orthodrome.errors import BadInput, Unsupported
from orthodrome.recipe.recipe import Recipe
from orthodrome.samplers.contract import Sampler, SteppedSampler


def recipe_of(sampler: Sampler, chart: Chart | None = None) -> Recipe:
    """Return a sampler as a `Recipe`, with its H, D and Q.

    sampler: SGLD, SGRLD, SGHMC, SGRHMC or SGNHT; SGGMC or GSGNHT with one step size and a `chart`
    chart: a map q -> x from a vector of coordinates to the manifold, smooth and with independent derivatives where it
        is used; z is then (q, p, ...), and H has all of the data
    """
    if not isinstance(sampler, SteppedSampler):
        raise Unsupported(_refusal(sampler))
    return _flat(sampler) if chart is None else _charted(sampler, chart)


def _flat(sampler: SteppedSampler) -> Recipe:
    parts = sampler.ingredients()
    if parts is None:
        raise Unsupported(_refusal(sampler))
    step = None if sampler.step_size is None else max(float(jnp.max(h)) for h in jax.tree.leaves(sampler.step_size))
    return replace(_bound(sampler, parts), step_size=step, gradient=sampler.gradient)  # type: ignore[attr-defined]


def _charted(sampler: SteppedSampler, chart: Chart) -> Recipe:
    parts = sampler.ingredients_in(chart)
    if parts is None:
        raise Unsupported(f"{type(sampler).__name__} has its recipe without coordinates; leave out `chart`")
    if "friction" in sampler.learns:
        raise BadInput("friction is None, which the warm-up learns; set it")
    if sampler.step_size is not None and not _one_number(sampler.step_size):
        raise BadInput(f"step_size is {sampler.step_size!r:.60}; in coordinates it must be one number")

    def rest(key: Array, q: Array) -> tuple[Tree, ...]:
        velocity, *others = parts.rest(sampler.init(chart(q), key))  # type: ignore[misc]
        return momentum(chart, q, velocity), *others

    return replace(_bound(sampler, parts), step_size=sampler.step_size, auxiliary=rest)


def _one_number(value: Any) -> bool:
    return [jnp.ndim(leaf) for leaf in jax.tree.leaves(value)] == [0]


def _bound(sampler: Any, parts: Ingredients) -> Recipe:
    """Return the recipe of a sampler's ingredients, with its settings inside."""
    energy, diffusion, curl = (None if part is None else partial(part, sampler) for part in parts[:3])
    rest = None if parts.rest is None else lambda key, x: parts.rest(sampler.init(x, key))  # type: ignore[misc]
    return Recipe(energy, diffusion, curl, auxiliary=rest, refresh_every=parts.refresh_every)


def _refusal(sampler: Any) -> str:
    return (
        f"{type(sampler).__name__} has no recipe here; SGLD, SGRLD, SGHMC, SGRHMC and SGNHT have one, and SGGMC and "
        "GSGNHT in coordinates, recipe_of(sampler, chart)"
    )
