"""Densities that break where a positive number underflows, on charts that carry its log.

On `LogPositive` and `LogRatioSimplex` the logs in a user's density are exact (`core.carried_logs`), unless an operation
in between loses them, such as a sum or a loop. The log density is evaluated at two depths below the start for some
elements of each such leaf: once where p is small, once where it is 0 in the dtype. If it is NaN or +inf only at the
second, the log was lost on the way, and the law's tail with it.
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
from orthodrome.manifolds.product import per_leaf

LOOKS = 8
"""So many elements of one leaf are looked at, evenly spread."""


def warn_underflow(target: Any, x: Tree) -> None:
    """Warn where the log density of an embedded position breaks as a number whose log is known underflows."""
    for index, (path, leaf) in enumerate(jax.tree_util.tree_leaves_with_path(x)):
        kind = kinds(target.manifold)[index]
        if kind.user_logs(leaf) is None:
            continue
        length = leaf.shape[-1] if leaf.ndim else 1
        places = np.unique(np.linspace(0, length - 1, min(LOOKS, length)).astype(np.int32))
        small, zero = (np.asarray(a) for a in _heights(target, x, places, index))
        lost = ~_broken(small) & _broken(zero)
        if np.any(lost):
            where = f"{leaf_name('start', path)}[..., {places[int(np.argmax(lost))]}]"
            text = _text(where, type(kind).__name__, float(zero[lost][0]))
            warnings.warn(text, OrthodromeWarning, stacklevel=2)


def _broken(height: np.ndarray) -> np.ndarray:
    return np.isnan(height) | (height == np.inf)


def _text(where: str, kind: str, height: float) -> str:
    return (
        f"the log density is {height} where `{where}` is so small that it underflows to 0, and chains cannot go there; "
        f"write the density in terms of jnp.log of the parameter itself, or use {kind}(carry_logs=True), "
        "whose density is a function of the log"
    )


@keeps_programs
@partial(jax.jit, static_argnames="index")
def _heights(target: Any, x: Tree, places: Array, index: int) -> tuple[Array, Array]:
    """Return the log density with one number at the square root of the smallest one, and at its square."""
    leaves, structure = jax.tree.flatten(x)
    least = math.log(float(jnp.finfo(leaves[index].dtype).tiny))

    def height(place: Array, log: Array) -> Array:
        leaf = leaves[index]
        low = leaf.at[..., place].set(jnp.max(leaf) + log) if leaf.ndim else log
        y = jax.tree.unflatten(structure, [*leaves[:index], low, *leaves[index + 1 :]])
        return target.embedded_logdensity(per_leaf(target.manifold, lambda m, a: m.retract(a), y))

    depths = jnp.repeat(jnp.asarray([least / 2, 2 * least], leaves[index].dtype), places.size)
    heights = jax.lax.map(lambda look: height(*look), (jnp.tile(places, 2), depths))  # the density is traced once
    return heights[: places.size], heights[places.size :]
