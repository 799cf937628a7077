"""The numbers of a run, and where its chains start."""

from __future__ import annotations

import os
from typing import Any

import jax
import numpy as np

from orthodrome.core.programs import keeps_programs
from orthodrome.core.types import Tree
from orthodrome.doors.names import factors, kinds, leaf_name, path_list, same_structure
from orthodrome.doors.users_code import explaining
from orthodrome.errors import BadInput
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold

DTYPES = np.dtype(np.float32), np.dtype(np.float64)


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise unless a count is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise BadInput(f"{name} must be a whole number, not {value!r:.60}")
    if value < least:
        raise BadInput(f"{name} is {value}; it must be at least {least}")


def check_positive(name: str, value: Any) -> None:
    """Raise unless a setting is one finite number above 0."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not (np.isfinite(value) and value > 0):
        raise BadInput(f"{name} is {value!r:.60}; it must be a positive number")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise unless a setting is one of some words (or flags)."""
    if not isinstance(value, str | bool) or value not in choices:
        raise BadInput(f"{name} is {value!r:.60}; it must be one of {', '.join(map(str, choices))}")


def check_is(name: str, value: Any, kind: type, words: str) -> None:
    """Raise unless an argument is None or of a kind."""
    if value is not None and not isinstance(value, kind):
        raise BadInput(f"{name} is {value!r:.60}; it must be {words}, or None")


def check_numbers(
    num_chains: int, num_warmup: int, num_draws: int, thin: int, seed: int, seed_name: str = "seed"
) -> None:
    """Raise unless the counts and the seed of a run are whole numbers in their ranges."""
    for name, value, least in (
        ("num_chains", num_chains, 1),
        ("num_draws", num_draws, 1),
        ("num_warmup", num_warmup, 0),
        ("thin", thin, 1),
        (seed_name, seed, 0),
    ):
        check_whole(name, value, least)
    if seed >= 2**32:
        raise BadInput(f"{seed_name} is {seed}; it must be below 2**32")
    if num_warmup + num_draws * thin >= 2**32 - 1:
        raise BadInput(f"{num_warmup} + {num_draws} x {thin} transitions are more than the 2**32 - 2 a run can number")


def check_interval(checkpoint_every: Any) -> None:
    """Raise unless the seconds between two commits are a number."""
    number = isinstance(checkpoint_every, int | float | np.integer | np.floating)
    if isinstance(checkpoint_every, bool) or not number or not checkpoint_every >= 0:
        raise BadInput(f"checkpoint_every is {checkpoint_every!r}; it must be a number of seconds, 0 or more")


def check_path(name: str, path: Any) -> None:
    """Raise unless a folder is given as a path (or not at all)."""
    if path is not None and (not isinstance(path, str | os.PathLike) or not os.fspath(path)):
        raise BadInput(f"{name} is {path!r}; it must be the path of a folder")


def read_start(start: Any, num_chains: int, manifold: Manifold) -> tuple[Tree, bool]:
    """Return the starts of all chains, stacked, and whether they are only shapes for random points."""
    chains = start if isinstance(start, list) else [start]
    if isinstance(start, list) and len(start) != num_chains:
        raise BadInput(f"`start` is a list of {len(start)} positions for {num_chains} chains; give one per chain")
    names = [f"start[{i}]" if isinstance(start, list) else "start" for i in range(len(chains))]
    for name, one in zip(names, chains, strict=True):
        _check_structure(name, one, manifold)
    random = all(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(chains))
    read = [_read_position(name, one, manifold) for name, one in zip(names, chains, strict=True)]
    _check_same_shapes(names, read)
    every = read if isinstance(start, list) else read * num_chains
    return jax.tree.map(lambda *leaves: np.stack(leaves), *every), random


def check_fit(positions: Tree, manifold: Manifold) -> None:
    """Raise if the arrays of a manifold (a radius, bounds, a constraint) do not fit the shape of its leaf."""
    leaves = jax.tree_util.tree_leaves_with_path(positions)
    for (path, leaf), kind in zip(leaves, kinds(manifold), strict=True):
        name = leaf_name("start", path)
        with explaining(f"{type(kind).__name__} at `{name}` of the shape {leaf.shape[1:]}"):
            jax.eval_shape(_look_at, kind, jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype))


# Compiled for its cached trace only.
_look_at = keeps_programs(jax.jit(lambda kind, p: kind.distance(kind.retract(kind.from_user(p)))))


def _check_structure(name: str, position: Tree, manifold: Manifold) -> None:
    wanted = dict(jax.tree_util.tree_leaves_with_path(factors(manifold), is_leaf=is_manifold))
    given = dict(jax.tree_util.tree_leaves_with_path(position))
    if same_structure(position, jax.tree.map(lambda _: 0, factors(manifold), is_leaf=is_manifold)):
        return
    if not isinstance(manifold, Product):
        raise BadInput(
            f"`{name}` is a tree with the leaves {path_list(given)}, but the manifold is one "
            f"{type(manifold).__name__}; give every leaf its manifold: Product({...})"
        )
    missing, extra = [p for p in wanted if p not in given], [p for p in given if p not in wanted]
    lacks = [(f"`{name}` lacks", missing), ("the manifold lacks", extra)]
    found = "; ".join(f"{who} {path_list(paths)}" for who, paths in lacks if paths) or "their containers differ"
    raise BadInput(
        f"`{name}` and the manifold are not the same tree: {found}; "
        "`start` needs one array for each manifold of the Product"
    )


def _read_position(name: str, position: Tree, manifold: Manifold) -> Tree:
    leaves = jax.tree_util.tree_leaves_with_path(position)
    read = [
        _read_leaf(leaf_name(name, path), leaf, kind)
        for (path, leaf), kind in zip(leaves, kinds(manifold), strict=True)
    ]
    return jax.tree.unflatten(jax.tree.structure(position), read)


def _read_leaf(name: str, leaf: Any, manifold: Manifold) -> np.ndarray:
    shape_only = isinstance(leaf, jax.ShapeDtypeStruct)
    dtype = leaf.dtype if shape_only else np.asarray(leaf).dtype
    if dtype not in DTYPES:
        raise BadInput(f"`{name}` is {dtype}; samplers need float32 or float64: pass `{name}.astype('float32')`")
    dtype = jax.dtypes.canonicalize_dtype(dtype)
    values = np.zeros(leaf.shape, dtype) if shape_only else np.asarray(leaf, dtype)
    if values.ndim < manifold.point_ndim:
        raise BadInput(
            f"`{name}` has the shape {values.shape}, but one point of {type(manifold).__name__} takes "
            f"{manifold.point_ndim} axis(es), after any axes for copies"
        )
    if not np.all(np.isfinite(values)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise BadInput(f"`{name}` is {values[where]} at {where}; every number of a start must be finite")
    return values


def _check_same_shapes(names: list[str], positions: list[Tree]) -> None:
    first = jax.tree_util.tree_leaves_with_path(positions[0])
    for name, other in zip(names[1:], positions[1:], strict=True):
        for (path, a), b in zip(first, jax.tree.leaves(other), strict=True):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise BadInput(
                    f"`{leaf_name(name, path)}` is {b.dtype}{list(b.shape)}, but `{leaf_name(names[0], path)}` is "
                    f"{a.dtype}{list(a.shape)}; chains must start from the same shapes"
                )
