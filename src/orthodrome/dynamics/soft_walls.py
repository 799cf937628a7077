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
