"""The jumps of a recipe: where they are needed, and whether they keep the law.

With D = 0 the dynamics of a recipe is deterministic. It leaves exp(-H) invariant (Liouville), but it stays on the level
of H on which it starts, so that its averages are those of that level: it needs jumps between levels (Ma, Chen & Fox
2015, section 2.1). A jump that draws the momentum r anew keeps exp(-H) if the draw is from its conditional law,
p(r | rest) proportional to exp(-H). By partial integration every such draw has

    E [r_i dH/dr_i] = 1     for each coordinate i,

which the door tests with draws at the start: the wrong mass of a momentum is a wrong temperature of the whole chain.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import orthodrome.recipe.matrices as matrices
from orthodrome.core.coordinates import coordinate_names
from orthodrome.core.types import Tree

REMEDY = (
    " and there are no jumps: the chain would stay on the level of H on which it starts, and its draws would not have "
    "the law exp(-H); set refresh_every, which draws the momentum anew, or give a `diffusion`"
)
DRAWS, SURE = 400, 6.0
"""How many momenta are drawn, and how many standard errors E [r_i dH/dr_i] must be from 1 to be wrong."""


def noiseless(recipe: Any, z: Tree) -> bool:
    """Return whether D times a random vector is 0 at z and at two points near it."""
    flat, unravel = ravel_pytree(z)
    steps = jax.random.normal(jax.random.key(0), (4, flat.size), flat.dtype)
    v, points = unravel(steps[3]), (flat, flat + 0.1 * steps[1], flat + 0.1 * steps[2])
    pushes = [ravel_pytree(matrices.product(recipe.diffusion, unravel(y), v, recipe.data))[0] for y in points]
    return not any(bool(jnp.any(push != 0)) for push in pushes)


def momentum_problem(recipe: Any, position: Tree) -> list[str]:
    """Return in what way `auxiliary` does not draw the momentum from exp(-H), where and by how much, or nothing."""
    products = np.asarray(jax.jit(_products)(recipe, position), float)
    mean, error = products.mean(axis=0), products.std(axis=0) / np.sqrt(DRAWS)
    wrong = np.abs(mean - 1) > SURE * error + 1e-3
    if not wrong.any():
        return []
    i = int(np.where(wrong, np.abs(mean - 1), -1.0).argmax())
    name = coordinate_names(position)[i]
    return [
        f"`auxiliary` does not draw the momentum from exp(-H), and each jump would leave the law: E [r dH/dr] is "
        f"{mean[i]:.3g} instead of 1 (standard error {error[i]:.2g}) for the momentum of {name}; give it the "
        "covariance that its energy has"
    ]


def _products(recipe: Any, position: Tree) -> Any:
    """Return r_i dH/dr_i for each of DRAWS momenta."""

    def one(key: Any) -> Any:
        rest = tuple(recipe.auxiliary(key, position))
        slope = jax.grad(lambda r: recipe.energy((position, r, *rest[1:])))(rest[0])
        return ravel_pytree(rest[0])[0] * ravel_pytree(slope)[0]

    return jax.vmap(one)(jax.random.split(jax.random.key(1), DRAWS))
