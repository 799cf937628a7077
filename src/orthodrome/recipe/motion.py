"""Drift and noise of one step of a recipe, as the integrators ask for them.

Vectors here are over the ravelled z. The potential is estimated once, where the integrator asks for it, and carried in
`Force`; everything else (g, D, Q, Gamma) is evaluated at the point asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

import orthodrome.recipe.matrices as matrices
from orthodrome.core import trees
from orthodrome.core.types import Tree
from orthodrome.dynamics.flat import bounced, moved
from orthodrome.linear import leaves, maps
from orthodrome.recipe.matrices import MatrixFree


class Force(NamedTuple):
    """What the gradient estimator returned.

    slope: grad U with respect to the position
    noise: the covariance V of its error, or None
    logdensity: its estimate of the log density
    memory: the estimator's new memory
    """

    slope: Array | None
    noise: Array | None
    logdensity: Array | None
    memory: Any


class Motion(NamedTuple):
    """A recipe with the random keys and the estimator's memory of one step."""

    recipe: Any
    gradient_key: Array
    probe_key: Array
    memory: Any

    def look(self, z: Tree, piece: int | None = None) -> Force:
        """Return the estimate at z, a new one for each numbered piece of the step."""
        estimator = self.recipe.gradient
        if estimator is None:
            return Force(None, None, None, self.memory)
        x = self.position(z)
        key = self.gradient_key if piece is None else jax.random.fold_in(self.gradient_key, piece)
        estimate, memory = estimator.estimate(key, x, self.memory)
        slope = -ravel_pytree(estimate.gradient)[0]
        return Force(slope, _covariance(estimate.noise, x), estimate.logdensity, memory)

    def position(self, z: Tree) -> Tree:
        """Return the position, the part of z that the user sees."""
        return z if self.recipe.auxiliary is None else z[0]

    def slope(self, z: Tree, force: Force) -> Array:
        """Return grad H."""
        slope = ravel_pytree(jax.grad(self.recipe.energy)(z))[0]
        return slope if force.slope is None else slope.at[: force.slope.size].add(force.slope)

    def drift(self, z: Tree, force: Force) -> Array:
        """Return the drift -(D + Q) grad H + Gamma."""
        flat, _ = ravel_pytree(z)
        return self.correction(z) - self.product(z, flat, self.slope(z, force))

    def correction(self, z: Tree) -> Array:
        """Return the correction Gamma."""
        flat, _ = ravel_pytree(z)
        key = None if self.probe_key is None else jax.random.clone(self.probe_key)  # one probe for all blocks of a step
        return self.recipe.divergence(lambda y, v: self.product(z, y, v), flat, key)

    def product(self, like: Tree, flat: Array, v: Array) -> Array:
        """Return (D + Q) v at the ravelled z."""
        unravel = ravel_pytree(like)[1]
        z, w, data = unravel(flat), unravel(v), self.recipe.data
        both = (matrices.product(matrix, z, w, data) for matrix in (self.recipe.diffusion, self.recipe.curl))
        return ravel_pytree(trees.add(*both))[0]

    def noise(self, z: Tree, force: Force, h: Array, normal: Array) -> tuple[Array, Array]:
        """Draw from N(0, h (2 D - h B)), and return whether the covariance had to be clipped with the draw."""
        diffusion, data = self.recipe.diffusion, self.recipe.data
        no = jnp.zeros((), bool)
        if diffusion is None:
            return jnp.zeros_like(normal), no
        if isinstance(diffusion, MatrixFree) and diffusion.root is not None:
            drawn = matrices.call(diffusion.root, data, z, ravel_pytree(z)[1](normal))
            return jnp.sqrt(2 * h) * ravel_pytree(drawn)[0], no
        covariance = 2 * h * matrices.dense(diffusion, z, data)
        if force.noise is not None:
            covariance = covariance - h**2 * self.pushed(z, force.noise)
        root, smallest = matrices.symmetric_root(covariance)
        return root @ normal, smallest < -64 * jnp.finfo(h.dtype).eps

    def pushed(self, z: Tree, noise: Array) -> Array:
        """Return B = (D + Q) V (D + Q)', V being zero outside the position."""
        d, q = (matrices.dense(m, z, self.recipe.data) for m in (self.recipe.diffusion, self.recipe.curl))
        left = (d + q)[:, : noise.shape[0]]
        return left @ noise @ left.T

    def displaced(self, z: Tree, change: Array) -> Tree:
        """Return z + change, with the position reflected at walls and the momentum reversed there."""
        step, manifold = ravel_pytree(z)[1](change), self.recipe.manifold
        if self.recipe.auxiliary is None:
            return moved(manifold, z, step)
        rest = trees.add(tuple(z[1:]), tuple(step[1:]))
        x, r = bounced(manifold, z[0], step[0], rest[0])
        return (x, r, *rest[1:])


def _covariance(noise: Any, like: Tree) -> Array | None:
    """Return V over the ravelled position, with one block per leaf."""
    if noise is None:
        return None
    pairs = zip(leaves.entries(noise, like), jax.tree.leaves(like), strict=True)
    blocks = [maps.dense(0 if v is None else v, x) for v, x in pairs]
    return jax.scipy.linalg.block_diag(*blocks)
