"""Displacements in flat space with walls, and what a transition there reports.

A displacement d of a position on `Positive` that crosses the wall continues as its mirror image, and the momentum
is reversed with it (Ma, Chen & Fox 2015, section 4.2, with the sign change that a reflected trajectory needs):

    x <- |x + d|,     r <- -r where x + d < 0.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold


class FlatInfo(NamedTuple):
    """A report on one transition.

    lp: the estimated log density before the step
    temperature: 1 in equilibrium; r'r/m, or of a first-order sampler its mean squared displacement over what the
        noise should give
    clipped: whether the gradient's own noise exceeds the noise that the step asks for, so that the chain runs too hot
    """

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array


class MetricInfo(NamedTuple):
    """A report on one transition with a matrix that depends on the position.

    lp, temperature, step_size, clipped: as in `FlatInfo`
    indefinite: whether the metric (or D) is not positive definite (semidefinite) at the position before the step
    """

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array
    indefinite: Array


def moved(manifold: Manifold, position: Tree, displacement: Tree) -> Tree:
    """Return the position after a displacement, reflected at walls."""
    return manifold.geodesic(position, displacement, _whole(position))[0]


def bounced(manifold: Manifold, position: Tree, displacement: Tree, momentum: Tree) -> tuple[Tree, Tree]:
    """Return the position after a displacement, and the momentum, reversed where the position was reflected."""
    new, direction = manifold.geodesic(position, displacement, _whole(position))
    turn = lambda r, before, after: jnp.where(before * after < 0, -r, r)
    return new, jax.tree.map(turn, momentum, displacement, direction)


def _whole(position: Tree) -> Tree:
    return jax.tree.map(lambda leaf: jnp.ones((), leaf.dtype), position)
