"""The check of every chain's start: on the manifold, with finite density and gradient, and able to move.

The first compiled program has computed what is needed (`Look`); the manifold says what to do (`remedy`, `advice`).
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from orthodrome.core.types import Tree
from orthodrome.doors.data import not_finite
from orthodrome.doors.names import kinds, leaf_name
from orthodrome.errors import BadInput, NotOnManifold
from orthodrome.manifolds.manifold import Manifold

TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}
"""How far a start may be off its manifold, relative to the size of its numbers."""


def check_look(look: Any, positions: Tree, manifold: Manifold, one_start: bool, data: Any = None) -> None:
    """Raise unless every chain starts on the manifold, with finite density and gradient, and the flow can move."""
    sizes = [float(np.max(np.abs(leaf), initial=1.0)) for leaf in jax.tree.leaves(positions)]
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(positions)]
    leaves = jax.tree.leaves(positions)
    dtypes = [leaf.dtype for leaf in jax.tree.leaves(positions)]
    for chain in range(len(np.ravel(jax.tree.leaves(look.distance)[0]))):
        name = "start" if one_start else f"start[{chain}]"
        distances = [float(d[chain]) for d in jax.tree.leaves(look.distance)]
        for path, d, size, kind, dtype, leaf in zip(
            paths, distances, sizes, kinds(manifold), dtypes, leaves, strict=True
        ):
            _check_distance(leaf_name(name, path), d, TOLERANCE[dtype] * size, kind, leaf[chain])
        _check_moves(name, look.moves, chain)
        _check_finite(name, chain, look, manifold, data)


def _check_distance(name: str, distance: float, tolerance: float, manifold: Manifold, p: np.ndarray) -> None:
    if not distance <= tolerance:
        kind, remedy = type(manifold).__name__, manifold.remedy(name, p)
        by = f"is off the {kind} by {distance:.0e} (tolerance {tolerance:.0e})"
        if np.isnan(distance):
            by = f"is not a point of {kind}"
        raise NotOnManifold(f"`{name}` {by}; {remedy}")


def _check_moves(name: str, moves: Any, chain: int) -> None:
    for path, moved in jax.tree_util.tree_leaves_with_path(moves):
        if not moved[chain]:
            raise BadInput(
                f"the projection on the level set fails at `{leaf_name(name, path)}`: no point of it is "
                "found after a step of 1e-3; the constraint's Jacobian may be rank-deficient or badly "
                "scaled there: start elsewhere"
            )


def _check_finite(name: str, chain: int, look: Any, manifold: Manifold, data: Any) -> None:
    if look.logdensity is not None and not np.isfinite(look.logdensity[chain]):
        if np.isnan(look.logdensity[chain]) and (found := not_finite(data)) is not None:
            raise BadInput(
                f"the log density is nan, and {found.text}; leave such rows out, or let the density handle them"
            )
        raise BadInput(
            f"the log density is {float(look.logdensity[chain])} at `{name}`; start where it is finite"
            + _advice(manifold)
        )
    for path, finite in jax.tree_util.tree_leaves_with_path(look.gradient):
        if not finite[chain]:
            raise BadInput(
                f"the gradient of the log density is not finite at `{leaf_name(name, path)}` though the density is; "
                "common causes: a square root or norm at 0, jnp.where around a NaN, x log x at 0 "
                "(use jax.scipy.special.xlogy)" + _advice(manifold)
            )


def _advice(manifold: Manifold) -> str:
    texts = {kind.advice for kind in kinds(manifold) if kind.advice}
    return "".join(f"; {text}" for text in sorted(texts))
