"""Units per element on vectors whose elements sum to zero: the map P S P, with S = diag(scale) and P u = u - mean(u).

It is symmetric, takes the plane of such vectors to itself, and is positive definite there, since v'PSPv = v'Sv for v in
the plane. Its inverse on the plane adds the one multiple of the ones that makes the result sum to zero:

    P S w = u,  sum_i w_i = 0:      w = (u + c) / s,      c = - sum_i (u_i / s_i) / sum_i (1 / s_i).

If x = P y, with independent y_i of the variances D_i, then

    var x_i = D_i (1 - 2/n) + mean(D) / n,      mean(var x) = mean(D) (1 - 1/n),

so a narrow element shows the spread of the wide ones, and `uncentred` solves for D.

The last axis is the vector, all axes before it are copies; everything takes O(n) operations.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, replace
from orthodrome.linear.linear_map import LinearMap


@pytree
class CentredScales(LinearMap):
    """P diag(scale) P over vectors along the last axis of the leaf; on vectors that sum to zero it is invertible.

    scale: numbers above 0, with the shape of the leaf
    """

    scale: Array

    def misfit(self, size: int) -> str | None:
        return None if self.scale.size == size else f"`scale` has {self.scale.size} numbers, not {size}"

    def apply(self, v: Array) -> Array:
        return centred(self.scale * centred(v))

    def transposed(self, v: Array) -> Array:
        return self.apply(v)

    def solve(self, v: Array) -> Array:
        shift = jnp.sum(v / self.scale, axis=-1, keepdims=True) / jnp.sum(1 / self.scale, axis=-1, keepdims=True)
        return (v - shift) / self.scale

    def dense(self) -> Array:
        rows = jnp.eye(self.scale.size, dtype=self.scale.dtype).reshape(-1, *self.scale.shape)
        return jax.vmap(self.apply)(rows).reshape(self.scale.size, -1)

    def scaled(self, by: Any) -> CentredScales:
        return replace(self, scale=self.scale * jnp.asarray(by, self.scale.dtype))


def centred(x: Array) -> Array:
    """Return x less its mean along the last axis."""
    return x - jnp.mean(x, axis=-1, keepdims=True)


def uncentred(variance: Array) -> Array:
    """Return D from the variances of x, but at least a tenth of each, as they are noisy; as they are if n is 2."""
    n = variance.shape[-1]
    if n <= 2:
        return variance
    common = jnp.mean(variance, axis=-1, keepdims=True) / (n - 1)
    return jnp.maximum((variance - common) / (1 - 2 / n), variance / 10)
