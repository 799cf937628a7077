"""What the samplers of flat space share: which spaces they work on, walls, and what they report.

A displacement d of a position on `Positive` that crosses the wall goes on as its mirror image, and the momentum
turns with it (Ma, Chen & Fox 2015, section 4.2, with the flip that a reflected trajectory needs):

    x <- |x + d|,     r <- -r where x + d < 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.samplers.leaf_matrix as leaf_matrix
from orthodrome import steps
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.manifolds.product import Product, is_manifold
from orthodrome.samplers.tunable import StochasticSampler


class FlatInfo(NamedTuple):
    """What one transition did.

    lp: the estimated log density before the step
    temperature: 1 in equilibrium; r'r/m, or of a first-order sampler its mean squared displacement over what the
        noise should give
    clipped: whether the gradient's own noise was more than the step asks for, so that the chain runs too hot
    """

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array


class FlatSampler(StochasticSampler):
    """A sampler of flat spaces, with walls by reflection."""

    @property
    def matrices(self) -> tuple[Any, ...]:
        """The settings that may hold matrices."""
        return ()

    def supports(self, manifold: Manifold) -> str | None:
        """Why it cannot work there, and what to use instead."""
        return refusal(manifold, self.step_size, *self.matrices)


def refusal(manifold: Manifold, step_size: Any = None, *settings: Any) -> str | None:
    """Why a sampler of flat space cannot work here, and what to use instead; None if it can.

    settings: what may hold matrices (preconditioner, mass, friction), which mix coordinates and so cannot be reflected
    """
    kinds = jax.tree.leaves(manifold.factors, is_leaf=is_manifold) if isinstance(manifold, Product) else [manifold]
    curved = next((kind for kind in kinds if not kind.flat), None)
    if curved is not None:
        return (
            f"{type(curved).__name__} is not flat; use SGGMC or GSGNHT, which follow its geodesics, or a chart "
            "(`LogRatioSimplex`, `LogPositive`)"
        )
    if any(steps.is_step(step) for step in jax.tree.leaves(step_size, is_leaf=steps.is_step)):
        return (
            "its step size is one number, or one per leaf or element; a linear map is a preconditioner or mass matrix"
        )
    walls = any(not kind.smooth for kind in kinds)
    if walls and any(leaf_matrix.any_matrix(setting) for setting in settings):
        return "a matrix mixes the coordinates, and walls reflect one at a time; give a diagonal, or use `LogPositive`"
    return None


def moved(manifold: Manifold, position: Tree, displacement: Tree) -> Tree:
    """The position after a displacement, reflected at walls."""
    return manifold.geodesic(position, displacement, _whole(position))[0]


def bounced(manifold: Manifold, position: Tree, displacement: Tree, momentum: Tree) -> tuple[Tree, Tree]:
    """The same, and the momentum, turned round where the position was reflected."""
    new, direction = manifold.geodesic(position, displacement, _whole(position))
    turn = lambda r, before, after: jnp.where(before * after < 0, -r, r)
    return new, jax.tree.map(turn, momentum, displacement, direction)


def _whole(position: Tree) -> Tree:
    return jax.tree.map(lambda leaf: jnp.ones((), leaf.dtype), position)
