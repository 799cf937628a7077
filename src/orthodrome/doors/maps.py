"""The check that the linear maps among a sampler's settings fit the leaves of the position."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from orthodrome.core.types import Tree
from orthodrome.doors.names import leaf_name, path_list
from orthodrome.errors import BadInput
from orthodrome.linear.leaves import any_map
from orthodrome.linear.linear_map import is_map
from orthodrome.linear.linear_step import LinearStep


def check_maps(owner: str, settings: dict[str, Any], position: Tree) -> None:
    """Raise `BadInput` if a map in one of the settings of `owner` does not fit its leaf of the position."""
    for name, value in settings.items():
        # objects inside are looked at on their own, and data belongs to the user's functions
        inside = dataclasses.is_dataclass(value) and not is_map(value)
        if name != "data" and not inside and any_map(value):
            _check_entries(f"{owner}.{name}", value, position)


def check_is_step(name: str, step: Any) -> None:
    """Raise `BadInput` if a map is given as a step without a size."""
    if is_map(step) and not isinstance(step, LinearStep):
        kind = type(step).__name__
        raise BadInput(
            f"`{name}` is a {kind} map without a step size; give `LinearStep(0.1, units)`, where units is "
            "a root of the covariance, `Dense(covariance).root()`"
        )


def _check_entries(name: str, value: Any, position: Tree) -> None:
    given = jax.tree_util.tree_leaves_with_path(value, is_leaf=is_map)
    leaves = jax.tree_util.tree_leaves_with_path(position)
    shared = is_map(value)
    if not shared and len(given) != len(leaves):
        raise BadInput(
            f"`{name}` has the leaves {path_list(p for p, _ in given)}, but the position has "
            f"{path_list(p for p, _ in leaves)}; give one entry for all leaves, or one per leaf"
        )
    for (path, entry), (leaf_path, leaf) in zip(given * len(leaves) if shared else given, leaves, strict=True):
        problem = entry.misfit(leaf.size) if is_map(entry) else None
        if problem is not None:
            raise BadInput(
                f"`{leaf_name(name, path)}` does not fit `{leaf_name('start', leaf_path)}`, a leaf of {leaf.size} "
                f"numbers: {problem}"
            )
