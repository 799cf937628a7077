"""Poles at the walls of a simplex that is carried on the sphere.

Near a wall, x_i -> 0, a density that behaves like p_i^(a - 1) has log pi_H = (2 a - 1) log|x_i| + ... on the
sphere. Where the concentration a is below 1/2 that is a pole: no leapfrog resolves it, and the draws are wrong
(measured: a mean off by 13 standard errors at 0.3). A sampler without a Metropolis test wants a >= 1. The slope in
log|x_i| is measured between two points so close to each wall that the others, whose squares make up the rest of 1, are
the same at both to a millionth; what the dtype cannot resolve of the density's difference is allowed for.
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.programs import keeps_programs
from orthodrome.core.types import Tree
from orthodrome.doors.names import kinds, leaf_name
from orthodrome.errors import OrthodromeWarning

NEAR, NEARER = 1e-3, 1e-9
LOOKS = 32
"""So many walls of one leaf are looked at, evenly spread."""
SLACK = 0.02
ROUNDINGS = 4
"""So many units in the last place may a sum of many terms be off."""


def warn_poles(target: Any, x: Tree, adjusted: bool) -> None:
    """Warn where a leaf of the embedded position has a wall that its sampler cannot bear."""
    for index, (path, leaf) in enumerate(jax.tree_util.tree_leaves_with_path(x)):
        least = kinds(target.manifold)[index].least_concentration(adjusted)
        if least is None:
            continue
        walls = np.unique(np.linspace(0, leaf.shape[-1] - 1, min(LOOKS, leaf.shape[-1])).astype(np.int32))
        slopes, rounding = (np.asarray(a) for a in _slopes(target, x, walls, index))
        concentration = (1 + float(np.min(slopes))) / 2
        if concentration + float(np.max(rounding)) < least - SLACK:
            where = f"{leaf_name('start', path)}[..., {walls[int(np.argmin(slopes))]}]"
            warnings.warn(_text(where, concentration, least), OrthodromeWarning, stacklevel=2)


def _text(where: str, concentration: float, least: float) -> str:
    return (
        f"the density has a concentration of about {concentration:.2g} at the wall `{where}` = 0; on `Simplex` (the "
        f"square-root map) this sampler needs {least:g} or more, and its draws may be wrong: use `LogRatioSimplex()`"
    )


def _at(x: Tree, index: int, wall: Array, distance: float) -> Tree:
    leaves, structure = jax.tree.flatten(x)
    rest = leaves[index].at[..., wall].set(0)
    rest = rest / jnp.sqrt(jnp.sum(rest**2, axis=-1, keepdims=True))
    leaves[index] = (rest * math.sqrt(1 - distance**2)).at[..., wall].set(distance)
    return jax.tree.unflatten(structure, leaves)


@keeps_programs
@partial(jax.jit, static_argnames="index")
@partial(jax.vmap, in_axes=(None, None, 0, None))
def _slopes(target: Any, x: Tree, wall: Array, index: int) -> tuple[Array, Array]:
    """Return d log pi_H / d log|x_wall|, for one copy on average, and how far rounding may move the concentration."""
    near, nearer = (target.embedded_logdensity(_at(x, index, wall, distance)) for distance in (NEAR, NEARER))
    span = math.prod(jax.tree.leaves(x)[index].shape[:-1]) * math.log(NEAR / NEARER)
    resolution = ROUNDINGS * jnp.finfo(near.dtype).eps * jnp.maximum(jnp.abs(near), jnp.abs(nearer))
    return (near - nearer) / span, resolution / span / 2
