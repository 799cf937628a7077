"""Draws of topics from several chains: their names, and one numbering of the topics for all of them.

The law does not change if the topics of a draw change places, so each chain numbers them in its own way. The topics of
the other chains are put in the order of the first chain's, by the assignment with the largest sum of cosines between
the chains' mean directions; within a chain nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.topics.matching import match_topics
from orthodrome.storage.draws import Coords, Dims, tree_of

if TYPE_CHECKING:
    import xarray

DIMS = {"topics": ("topic", "word")}
"""The names of the axes of the draws, after chain and draw."""


def orders(means: Reals) -> NDArray[np.int64]:
    """Return, for each chain, which of its topics takes each place; means: (chain, topic, word)."""
    return np.stack([match_topics(means[0], mean) for mean in means])


def with_one_numbering(tree: xarray.DataTree) -> xarray.DataTree:
    """Return the draws with the topics of all chains in the order of the first chain's."""
    values = np.asarray(tree["posterior"]["topics"])
    if len(values) == 1:
        return tree
    order = orders(values.mean(axis=1, dtype=np.float64))
    group = tree["posterior"].to_dataset()
    renumbered = {name: _renumbered(array, order) for name, array in group.items() if "topic" in array.dims}
    return tree.assign({"posterior": type(tree)(group.assign(renumbered))})


def _renumbered(array: xarray.DataArray, order: NDArray[np.int64]) -> xarray.DataArray:
    """Return draws (chain, draw, topic, ...) with each chain's topics in their new places."""
    values = np.asarray(array)
    return array.copy(data=np.stack([chain[:, places] for chain, places in zip(values, order, strict=True)]))


def draws_tree(
    draws: Mapping[str, Reals],
    numbers: Mapping[str, Reals],
    dims: Dims = DIMS,
    coords: Coords = None,
    attrs: Mapping[str, Any] | None = None,
) -> xarray.DataTree:
    """Return draws (draw, ...) of one chain by name, and numbers (draw,) about them, as a run returns them."""
    arrays = {f"posterior/{name}": a[None] for name, a in draws.items()}
    arrays |= {f"sample_stats/{name}": a[None] for name, a in numbers.items()}
    return tree_of([arrays], dims, coords, {"inference_library": "orthodrome"} | dict(attrs or {}))


def topics_tree(
    topics: Reals, numbers: Mapping[str, Reals], coords: Coords = None, attrs: Mapping[str, Any] | None = None
) -> xarray.DataTree:
    """Return draws (draw, topic, word) of one chain, and numbers (draw,) about them, as a run returns them."""
    return draws_tree({"topics": topics}, numbers, DIMS, coords, attrs)


def all_topics(tree: xarray.DataTree) -> Reals:
    """Return the draws of all chains, one chain after the other: (draws, K, V)."""
    values = np.asarray(tree["posterior"]["topics"])
    return values.reshape(-1, *values.shape[2:])


def statistics(tree: xarray.DataTree, name: str) -> NDArray[np.floating] | None:
    """Return a statistic of the kept draws, (chain, draw), or None if the method has no such statistic."""
    group = tree["sample_stats"].dataset
    return np.asarray(group[name]) if name in group else None


def history(tree: xarray.DataTree, name: str, thin: int) -> tuple[NDArray[np.int64], NDArray[np.floating]] | None:
    """Return the transitions and the values (chain, ...) of a statistic, those of the warm-up first.

    Of the warm-up every transition has its value, of the draws every `thin`-th.
    """
    groups = [tree[group].dataset for group in ("warmup_sample_stats", "sample_stats") if group in tree]
    parts = [np.asarray(group[name]) for group in groups if name in group]
    if not parts:
        return None
    warmup = parts[0].shape[1] if len(parts) == 2 else 0
    at = np.concatenate([np.arange(1, warmup + 1), warmup + thin * np.arange(1, parts[-1].shape[1] + 1)])
    return at, np.concatenate(parts, axis=1)
