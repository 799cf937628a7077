"""`summary`: what the draws say, in the terms of the space each parameter lives on.

    Sphere      the directional mean m = E x / |E x| and the resultant length |E x| (1: a point, 0: no direction)
    Rotation    the mean rotation, the polar factor of E X, and tr(M' E X) / n in place of the resultant length
    Stiefel     the mean frame up to signs (and rotation) of its columns: the leading eigenvectors of E X X', and
                the share of E X X' in their span
    elsewhere   mean, standard deviation and quantiles of every number

with the worst R-hat and the smallest ESS of the variable. The reference for directional means is Mardia & Jupp
(2000), chapters 9 and 13.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.diagnostics import convergence

if TYPE_CHECKING:
    import xarray

LONGEST_LIST = 12
QUANTILES = (0.05, 0.5, 0.95)


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
    data = _KINDS.get(kind, _numbers)(values, array)
    data.attrs |= {
        "manifold": kind,
        "rhat": convergence.most(convergence.rhat(convergence.chosen(array))),
        "ess_bulk": convergence.least(convergence.ess(convergence.chosen(array))),
        "ess_tail": convergence.least(convergence.ess(convergence.chosen(array), "tail")),
    }
    return data


def _numbers(values: xarray.DataArray, array: np.ndarray) -> xarray.Dataset:
    quantiles = np.quantile(array, QUANTILES, axis=(0, 1))
    found = {"mean": array.mean((0, 1)), "sd": array.std((0, 1), ddof=1)}
    return _dataset(values, found | {f"q{100 * q:02.0f}": level for q, level in zip(QUANTILES, quantiles, strict=True)})


def _directions(values: xarray.DataArray, array: np.ndarray) -> xarray.Dataset:
    mean = array.mean((0, 1), dtype=float)
    length = np.linalg.norm(mean, axis=-1, keepdims=True)
    direction = mean / np.maximum(length, np.finfo(float).tiny)
    return _dataset(values, {"directional_mean": direction, "resultant_length": length[..., 0]})


def _rotations(values: xarray.DataArray, array: np.ndarray) -> xarray.Dataset:
    mean = array.mean((0, 1), dtype=float)
    u, _, vt = np.linalg.svd(mean)
    if np.linalg.det(array[0, 0].astype(float)).ravel()[0] > 0:  # the nearest of the same orientation
        u[..., -1] *= np.sign(np.linalg.det(u @ vt))[..., None]
    rotation = u @ vt
    length = np.sum(rotation * mean, axis=(-2, -1)) / mean.shape[-1]
    return _dataset(values, {"mean_rotation": rotation, "resultant_length": length})


def _frames(values: xarray.DataArray, array: np.ndarray) -> xarray.Dataset:
    columns = array.shape[-1]
    second = np.einsum("cd...ik,cd...jk->...ij", array, array, dtype=float) / (array.shape[0] * array.shape[1])
    eigenvalues, vectors = np.linalg.eigh(second)
    frame = vectors[..., ::-1][..., :columns]
    share = eigenvalues[..., ::-1][..., :columns].sum(-1) / columns
    return _dataset(values, {"mean_frame": frame, "share_of_span": share})


_KINDS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "Sphere": _directions,
    "Rotation": _rotations,
    "Stiefel": _frames,
}


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
