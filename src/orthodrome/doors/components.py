"""Manifolds of several connected components: a warning, before the run, of those that no chain can reach."""

from __future__ import annotations

import warnings

import jax

from orthodrome.core.types import Tree
from orthodrome.doors.names import kinds, leaf_name
from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.manifolds.manifold import Manifold


def check_components(manifold: Manifold, x: Tree) -> None:
    """Warn where an embedded position is on a space of two components, and refuse spaces that are only points."""
    for (path, leaf), kind in zip(jax.tree_util.tree_leaves_with_path(x), kinds(manifold), strict=True):
        if jax.eval_shape(kind.component, leaf).size == 0:  # shapes alone: nothing is compiled
            continue
        name, space = leaf_name("start", path), type(kind).__name__
        if kind.dimension(leaf) == 0:
            raise BadInput(
                f"`{name}` has the shape {leaf.shape}: {space} then consists of the two points 1 and -1 "
                "only, and no geodesic joins them, so nothing would move; sum the density over the two signs "
                "instead"
            )
        warnings.warn(
            f"`{name}` lives on {space} with square matrices, which is O(n): two components, of determinant 1 and -1. "
            "Geodesics never leave the one they start in, so every chain draws from the law restricted to the "
            "component of its start; use `Rotation()` if you mean rotations, or start chains in both",
            OrthodromeWarning,
            stacklevel=2,
        )
