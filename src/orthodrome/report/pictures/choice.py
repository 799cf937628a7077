"""Which pictures a run asks for: those of its model, else those of the spaces its variables live on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.core.display import short
from orthodrome.core.types import Reals
from orthodrome.report.pictures.directional import directional
from orthodrome.report.pictures.frames import frame, rotation
from orthodrome.report.pictures.labels import array_of
from orthodrome.report.pictures.network import network
from orthodrome.report.pictures.simplex import ternary
from orthodrome.report.pictures.sphere import Cloud, globe, ring
from orthodrome.report.pictures.strengths import strengths
from orthodrome.report.pictures.topics import fitted_topics
from orthodrome.report.section import Section

if TYPE_CHECKING:
    import xarray

MODELS = {
    "Directional": directional,
    "LDA": fitted_topics,
    "NetworkEigenmodel": network,
    "PairedComparison": strengths,
    "SAM": fitted_topics,
}
"""The pictures of fitted models, by the name of the estimator."""
UNLABELLED: dict[str, tuple[str, ...]] = {"DirichletProcessMixture": ("num_clusters", "concentration")}
"""The variables of models whose others are those of components, which each draw numbers in its own way."""
MOST = 4
"""The largest number of copies (of spheres, of simplices) that have pictures, of one variable."""
SPHERE_TEXT = "Points are draws of unit vectors, and shading is where they are dense."
CIRCLE_TEXT = "Points are draws of unit vectors; the curve outside the circle is high where they are dense."
LENGTH = 1e-3
"""The largest deviation of a datum from length one that still lies on the sphere."""


def pictures(tree: xarray.DataTree, model: Any) -> list[Section]:
    """Return the sections with the pictures of a run."""
    own = MODELS.get(type(model).__name__)
    if own is not None:
        return own(model)
    kinds = json.loads(tree.attrs.get("manifolds", "{}"))
    found = []
    for name, values in tree["posterior"].data_vars.items():
        found += of_variable(values, kinds.get(str(name), ""), observed_directions(tree))
    return found


def of_variable(values: xarray.DataArray, kind: str, data: list[Cloud]) -> list[Section]:
    """Return the pictures of one variable, by the space it lives on."""
    if kind == "Sphere":
        return on_spheres(values, data)
    if kind in ("Simplex", "LogRatioSimplex", "ReflectedSimplex"):
        return [section for one in copies(values, 1) if weights(one) and (section := ternary(one)) is not None]
    if kind == "Rotation" and values.shape[-2:] == (3, 3):
        return [rotation(one) for one in copies(values, 2)]
    if kind in ("Stiefel", "Rotation", "Axes"):
        return [frame(one) for one in copies(values, 2)]
    return []


def on_spheres(values: xarray.DataArray, data: list[Cloud]) -> list[Section]:
    """Return a globe or a circle with the draws of every copy; none in more dimensions."""
    size = values.shape[-1]
    if size not in (2, 3):
        return []
    draws = array_of(values).reshape(values.sizes["chain"] * values.sizes["draw"], -1, size)
    name, count = short(str(values.name)), draws.shape[1]
    names = [name] if count == 1 else [f"{name}[{k}]" for k in range(min(MOST, count))]
    clouds = [Cloud(f"draws of {one}", draws[:, k]) for k, one in enumerate(names)]
    clouds += [one for one in data if one.points.shape[1] == size]
    if size == 3:
        return [globe(f"{name} on the sphere", SPHERE_TEXT, clouds, None)]
    return [ring(f"{name} on the circle", CIRCLE_TEXT, clouds, None)]


def copies(values: xarray.DataArray, point_ndim: int) -> list[xarray.DataArray]:
    """Return the first few copies of a variable that is several points, or the variable itself."""
    lead = [dim for dim in values.dims if dim not in ("chain", "draw")][:-point_ndim]
    if not lead:
        return [values]
    shape = tuple(values.sizes[dim] for dim in lead)
    found = []
    for index in list(np.ndindex(shape))[:MOST]:
        one = values.isel(dict(zip(lead, index, strict=True)), drop=True)
        found.append(one.rename(f"{values.name}[{', '.join(map(str, index))}]"))
    return found


def weights(values: xarray.DataArray) -> bool:
    """Return whether draws are weights that sum to one, rather than their logarithms."""
    total: Reals = array_of(values).sum(axis=-1)
    return bool(np.allclose(total, 1, atol=1e-3))


def observed_directions(tree: xarray.DataTree) -> list[Cloud]:
    """Return the data of the run that are unit vectors in two or three dimensions."""
    found = []
    for group in ("observed_data", "constant_data"):
        for name, values in tree[group].data_vars.items() if group in tree.children else ():
            rows = np.asarray(values, float) if values.dtype.kind == "f" else np.zeros((0, 0))
            if rows.ndim == 2 and rows.shape[1] in (2, 3) and np.all(abs(np.linalg.norm(rows, axis=1) - 1) < LENGTH):
                found.append(Cloud(f"data {short(str(name))}", rows, mean=False))
    return found
