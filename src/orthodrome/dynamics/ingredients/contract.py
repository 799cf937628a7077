"""What a recipe is made of, and the matrices over the ravelled z that the ingredients of all samplers share.

Steps that differ between leaves or elements, h_i = h t_i with the largest t_i = 1, are one step h of the recipe whose
matrices have the factors t_i: T = diag(t) is constant, so D -> T^(1/2) D T^(1/2) and Q -> T Q keep the law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.types import Tree
from orthodrome.linear import leaves, maps

Part = Callable[[Any, Any], Array]
"""A function of the sampler and z."""


class Ingredients(NamedTuple):
    """What a recipe is made of.

    energy: (sampler, z) -> H(z) without U of the position; None: nothing
    diffusion, curl: (sampler, z) -> D(z), Q(z), over the ravelled z; None: zero
    rest: the state of a sampler -> the rest of z (momentum, ...); None: z is the position alone
    refresh_every: the number of steps after which the momentum is drawn anew; None: never
    """

    energy: Part | None
    diffusion: Part | None
    curl: Part | None
    rest: Callable[[Any], tuple[Tree, ...]] | None = None
    refresh_every: int | None = None


def relative_steps(step_size: Any, x: Tree) -> Array:
    """Return t, the step of each number of x over the largest one."""
    if step_size is None:
        return jnp.ones_like(ravel_pytree(x)[0])
    spread = jax.tree.map(lambda h, leaf: jnp.broadcast_to(h, leaf.shape), leaves.spread(step_size, x), x)
    flat = ravel_pytree(spread)[0]
    return flat / jnp.max(flat)


def over_leaves(values: Any, x: Tree) -> Array:
    """Return the matrix over the ravelled x of one entry for all leaves or one per leaf."""
    pairs = zip(leaves.entries(values, x), jax.tree.leaves(x), strict=True)
    return jax.scipy.linalg.block_diag(*(maps.dense(entry, leaf).astype(leaf.dtype) for entry, leaf in pairs))


def stretched(matrix: Array, t: Array) -> Array:
    """Return T^(1/2) A T^(1/2)."""
    root = jnp.sqrt(t)
    return root[:, None] * matrix * root[None, :]


def of_momentum(matrix: Array, others: int = 0) -> Array:
    """Return D = diag(0, A, 0) over (position, momentum) and `others` more numbers."""
    n = matrix.shape[0]
    return jnp.zeros((2 * n + others, 2 * n + others), matrix.dtype).at[n : 2 * n, n : 2 * n].set(matrix)


def symplectic(matrix: Array, others: int = 0) -> Array:
    """Return Q = ((0, -A), (A', 0)) over (position, momentum), and zeros for `others` more numbers."""
    n = matrix.shape[0]
    q = jnp.zeros((2 * n + others, 2 * n + others), matrix.dtype)
    return q.at[:n, n : 2 * n].set(-matrix).at[n : 2 * n, :n].set(matrix.T)
