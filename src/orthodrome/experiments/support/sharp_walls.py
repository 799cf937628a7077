"""Simplices whose walls are as sharp as in Byrne & Girolami (2013).

Our integrator softens forces within one step of a wall (`dynamics.soft_walls`), which keeps the law and lets far more
trajectories be accepted where a density has poles at walls. The paper's integrator does not: to see its table, its
samplers must meet the force itself.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.manifolds import Product
from orthodrome.manifolds.reflected_simplex import ReflectedSimplex
from orthodrome.manifolds.simplex import Simplex
from orthodrome.models.comparison.model import WALLS
from orthodrome.targets import Target


@pytree
class SharpSphere(Simplex):
    """The simplex on a sphere by the square-root map, with forces as they are."""

    def walls(self, x: Array) -> Array:
        return jnp.full_like(x, jnp.inf)  # none that a force is softened at


@pytree
class SharpSimplex(ReflectedSimplex):
    """The flat simplex whose walls reflect, with forces as they are."""

    def walls(self, x: Array) -> Array:
        return jnp.full_like(x, jnp.inf)  # none that a force is softened at


def sharpened(law: Target, space: str) -> Target:
    """Return a posterior of strengths on the sphere or the flat simplex with sharp walls."""
    manifold = SharpSphere() if space == "sphere" else SharpSimplex(max_hits=WALLS)
    return Target(Product({"strength": manifold}), law.logdensity, law.data)
