"""`summary`: what the draws say, in the terms of the space each parameter lives on (its manifold's `summary`).

    Sphere      the directional mean m = E x / |E x| and the resultant length |E x| (1: a point, 0: no direction)
    Rotation    the mean rotation, the nearest matrix to E X with the determinant that all draws of this copy have (its
                polar factor where they have both), and tr(M' E X) / n in place of the resultant length
    Stiefel     the mean frame up to signs (and rotation) of its columns: the leading eigenvectors of E X X', and
                the share of E X X' in their span
    Axes        columns x that are the same as -x: the orthonormal matrix nearest to the leading eigenvectors of each
                column's E x x', and the mean of the squared cosine to them (1: an axis, 1 / d: no axis)
    elsewhere   mean, standard deviation and quantiles of every number

with the worst R-hat and the smallest ESS of the variable, and at the end, with stochastic gradients, the temperature
of the run on average and along its worst direction. Where steps decrease, all of it is weighted by them (`weights`).
The reference for directional means is Mardia & Jupp (2000), chapters 9 and 13.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np

import orthodrome.diagnostics.convergence as convergence
from orthodrome.diagnostics.given import check_draws
from orthodrome.diagnostics.temperature import Temperature, temperature_of
from orthodrome.diagnostics.weights import at_equal_times, falling_steps
from orthodrome.manifolds import manifold_named

if TYPE_CHECKING:
    import xarray

LONGEST_LIST = 12
"""More numbers than this are not printed one by one."""
AXES = "Axes"
"""The kind of a variable whose columns are axes; no manifold, since a model derives it from its draws."""


@dataclasses.dataclass(frozen=True)
class Summary:
    """Summaries of the variables of a run, a dataset each, and the temperature of a run with stochastic gradients.

    weighted: whether draws are weighted by their steps, which decrease
    """

    variables: dict[str, xarray.Dataset]
    temperature: Temperature | None = None
    weighted: bool = False

    def __getitem__(self, name: str) -> xarray.Dataset:
        return self.variables[name]

    def __repr__(self) -> str:
        heat = [] if self.temperature is None else [str(self.temperature)]
        heat += ["draws are weighted by their step sizes, which decrease"] if self.weighted else []
        return "\n\n".join([*(_text(name, data) for name, data in self.variables.items()), *heat])


def summary(tree: xarray.DataTree) -> Summary:
    """Summarise every variable of a run's posterior in the terms of its space, with ESS, R-hat and standard errors.

    tree: the draws that `sample` returns, or `draws_` of a fitted model
    """
    check_draws(tree)
    kinds = json.loads(tree.attrs.get("manifolds", "{}"))
    variables = tree["posterior"].data_vars
    steps = falling_steps(tree)
    found = {str(name): _variable(kinds.get(name, "Euclidean"), values, steps) for name, values in variables.items()}
    return Summary(found, temperature_of(tree), steps is not None)


def summary_of(tree: xarray.DataTree, name: str) -> xarray.Dataset:
    """Summarise one variable of a run, without its convergence."""
    kind, values = json.loads(tree.attrs.get("manifolds", "{}")).get(name, "Euclidean"), tree["posterior"].dataset[name]
    array = np.asarray(values.transpose("chain", "draw", ...))
    return _statistics(kind, values, at_equal_times(array, falling_steps(tree), finer=True))


def _variable(kind: str, values: xarray.DataArray, steps: np.ndarray | None) -> xarray.Dataset:
    array = np.asarray(values.transpose("chain", "draw", ...))
    data = _statistics(kind, values, at_equal_times(array, steps, finer=True))
    array = at_equal_times(array, steps)
    # of axes what does not depend on their signs
    numbers = convergence.invariants(np.swapaxes(array, -1, -2), 1) if kind == AXES else convergence.chosen(array)
    data.attrs |= {
        "manifold": kind,
        "rhat": convergence.most(convergence.rhat(numbers)),
        "ess_bulk": convergence.least(convergence.ess(numbers)),
        "ess_tail": convergence.least(convergence.ess(numbers, "tail")),
    }
    return data


def _statistics(kind: str, values: xarray.DataArray, array: np.ndarray) -> xarray.Dataset:
    return _axes(values, array) if kind == AXES else _dataset(values, manifold_named(kind).summary(array))


def _axes(values: xarray.DataArray, array: np.ndarray) -> xarray.Dataset:
    count = array.shape[0] * array.shape[1]
    second = np.einsum("cd...ik,cd...jk->...kij", array, array, dtype=float) / count
    leading = np.linalg.eigh(second)[1][..., -1]  # (..., column, axis)
    first = np.swapaxes(array[-1, -1].astype(float), -1, -2)
    leading *= np.where(np.sum(leading * first, axis=-1, keepdims=True) < 0, -1.0, 1.0)  # the signs of the last draw
    u, _, vt = np.linalg.svd(np.swapaxes(leading, -1, -2), full_matrices=False)
    mean = u @ vt
    cosine = np.einsum("...ik,...kij,...jk->...k", mean, second, mean)
    return _dataset(values, {"mean_axes": mean}, {"mean_squared_cosine": cosine})


def _dataset(
    values: xarray.DataArray, found: dict[str, np.ndarray], per_column: dict[str, np.ndarray] | None = None
) -> xarray.Dataset:
    """Return the statistics with the variable's own labels; those per column lack the axis before the last."""
    import xarray

    dims = [dim for dim in values.dims if dim not in ("chain", "draw")]
    coords = {dim: values.coords[dim] for dim in dims if dim in values.coords}
    variables = {name: (dims[: array.ndim], array) for name, array in found.items()}
    variables |= {name: ([*dims[:-2], dims[-1]], array) for name, array in (per_column or {}).items()}
    return xarray.Dataset(variables, coords=coords)


