"""Draws as ArviZ reads them: an `xarray.DataTree` with the groups posterior, sample_stats and their friends.

Names: a parameter that is one array is called "x"; in a tree, the keys on the way to a leaf are joined with ".", so
{"topics": ..., "noise": {"scale": ...}} gives the variables `topics` and `noise.scale`; positions in tuples and lists
count from 0. Dimensions are (chain, draw, ...), the rest called `topics_dim_0`, ... unless `dims` names them;
`coords` labels them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from orthodrome.core.types import Tree
from orthodrome.errors import BadInput
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf

if TYPE_CHECKING:
    import xarray

Arrays = dict[str, np.ndarray]
"""Arrays (chain, draw, ...) by their names `group/variable`."""
Dims = Mapping[str, Sequence[str]] | None
"""The names of the axes of one draw, by variable."""
Coords = Mapping[str, Any] | None
"""The labels of the positions along an axis, by the name of the axis."""


def path_name(path: Any) -> str:
    """Return the name of a leaf, made from its path in the tree."""
    return ".".join(jax.tree_util.keystr((entry,), simple=True) for entry in path) or "x"


def named_leaves(tree: Tree, is_leaf: Any = None) -> dict[str, Any]:
    """Return the leaves of a tree by name, in the order of the tree."""
    return {path_name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_leaf)}


def named_info(info: Any) -> dict[str, Any]:
    """Return the arrays of a sampler's Info (a NamedTuple, whose fields may be trees) by name."""
    return {name: leaf for name, leaf in named_leaves(info).items() if leaf is not None}


def named_manifolds(manifold: Manifold, position: Tree) -> dict[str, str]:
    """Return the name of the class of the manifold on which each variable lives, by variable."""
    kinds = per_leaf(manifold, lambda m, _: type(m).__name__, position)
    return named_leaves(kinds)


def dimension_names(name: str, ndim: int, dims: Dims = None) -> tuple[str, ...]:
    """Return the names of a variable's own axes, those besides chain and draw."""
    given = tuple((dims or {}).get(name, ()))
    if len(given) > ndim:
        raise BadInput(f"dims[{name!r}] names {len(given)} axes, but {name} has {ndim}")
    return given + tuple(f"{name}_dim_{i}" for i in range(len(given), ndim))


def dataset(
    arrays: Mapping[str, Any], dims: Dims = None, coords: Coords = None, sample_dims: Sequence[str] = ("chain", "draw")
) -> xarray.Dataset:
    """Return named arrays as a dataset with a label for every position.

    arrays: with the leading axes `sample_dims`
    dims, coords: the names and labels of the other axes
    sample_dims: the names of the leading axes
    """
    import xarray

    variables, labels, lead = {}, {}, tuple(sample_dims)
    for name, values in arrays.items():
        own = dimension_names(name, values.ndim - len(lead), dims)
        variables[name] = (lead + own, values)
        for dim, size in zip(lead + own, values.shape, strict=True):
            labels[dim] = axis_labels(dim, size, coords)
    return xarray.Dataset(variables, coords=labels)


def axis_labels(dim: str, size: int, coords: Coords) -> Any:
    """Return the labels of an axis: the user's, or 0, 1, ..."""
    given = (coords or {}).get(dim)
    if given is None:
        return np.arange(size)
    labels = np.asarray(given)
    if labels.ndim != 1 or labels.dtype.kind not in "biufUMm":
        raise BadInput(f"coords[{dim!r}] must be a list of numbers, of strings or of dates, not {type(given).__name__}")
    if len(labels) != size:
        raise BadInput(f"coords[{dim!r}] has {len(labels)} labels, but the axis has length {size}")
    return labels


def check_labels(shapes: Mapping[str, tuple[int, ...]], dims: Dims, coords: Coords) -> None:
    """Raise if the names and labels do not fit the parameters, before anything is drawn.

    shapes: name -> the shape of one draw of a parameter
    """
    for what, given in (("dims", dims), ("coords", coords)):
        if given is not None and not isinstance(given, Mapping):
            raise BadInput(f"{what} must be a dictionary, not {type(given).__name__}")
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        if "/" in name:
            raise BadInput(f"the parameter {name!r} has a '/' in its name, which separates groups of draws: rename it")
        own = dimension_names(name, len(shape), dims)
        if len({"chain", "draw", *own}) != len(own) + 2:
            raise BadInput(f"dims[{name!r}] is {list(own)}: the axes need names of their own, beside chain and draw")
        for dim, size in zip(own, shape, strict=True):
            axis_labels(dim, size, coords)
            if sizes.setdefault(dim, size) != size:
                raise BadInput(f"dims: {dim!r} names axes of length {sizes[dim]} and {size}; give them two names")


def tree_of(phases: Iterable[Arrays], dims: Dims, coords: Coords, attrs: Mapping[str, Any]) -> xarray.DataTree:
    """Return the draws as ArviZ reads them, from the arrays of each phase."""
    groups: dict[str, Arrays] = {}
    for arrays in phases:
        for name, values in arrays.items():
            group, variable = name.split("/")
            groups.setdefault(group, {})[variable] = values
    return datatree({name: dataset(found, dims, coords) for name, found in groups.items()}, attrs)


def datatree(groups: Mapping[str, xarray.Dataset], attrs: Mapping[str, Any]) -> xarray.DataTree:
    """Return a DataTree of the groups, each with the attributes of the run."""
    import xarray

    tree = xarray.DataTree.from_dict({name: group.assign_attrs(attrs) for name, group in groups.items()})
    tree.attrs.update(attrs)
    return tree
