"""The alphabet of the integrators, on any manifold.

Every sampler of this package is a word over a few exactly solvable flows of (x, v), with dx = v dt along geodesics:

    A   geodesic flow:  (x, v) -> geodesic(x, v, h)
    K   kick:           v -> v + h P(x) grad log pi_H(x)

`h` is a tree of steps, one per leaf of x (see `steps`). The ambient gradient is projected once, here.
"""

from __future__ import annotations

from typing import Any

import jax

from orthodrome import steps
from orthodrome.manifolds.manifold import Manifold, Tree


def flow(manifold: Manifold, x: Tree, v: Tree, h: Tree) -> tuple[Tree, Tree]:
    """A: along the geodesic for the time h."""
    return manifold.geodesic(x, v, h)


def kick(manifold: Manifold, x: Tree, v: Tree, gradient: Tree, h: Tree) -> Tree:
    """K: the force of the log density for the time h."""
    push = manifold.project(x, gradient)
    return jax.tree.map(lambda w, g, s: w + steps.transposed(s, g), v, push, h)


def times(h: Tree, factor: Any) -> Tree:
    """The tree of steps, each multiplied by one number."""
    return steps.scaled(h, factor)
