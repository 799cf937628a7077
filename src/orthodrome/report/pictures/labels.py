"""The names of the numbers of a variable: `direction[2]`, `topics[3, engine]`, with the labels the user gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.core.display import short

if TYPE_CHECKING:
    import xarray


def array_of(values: xarray.DataArray) -> np.ndarray:
    """Return draws as (chain, draw, ...) in float64."""
    return np.asarray(values.transpose("chain", "draw", ...), float)


def flat_draws(values: xarray.DataArray) -> np.ndarray:
    """Return draws as (chain, draw, number) in their own dtype: those of topics may be large."""
    return np.asarray(values.transpose("chain", "draw", ...)).reshape(values.sizes["chain"], values.sizes["draw"], -1)


def axis_texts(values: xarray.DataArray, axis: str) -> list[str]:
    """Return the labels along one axis, safe to show."""
    given = values.coords[axis].values if axis in values.coords else np.arange(values.sizes[axis])
    return [short(str(label)) for label in given]


def element_names(values: xarray.DataArray, positions: np.ndarray) -> list[str]:
    """Return the names of some numbers of a variable, by their positions in the flattened array of one draw."""
    axes = [str(dim) for dim in values.dims if dim not in ("chain", "draw")]
    name = short(str(values.name))
    if not axes:
        return [name] * len(positions)
    shape = tuple(values.sizes[axis] for axis in axes)
    places = np.stack(np.unravel_index(positions, shape), axis=-1)
    labels: list[Any] = [values.coords[axis].values if axis in values.coords else None for axis in axes]
    text = lambda label, i: str(i) if label is None else short(str(label[i]))
    return [f"{name}[{', '.join(text(a, i) for a, i in zip(labels, place, strict=True))}]" for place in places]
