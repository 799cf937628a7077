"""Forces beside a wall, softened over one step.

Densities often go like w^c at the distance w from a wall: a gamma law, a Dirichlet law, and every law carried on a
sphere, whose measure vanishes on the equator. A step that lands close to the wall meets the force c / w and is thrown
out of the dynamics, however small the step. But a kick by any function of the position alone is reversible and keeps
volume, and the tests compare the true energies; so the integrator is free to feel, on the elements that meet a wall,

    w^2 / (w^2 + h^2) times the force,     for c log w that of the potential (c / 2) log(w^2 + h^2),

which differs from the true one within a step h of the wall only, and the sampler stays exact.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf


def softened(manifold: Manifold, x: Tree, force: Tree, h: Tree) -> Tree:
    """Return the ambient force at x, softened near walls for a step h."""

    def leaf(m: Manifold, a: Array, f: Array, s: Any) -> Array:
        distance = m.walls(a)
        return f if distance is None else f / (1 + (s / distance) ** 2)

    return per_leaf(manifold, leaf, x, force, h)


def raised(manifold: Manifold, x: Tree, gradient: Tree, h: Tree) -> Array | float:
    """Return by how much the log density of which `softened` is the force lies above the true one at x.

    For c log w it is (c / 2) log(1 + (h / w)^2), with the coordinate times its gradient in the place of c.
    """

    def leaf(m: Manifold, a: Array, g: Array, s: Any) -> Array | float:
        distance = m.walls(a)
        return 0.0 if distance is None else jnp.sum(a * g * jnp.log1p((s / distance) ** 2)) / 2

    return sum(jax.tree.leaves(per_leaf(manifold, leaf, x, gradient, h)))
