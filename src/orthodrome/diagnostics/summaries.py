"""`summary`: what the draws say, in the terms of the space each parameter lives on (its manifold's `summary`).

    Sphere      the directional mean and the resultant length
    Rotation    the mean rotation and the resultant length
    Stiefel     the mean frame up to signs (and rotation) of its columns, and its share of E X X'
    elsewhere   mean, standard deviation and quantiles of every number

with the worst R-hat and the smallest ESS of the variable. The reference for directional means is Mardia & Jupp
(2000), chapters 9 and 13.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import numpy as np

from orthodrome.diagnostics import convergence
from orthodrome.manifolds import manifold_named

if TYPE_CHECKING:
    import xarray

LONGEST_LIST = 12


@dataclasses.dataclass(frozen=True)
class Summary:
    """One dataset per variable; prints as a table."""

    variables: dict[str, xarray.Dataset]

    def __getitem__(self, name: str) -> xarray.Dataset:
        return self.variables[name]

    def __repr__(self) -> str:
        return "\n\n".join(_text(name, data) for name, data in self.variables.items())


def summary(tree: xarray.DataTree) -> Summary:
    """Summarise the posterior group of a run."""
    kinds = json.loads(tree.attrs.get("manifolds", "{}"))
    variables = tree["posterior"].data_vars
    return Summary({str(name): _variable(kinds.get(name, "Euclidean"), values) for name, values in variables.items()})


def _variable(kind: str, values: xarray.DataArray) -> xarray.Dataset:
    array = np.asarray(values.transpose("chain", "draw", ...))
    data = _dataset(values, manifold_named(kind).summary(array))
    data.attrs |= {
        "manifold": kind,
        "rhat": convergence.most(convergence.rhat(convergence.chosen(array))),
        "ess_bulk": convergence.least(convergence.ess(convergence.chosen(array))),
        "ess_tail": convergence.least(convergence.ess(convergence.chosen(array), "tail")),
    }
    return data


def _dataset(values: xarray.DataArray, found: dict[str, np.ndarray]) -> xarray.Dataset:
    import xarray

    dims = [dim for dim in values.dims if dim not in ("chain", "draw")]
    coords = {dim: values.coords[dim] for dim in dims if dim in values.coords}
    return xarray.Dataset({name: (dims[: array.ndim], array) for name, array in found.items()}, coords=coords)


def _text(name: str, data: xarray.Dataset) -> str:
    head = f"{name} on {data.attrs['manifold']}: R-hat {data.attrs['rhat']:.3f}, ESS {data.attrs['ess_bulk']:.0f} bulk"
    head += f", {data.attrs['ess_tail']:.0f} tail"
    if "mean" in data:
        return "\n".join([head, *_rows(data)])
    with np.printoptions(precision=3, suppress=True, threshold=60, edgeitems=3):
        return "\n".join([head, *(f"  {key}: {np.asarray(value)}" for key, value in data.data_vars.items())])


def _rows(data: xarray.Dataset) -> list[str]:
    names, size = list(data.data_vars), data["mean"].size
    rows = ["  " + " " * 10 + "".join(f"{name:>11}" for name in names)]
    for index in list(np.ndindex(data["mean"].shape))[:LONGEST_LIST]:
        label = ",".join(str(i) for i in index)
        rows.append(
            f"  {'[' + label + ']' if label else '':<10}"
            + "".join(f"{float(data[n].values[index]):>11.4g}" for n in names)
        )
    return rows + ([f"  ... {size - LONGEST_LIST} more"] if size > LONGEST_LIST else [])
