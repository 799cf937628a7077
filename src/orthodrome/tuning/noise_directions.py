"""The directions along which the gradient's noise and the curvature are extreme, followed through a warm-up.

In a direction w, in the units D^(1/2) of the tuning, a step h with a friction C heats by

    h w'(V - V_told - A) w / (2 C),

where V_told is what the sampler takes out of its own noise and A what a thermostat absorbs: the mean, or the diagonal.
So a diagonal V_told that is right in total is wrong in every direction along which coordinates are correlated, and the
draws are too wide along some and too narrow along others while the mean temperature is 1. The leading directions
(`leading`) of V, of this remainder, and of the curvature are followed, each over blocks of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import orthodrome.tuning.leading as leading
from orthodrome.core import trees
from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.linear import leaves, maps
from orthodrome.linear.linear_map import is_map
from orthodrome.samplers.contract import StochasticSampler
from orthodrome.tuning.gradient_looks import GradientLook
from orthodrome.tuning.leading import Leading


class Directions(NamedTuple):
    """The leading directions of the gradient's noise, of what is left of it, and of the curvature."""

    noise: Leading
    left: Leading
    curvature: Leading


def start(size: int, dtype: np.dtype) -> Directions:
    """Return random directions, and the ratios of an isotropic noise of which nothing is left."""
    return Directions(*(leading.start(size, dtype, ratio) for ratio in (1.0, 0.0, 1.0)))


def followed(
    old: Directions, sampler: StochasticSampler, new: GradientLook, metric: Tree, pool: Callable[[Array], Array]
) -> Directions:
    """Add one step to the sums of each set of directions; `pool` averages over chains."""
    root = leaves.over(maps.root, metric)
    inward = lambda g: trees.row(leaves.over(maps.transposed, root, g))
    z, b = inward(new.error) / 2**0.5, inward(new.bend)
    w = inward(leaves.over(maps.solve, metric, new.way))
    m, dtype = max(1, sampler.manifold.dimension(new.position)), old.noise.directions.dtype
    z, b, w = (a.astype(dtype) for a in (z, b, w))
    outer = lambda a, d: jnp.outer(a, a @ d)
    mean, squares = z @ z / m, lambda a, d: (a @ d) ** 2
    d = old.noise.directions
    noise = leading.add(old.noise, outer(z, d), squares(z, d), mean, pool)
    image = remaining(sampler, old.left.directions, new.position, root, new.estimate, z)
    left = leading.add(old.left, image, squares(z, old.left.directions), mean, pool)
    d = old.curvature.directions
    speed = jnp.sqrt(b @ b / jnp.maximum(w @ w, 1e-30))
    return Directions(noise, left, leading.add(old.curvature, outer(b, d), squares(w, d), speed, pool))


def remaining(
    sampler: StochasticSampler, directions: Array, x: Tree, root: Tree, estimate: Estimate, z: Array
) -> Array:
    """Return (V - V_told - A) times the directions, in the tangent space, for one sample z of the noise."""
    unflat = lambda column: trees.like_row(column, x)
    tangent = jax.vmap(lambda c: trees.row(sampler.manifold.project(x, unflat(c))), 1, 1)
    d = tangent(directions).astype(z.dtype)
    diagonal, image = z**2, jnp.outer(z, z @ d)
    if estimate.noise is not None and sampler.bears_noise(True):
        v = leaves.spread(estimate.noise, x)
        told = lambda c: leaves.over(maps.transposed, root, _applied(v, leaves.over(maps.apply, root, unflat(c))))
        image = image - jax.vmap(lambda c: trees.row(told(c)), 1, 1)(d).astype(z.dtype)
        diagonal = diagonal - trees.row(_diagonal_between(root, v, x)).astype(z.dtype)
    absorbed = sampler.absorbs(diagonal, max(1, sampler.manifold.dimension(x)))
    return tangent(image - absorbed[:, None] * d).astype(z.dtype)


def settled(directions: Directions, chains: Array) -> Directions:
    """Return the directions with the ratios that their sums tell."""
    noise, left, curvature = directions
    return Directions(
        noise._replace(ratio=jnp.maximum(leading.largest(noise), 1)),
        left._replace(ratio=leading.remainder(left, chains)),
        curvature._replace(ratio=jnp.maximum(leading.stiffest(curvature), 1)),
    )


def turned(directions: Directions, chains: Array) -> Directions:
    """Return the beginning of a new block, with the ratios of the one that ends."""
    return Directions(*(leading.turned(sums, sums.ratio) for sums in settled(directions, chains)))


def _applied(noise: Tree, u: Tree) -> Tree:
    """Return V u."""
    return leaves.over(maps.apply, noise, u)


def _diagonal_between(root: Tree, noise: Tree, x: Tree) -> Tree:
    """Return the diagonal of R'VR; of a matrix R column by column."""

    def between(r: Tree, v: Tree, a: Array) -> Array:
        if not is_map(r):
            return maps.diagonal(r, a) ** 2 * maps.diagonal(v, a)
        entry = lambda e: jnp.sum(e * maps.transposed(r, maps.apply(v, maps.apply(r, e))))
        return jax.vmap(entry)(jnp.eye(a.size, dtype=a.dtype).reshape(a.size, *a.shape)).reshape(a.shape)

    return leaves.over(between, root, noise, x)
