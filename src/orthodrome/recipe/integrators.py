"""The integrators of a recipe: Euler, semi-implicit and symmetric.

A block is one item of z = (position, momentum, ...), numbered from 0; a z that is the position alone is one block.

- `Euler`: everything from the old z (Eq. 6 and 9). Bias of order h, with a large constant for second-order dynamics.
- `SemiImplicit`: one block after the other, each from the newest values (erratum 004-12): the momentum first, then
  the position with the new momentum. It costs the same; on the double well of the paper it divides the
  Kullback-Leibler divergence by 67.
- `Symmetric`: half steps of the outer blocks, a whole step of the middle one, half steps back; each block's own
  equation, the others held fixed, is solved exactly. That is possible where a block's drift is affine in the block and
  its noise does not depend on it:

      dy = [f + L (y - y0)] dt + sqrt(2 D) dW
      y(h) = y0 + W f + N(0, S),    W = int_0^h e^{Ls} ds,    S = int_0^h e^{Ls} 2 D e^{L's} ds,

  as in HMC, SGHMC and SGNHT (not with a metric that depends on the position). Bias of order h^2. L is found by
  automatic differentiation, W and S by one matrix exponential each (Van Loan 1978).
"""

from __future__ import annotations

import abc
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

import orthodrome.recipe.matrices as matrices
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.manifolds.exponential import exponential
from orthodrome.recipe.motion import Force, Motion


class Integrator(abc.ABC):
    """A rule that advances a recipe by one step."""

    def num_pieces(self, recipe: Any, z: Tree) -> int:
        """Return the number of normal vectors that a step needs."""
        return 1

    @abc.abstractmethod
    def advance(self, motion: Motion, z: Tree, h: Array, normals: Array) -> tuple[Tree, Force, Array]:
        """Return z after the time h, what the estimator returned, and whether the covariance of the noise had to be
        clipped."""


@pytree
class Euler(Integrator):
    """The Euler-Maruyama scheme: all of z at once, from the old values."""

    def advance(self, motion: Motion, z: Tree, h: Array, normals: Array) -> tuple[Tree, Force, Array]:
        force = motion.look(z)
        noise, clipped = motion.noise(z, force, h, normals[0])
        return motion.displaced(z, h * motion.drift(z, force) + noise), force, clipped


@pytree
class SemiImplicit(Integrator):
    """The semi-implicit scheme: block after block, from the newest values; noise and estimate of U are those at the
    old z.

    order: the blocks in turn; None: momentum, position, and then the others
    """

    order: tuple[int, ...] | None = static(default=None)

    def advance(self, motion: Motion, z: Tree, h: Array, normals: Array) -> tuple[Tree, Force, Array]:
        force = motion.look(z)
        noise, clipped = motion.noise(z, force, h, normals[0])
        for block in _blocks(motion.recipe, z) if self.order is None else self.order:
            own = _indicator(motion.recipe, z, block)
            z = motion.displaced(z, own * (h * motion.drift(z, force) + noise))
        return z, force, clipped


@pytree
class Symmetric(Integrator):
    """The symmetric splitting: outer blocks by half steps around the middle one, each block solved exactly; U is
    estimated in the middle.

    order: the blocks from the outside to the middle; None: position, others, momentum. U may act on the middle
        block only.
    """

    order: tuple[int, ...] | None = static(default=None)

    def num_pieces(self, recipe: Any, z: Tree) -> int:
        return 2 * len(self._order(recipe, z)) - 1

    def advance(self, motion: Motion, z: Tree, h: Array, normals: Array) -> tuple[Tree, Force, Array]:
        *outer, middle = self._order(motion.recipe, z)
        quiet = Force(None, None, None, None)
        for block, normal in zip(outer, normals, strict=False):
            z, _ = solved(motion, z, quiet, block, h / 2, normal)
        force = motion.look(z)
        z, clipped = solved(motion, z, force, middle, h, normals[len(outer)])
        for block, normal in zip(reversed(outer), normals[len(outer) + 1 :], strict=True):
            z, _ = solved(motion, z, quiet, block, h / 2, normal)
        return z, force, clipped

    def _order(self, recipe: Any, z: Tree) -> tuple[int, ...]:
        middle, *others = _blocks(recipe, z)
        return (*others, middle) if self.order is None else self.order


def solved(motion: Motion, z: Tree, force: Force, block: int, h: Array, normal: Array) -> tuple[Tree, Array]:
    """Return z after the exact flow of one block for the time h, with the other blocks held fixed."""
    flat, unravel = ravel_pytree(z)
    own = slice(*_range(motion.recipe, z, block))
    inside = lambda y: motion.drift(unravel(flat.at[own].set(y)), force)[own]
    drift, slope = inside(flat[own]), jax.jacfwd(inside)(flat[own])
    diffusion = matrices.dense(motion.recipe.diffusion, z, motion.recipe.data)[own, own]
    weight, covariance = _flow(slope, diffusion, h)
    if force.noise is not None:
        covariance = covariance - weight @ motion.pushed(z, force.noise)[own, own] @ weight.T
    root, smallest = matrices.symmetric_root(covariance)
    change = jnp.zeros_like(flat).at[own].set(weight @ drift + root @ normal[own])
    return motion.displaced(z, change), smallest < -64 * jnp.finfo(h.dtype).eps


def _flow(slope: Array, diffusion: Array, h: Array) -> tuple[Array, Array]:
    """Return W and S of the module's docstring."""
    n, zero, one = slope.shape[0], jnp.zeros_like(slope), jnp.eye(slope.shape[0], dtype=slope.dtype)
    power = lambda rows: exponential(h * jnp.block(rows), h * jnp.linalg.norm(jnp.block(rows)))
    weight = power([[slope, one], [zero, zero]])[:n, n:]
    both = power([[-slope, 2 * diffusion], [zero, slope.T]])
    return weight, both[n:, n:].T @ both[:n, n:]


def _blocks(recipe: Any, z: Tree) -> tuple[int, ...]:
    """Return the numbers of the blocks in the order momentum, position, others."""
    return (0,) if recipe.auxiliary is None else (1, 0, *range(2, len(z)))


def _range(recipe: Any, z: Tree, block: int) -> tuple[int, int]:
    """Return the first and the last index (exclusive) of a block in the ravelled z."""
    sizes = [ravel_pytree(part)[0].size for part in ([z] if recipe.auxiliary is None else z)]
    return sum(sizes[:block]), sum(sizes[: block + 1])


def _indicator(recipe: Any, z: Tree, block: int) -> Array:
    """Return a vector like the ravelled z that is 1 inside the block and 0 elsewhere."""
    flat, _ = ravel_pytree(z)
    return jnp.zeros_like(flat).at[slice(*_range(recipe, z, block))].set(1)
