"""Non-finite numbers in the data, found before the run and not by the minibatch that meets them first."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from orthodrome.core.types import Tree
from orthodrome.doors.names import leaf_name
from orthodrome.errors import BadInput
from orthodrome.targets import Posterior


class Found(NamedTuple):
    """The first number of the data that is not finite, in words, and the row it stands in."""

    text: str
    row: int


def not_finite(data: Any) -> Found | None:
    """Return the first NaN or infinite number in a tree of arrays; None if there is none."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(data):
        values = here(leaf) if not isinstance(leaf, jax.Array) or leaf.dtype.kind == "f" else np.zeros(())
        bad = np.argwhere(~np.isfinite(values)) if values.dtype.kind in "fc" else np.zeros((0, 1))
        if len(bad):
            where = tuple(int(i) for i in bad[0])
            index = f"[{', '.join(map(str, where))}]" if where else ""
            text = f"`{leaf_name('data', path)}{index}` is {values[where]} ({len(bad)} such number(s) in total)"
            return Found(text, where[0] if where else 0)
    return None


def here(leaf: Any) -> np.ndarray:
    """Return an array, or those of its rows that this process has if they are spread over several."""
    if not isinstance(leaf, jax.Array) or leaf.is_fully_addressable or leaf.is_fully_replicated:
        return np.asarray(leaf)
    parts = sorted(leaf.addressable_shards, key=lambda part: part.index[0].start or 0)
    return np.concatenate([np.asarray(part.data) for part in parts])


def check_rows_alone(target: Any, position: Tree) -> None:
    """Raise if a row of a posterior's data that holds a NaN makes the likelihood NaN: a batch might meet it late."""
    if not isinstance(target, Posterior) or (found := not_finite(target.data)) is None:
        return
    row = jax.tree.map(lambda leaf: here(leaf)[found.row : found.row + 1], target.data)
    if np.isnan(np.asarray(target.pointwise(position, row))).any():
        raise BadInput(
            f"{found.text}, and the log likelihood of that row is nan; leave such rows out, or let the "
            "likelihood handle them"
        )
