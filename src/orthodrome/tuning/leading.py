"""The leading eigenvalues of matrices that are only seen in noisy samples A_t, by power iteration in blocks.

Over a block of steps the products A_t W with a few directions W are averaged. At its end the eigenvalues of W'AW are
those of A in the span of W (the Ritz values: eigenvalues of opposite signs and the same size, as those of a remainder
with trace zero, have no directions of their own in the power iteration, only a common span), and the directions for the
next block are those of the mean of A W, made orthonormal. So an eigenvalue is measured with directions that do not know
its samples. It takes O(m k) memory for k directions of m numbers, and no matrix is formed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core import lapack

DIRECTIONS = 2
"""How many directions are followed of each matrix."""
SURE = 1.5
"""So many standard errors are taken off a remainder, which the noise of its measurement would otherwise raise."""


class Leading(NamedTuple):
    """Directions (m, k), and sums over the steps of a block.

    image: A W; inside: W'AW; size: of a sample along each direction, for its error or as its denominator; mean: what
    it is to be compared with; steps: their number; ratio: the leading eigenvalue over the mean, of the last whole block
    """

    directions: Array
    image: Array
    inside: Array
    size: Array
    mean: Array
    steps: Array
    ratio: Array


def start(m: int, dtype: np.dtype, ratio: float) -> Leading:
    """Return random directions, and a ratio for the time before the first block is whole."""
    normals = np.random.default_rng(0).standard_normal((m, min(DIRECTIONS, m)))
    directions = jnp.asarray(np.linalg.qr(normals)[0], dtype)
    k, zero = directions.shape[1], jnp.zeros((), dtype)
    sums = jnp.zeros_like(directions), jnp.zeros((k, k), dtype), jnp.zeros(k, dtype), zero, zero
    return Leading(directions, *sums, jnp.asarray(ratio, dtype))


def add(old: Leading, image: Array, size: Array, mean: Array, pool: Callable[[Array], Array]) -> Leading:
    """Add the samples of one step; `pool` averages over chains."""
    fine = jnp.all(jnp.isfinite(image)) & jnp.all(jnp.isfinite(size)) & jnp.isfinite(mean)
    some = lambda before, now: before + pool(jnp.where(fine, now, 0).astype(before.dtype))
    return old._replace(
        image=some(old.image, image),
        inside=some(old.inside, old.directions.T @ image),
        size=some(old.size, size),
        mean=some(old.mean, mean),
        steps=old.steps + 1,
    )


def turned(old: Leading, ratio: Array) -> Leading:
    """Return the beginning of a new block, with a ratio from the last one."""
    directions = lapack.orthonormal_columns(old.image)
    fine = jnp.all(jnp.isfinite(directions)) & jnp.any(old.image != 0)
    nothing = jax.tree.map(jnp.zeros_like, old)
    return nothing._replace(directions=jnp.where(fine, directions, old.directions), ratio=ratio)


def largest(sums: Leading) -> Array:
    """Return the largest eigenvalue over the mean."""
    return _known(sums, jnp.max(_eigenvalues(sums)) / sums.mean)


def remainder(sums: Leading, chains: Array) -> Array:
    """Return by how much any eigenvalue surely differs from zero, over the mean; `size` is that of one sample."""
    error = SURE * jnp.sqrt(2 / jnp.maximum(sums.steps * chains, 1)) * jnp.max(sums.size)
    return _known(sums, jnp.maximum(jnp.max(jnp.abs(_eigenvalues(sums))) - error, 0) / sums.mean)


def stiffest(sums: Leading) -> Array:
    """Return the largest (w'Aw / size)^(1/2) over the mean."""
    quotients = jnp.sqrt(jnp.diag(sums.inside) / jnp.maximum(sums.size, jnp.finfo(sums.size.dtype).tiny))
    return _known(sums, jnp.max(quotients) / (sums.mean / jnp.maximum(sums.steps, 1)))


def _eigenvalues(sums: Leading) -> Array:
    """Return the Ritz values; sums that are not finite count as none."""
    return lapack.eigvalsh(jnp.nan_to_num(sums.inside + sums.inside.T)) / 2


def _known(sums: Leading, ratio: Array) -> Array:
    """Return the ratio, or that of the block before where there is nothing to tell it from."""
    return jnp.where(jnp.isfinite(ratio) & (sums.steps > 0) & (sums.mean > 0), ratio, sums.ratio)
