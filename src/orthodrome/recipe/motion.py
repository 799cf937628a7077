"""One step of a recipe: its drift and its noise, as the integrators ask for them.

Vectors here are over the ravelled z. The estimate of the potential is made once, where the integrator looks, and
carried with `Force`; everything else (g, D, Q, Gamma) is at the point asked for.
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
    """What the estimator saw: grad U of the position, the matrix V of its error (or None), log density, memory."""

    slope: Array | None
    noise: Array | None
    logdensity: Array | None
    memory: Any


class Motion(NamedTuple):
    """A recipe with the keys and the memory of one step."""

    recipe: Any
    gradient_key: Array
    probe_key: Array
    memory: Any

    def look(self, z: Tree, piece: int | None = None) -> Force:
        """The estimate at z (a new one for each numbered piece)."""
        estimator = self.recipe.gradient
        if estimator is None:
            return Force(None, None, None, self.memory)
        x = self.position(z)
        key = self.gradient_key if piece is None else jax.random.fold_in(self.gradient_key, piece)
        estimate, memory = estimator.estimate(key, x, self.memory)
        slope = -ravel_pytree(estimate.gradient)[0]
        return Force(slope, _covariance(estimate.noise, x), estimate.logdensity, memory)

    def position(self, z: Tree) -> Tree:
        """The user's part."""
        return z if self.recipe.auxiliary is None else z[0]

    def slope(self, z: Tree, force: Force) -> Array:
        """grad H."""
        slope = ravel_pytree(jax.grad(self.recipe.energy)(z))[0]
        return slope if force.slope is None else slope.at[: force.slope.size].add(force.slope)

    def drift(self, z: Tree, force: Force) -> Array:
        """-(D + Q) grad H + Gamma."""
        flat, _ = ravel_pytree(z)
        return self.correction(z) - self.product(z, flat, self.slope(z, force))

    def correction(self, z: Tree) -> Array:
        """Gamma."""
        flat, _ = ravel_pytree(z)
        return self.recipe.divergence(lambda y, v: self.product(z, y, v), flat, self.probe_key)

    def product(self, like: Tree, flat: Array, v: Array) -> Array:
        """(D + Q) v at the ravelled z."""
        unravel = ravel_pytree(like)[1]
        z, w, data = unravel(flat), unravel(v), self.recipe.data
        both = (matrices.product(matrix, z, w, data) for matrix in (self.recipe.diffusion, self.recipe.curl))
        return ravel_pytree(trees.add(*both))[0]

    def noise(self, z: Tree, force: Force, h: Array, normal: Array) -> tuple[Array, Array]:
        """N(0, h (2 D - h B)), and whether it had to be clipped."""
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
        """B = (D + Q) V (D + Q)', V being zero outside the position."""
        d, q = (matrices.dense(m, z, self.recipe.data) for m in (self.recipe.diffusion, self.recipe.curl))
        left = (d + q)[:, : noise.shape[0]]
        return left @ noise @ left.T

    def displaced(self, z: Tree, change: Array) -> Tree:
        """z + change, with the position reflected at walls and the momentum turned round."""
        step, manifold = ravel_pytree(z)[1](change), self.recipe.manifold
        if self.recipe.auxiliary is None:
            return moved(manifold, z, step)
        rest = trees.add(tuple(z[1:]), tuple(step[1:]))
        x, r = bounced(manifold, z[0], step[0], rest[0])
        return (x, r, *rest[1:])


def _covariance(noise: Any, like: Tree) -> Array | None:
    """V over the ravelled position: one block per leaf."""
    if noise is None:
        return None
    pairs = zip(leaves.entries(noise, like), jax.tree.leaves(like), strict=True)
    blocks = [maps.dense(0 if v is None else v, x) for v, x in pairs]
    return jax.scipy.linalg.block_diag(*blocks)