def _text(name: str, data: xarray.Dataset) -> str:
    head = f"{name} on {data.attrs['manifold']}: R-hat {data.attrs['rhat']:.3f}, ESS {data.attrs['ess_bulk']:.0f} bulk"
    head += f", {data.attrs['ess_tail']:.0f} tail"
    if "mean" in data:
        return "\n".join([head, *_rows(data)])
    if name_of := _labelled(data):
        return "\n".join([head, *_table(data, name_of)])
    with np.printoptions(precision=3, suppress=True, threshold=60, edgeitems=3):
        return "\n".join([head, *(f"  {key}: {np.asarray(value)}" for key, value in data.data_vars.items())])


def _rows(data: xarray.Dataset) -> list[str]:
    """Return a line for each number, with the labels of its axes."""
    names, size = list(data.data_vars), data["mean"].size
    places = list(np.ndindex(data["mean"].shape))[:LONGEST_LIST]
    labels = [_label(data, data["mean"].dims, index) for index in places]
    width = max(10, *(len(label) + 1 for label in labels))
    rows = ["  " + " " * width + "".join(f"{name:>11}" for name in names)]
    for index, label in zip(places, labels, strict=True):
        rows.append(f"  {label:<{width}}" + "".join(f"{float(data[n].values[index]):>11.4g}" for n in names))
    return rows + ([f"  ... {size - LONGEST_LIST} more"] if size > LONGEST_LIST else [])


def _label(data: xarray.Dataset, dims: Any, index: tuple[int, ...]) -> str:
    """Return `[Anna]` or `[0,2]`: the labels that the user gave, else positions."""
    return f"[{','.join(str(data.coords[d].values[i]) for d, i in zip(dims, index, strict=True))}]" if index else ""


def _labelled(data: xarray.Dataset) -> str:
    """Return the first axis of the first variable that has words for labels (nodes, words), if there is one."""
    first = next(iter(data.data_vars.values()))
    words = [str(d) for d in first.dims if d in data.coords and data.coords[d].dtype.kind in "USO"]
    return words[0] if words and first.ndim <= 2 else ""


def _table(data: xarray.Dataset, axis: str) -> list[str]:
    """Return a line for each label of an axis, with the numbers that belong to it, and the other statistics below."""
    name, first = next(iter(data.data_vars.items()))
    turned = first.transpose(axis, ...)
    values = turned.values.reshape(turned.sizes[axis], -1)
    labels = [str(label) for label in first.coords[axis].values[:LONGEST_LIST]]
    width = max(10, *(len(label) + 1 for label in labels))
    rows = [f"  {name} ({', '.join(map(str, turned.dims))})"]
    rows += [
        f"  {label:<{width}}" + "".join(f"{v:>11.4g}" for v in row) for label, row in zip(labels, values, strict=False)
    ]
    rows += [f"  ... {len(values) - LONGEST_LIST} more"] if len(values) > LONGEST_LIST else []
    with np.printoptions(precision=3, suppress=True, threshold=60, edgeitems=3):
        return rows + [f"  {key}: {np.asarray(v)}" for key, v in data.data_vars.items() if key != name]
