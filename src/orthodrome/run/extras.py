"""Groups beside the draws: the data, and the log likelihood of every datum at every draw.

The data of a `Posterior` are observed (a single array is called `y`; in a tree with a leaf `y` only that leaf is, and
the others are constant); the data of a `Target` are constant (a single array is called `data`). Rows that are spread
over devices are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np
from jax import Array

import orthodrome.run.parallel as parallel
from orthodrome import doors
from orthodrome.core.programs import keeps_programs
from orthodrome.errors import BadInput
from orthodrome.manifolds.product import is_manifold
from orthodrome.samplers.contract import Sampler
from orthodrome.storage.draws import dataset, named_leaves
from orthodrome.targets import Posterior, Target

if TYPE_CHECKING:
    import xarray

AT_ONCE = 2_000_000
"""How many log likelihoods are computed in one call."""


def add_groups(tree: xarray.DataTree, sampler: Sampler, log_likelihood: bool) -> xarray.DataTree:
    """Add the groups observed_data, constant_data and, if asked for, log_likelihood to a tree of draws."""
    import xarray

    target = doors.density_of(sampler)
    for group, arrays in data_groups(target).items():
        tree[group] = xarray.DataTree(dataset(arrays, sample_dims=()))
    if log_likelihood:
        tree["log_likelihood"] = xarray.DataTree(dataset({"y": pointwise(target, tree)}))
    return tree


def data_groups(target: Target | Posterior | None) -> dict[str, dict[str, np.ndarray]]:
    """Return the arrays of the target's data by group and name."""
    if target is None or target.data is None:
        return {}
    single = "y" if isinstance(target, Posterior) else "data"
    leaves = {name: leaf for name, leaf in named_leaves(target.data).items() if not parallel.is_spread(leaf)}
    arrays = {single if name == "x" else name: np.asarray(leaf) for name, leaf in leaves.items()}
    observed = (set(arrays) & {"y"} or set(arrays)) if isinstance(target, Posterior) else set()
    groups = {"observed_data": observed, "constant_data": set(arrays) - observed}
    return {group: {k: v for k, v in arrays.items() if k in names} for group, names in groups.items() if names}


def check_pointwise(target: Target | Posterior | None) -> Posterior:
    """Return the target, or raise if it has no likelihood of one datum."""
    if not isinstance(target, Posterior):
        raise BadInput("log_likelihood=True needs a `Posterior`, whose likelihood is defined for one datum")
    return target


def pointwise(law: Target | Posterior | None, tree: xarray.DataTree) -> np.ndarray:
    """Return the log likelihoods (chain, draw, datum), computed for some draws at a time."""
    target = check_pointwise(law)
    names = list(tree["posterior"].data_vars)
    chains, num_draws = tree["posterior"].sizes["chain"], tree["posterior"].sizes["draw"]
    some = max(1, min(num_draws, AT_ONCE // (chains * target.num_data)))
    parts = []
    for begin in range(0, num_draws, some):
        begin = min(begin, num_draws - some)  # the last piece overlaps, so that all have one shape
        rows = [np.asarray(tree["posterior"].dataset[name][:, begin : begin + some]) for name in names]
        parts.append((begin, np.asarray(_pointwise(target, rows))))
    found = np.empty((chains, num_draws, target.num_data), parts[0][1].dtype)
    for begin, values in parts:
        found[:, begin : begin + some] = values
    return found


@keeps_programs
@jax.jit
def _pointwise(target: Posterior, rows: list[Array]) -> Array:
    structure = jax.tree.structure(doors.factors(target.manifold), is_leaf=is_manifold)

    def one(*leaves: Array) -> Array:
        return target.pointwise(jax.tree.unflatten(structure, leaves), target.data)

    return jax.vmap(jax.vmap(one))(*rows)
