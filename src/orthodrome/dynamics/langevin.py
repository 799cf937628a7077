"""One step of first-order Langevin dynamics, shared by SGLD and SGRLD.

    x <- x + h (D g + Gamma) + N(0, 2 h D - h^2 D V D)

with the gradient g of the log density, a positive definite D and the covariance V of the gradient's error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.linear.leaf_matrix as leaf_matrix
from orthodrome.core import trees
from orthodrome.core.types import Memory, Noise, Setting, Tree
from orthodrome.dynamics.flat import FlatInfo, moved
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.gradients.estimator import Estimate
from orthodrome.linear import steps
from orthodrome.linear.noise import MatrixFriction, compensated, leaf_keys, spread
from orthodrome.manifolds.manifold import Manifold


class LangevinState(NamedTuple):
    """A position and what the estimator remembers."""

    position: Tree
    memory: Memory


def langevin_step(
    key: Array, manifold: Manifold, x: Tree, estimate: Estimate, diffusion: Tree, correction: Tree, step_size: Setting
) -> tuple[Tree, FlatInfo]:
    """The new position and the report."""
    h = steps.per_leaf(step_size, x)
    drift = leaf_matrix.over(leaf_matrix.times, diffusion, estimate.gradient)
    noise, clipped = langevin_noise(key, diffusion, estimate.noise, h, x)
    change = jax.tree.map(lambda s, f, c, w: s * (f + c) + w, h, drift, correction, noise)
    info = FlatInfo(estimate.logdensity, displacement(change, diffusion, h), largest_step(step_size), clipped)
    return moved(manifold, x, change), info


def langevin_noise(key: Array, diffusion: Tree, noise: Noise, h: Tree, like: Tree) -> tuple[Tree, Array]:
    """N(0, 2 h D - h^2 D V D), and whether it had to be clipped."""
    leaves, structure = jax.tree.flatten(like)
    matrices = jax.tree.leaves(diffusion, is_leaf=leaf_matrix.is_matrix)
    keys = leaf_keys(key, len(leaves))
    parts = zip(keys, matrices, spread(noise, like), jax.tree.leaves(h), leaves, strict=True)
    drawn = [_draw(k, d, v, s, x) for k, d, v, s, x in parts]
    clipped = jnp.any(jnp.stack([flag for _, flag in drawn]))
    return jax.tree.unflatten(structure, [value for value, _ in drawn]), clipped


def _draw(key: Array, d: Any, v: Any, s: Any, like: Array) -> tuple[Array, Array]:
    if leaf_matrix.is_matrix(d):
        return compensated(key, MatrixFriction(2 * s * d.matrix), v, steps.Dense(s, d.matrix), like)
    return compensated(key, 2 * s * d, v, s * d, like)


def displacement(change: Tree, diffusion: Tree, h: Tree) -> Array:
    """The first-order temperature: |change|^2 in units of 2 h D, over the number of coordinates."""
    scaled = jax.tree.map(lambda c, s: c / (2 * s), change, h)
    size = sum(leaf.size for leaf in jax.tree.leaves(change))
    return trees.dot(change, leaf_matrix.over(leaf_matrix.solve, diffusion, scaled)) / size
