"""One step of first-order Langevin dynamics, shared by SGLD and SGRLD.

    x <- x + h (D g + Gamma) + N(0, 2 h D - h^2 D V D)

with the gradient g of the log density, a positive definite D and the covariance V of the gradient's error.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Memory, Noise, Setting, Tree
from orthodrome.dynamics.flat import FlatInfo, moved
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.gradients.estimator import Estimate
from orthodrome.linear import leaves, maps
from orthodrome.linear.linear_map import is_map
from orthodrome.linear.linear_step import LinearStep
from orthodrome.linear.noise import compensated
from orthodrome.manifolds.manifold import Manifold


class LangevinState(NamedTuple):
    """A position, and the memory of the gradient estimator."""

    position: Tree
    memory: Memory


def langevin_step(
    key: Array, manifold: Manifold, x: Tree, estimate: Estimate, diffusion: Tree, correction: Tree, step_size: Setting
) -> tuple[Tree, FlatInfo]:
    """Return the new position and a report."""
    h = leaves.spread(step_size, x)
    drift = leaves.over(maps.apply, diffusion, estimate.gradient)
    noise, clipped = langevin_noise(key, diffusion, estimate.noise, h, x)
    change = jax.tree.map(lambda s, f, c, w: s * (f + c) + w, h, drift, correction, noise)
    info = FlatInfo(estimate.logdensity, displacement(change, diffusion, h), largest_step(step_size), clipped)
    return moved(manifold, x, change), info


def langevin_noise(key: Array, diffusion: Tree, noise: Noise, h: Tree, like: Tree) -> tuple[Tree, Array]:
    """Draw N(0, 2 h D - h^2 D V D); return it, and whether it had to be clipped."""
    pairs = list(zip(leaves.entries(diffusion, like), jax.tree.leaves(h), strict=True))
    totals = [d.scaled(2 * s) if is_map(d) else 2 * s * d for d, s in pairs]
    gains = [LinearStep(s, d) if is_map(d) else s * d for d, s in pairs]
    return compensated(key, totals, noise, gains, like)


def displacement(change: Tree, diffusion: Tree, h: Tree) -> Array:
    """Return the first-order temperature: |change|^2 in units of 2 h D, over the number of coordinates."""
    scaled = jax.tree.map(lambda c, s: c / (2 * s), change, h)
    size = sum(leaf.size for leaf in jax.tree.leaves(change))
    return trees.dot(change, leaves.over(maps.solve, diffusion, scaled)) / size
