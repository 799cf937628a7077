"""What a figure is made of: one parameter of the draws, as an array, with its name and its space."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.diagnostics.given import check_draws
from orthodrome.errors import BadInput

COLOURS = ("#2f5d8c", "#d9782d", "#4b8b5a", "#8c4a7b", "#b59b2a", "#4a9aa8", "#a34a3f", "#8a8f98")
"""The colours of chains, copies or columns, in turn."""
MOST_POINTS = 4000
"""The largest number of points of a cloud: more of them only darken it."""


def parameter(draws: Any, name: str | None) -> tuple[str, Reals]:
    """Return the name and the values, (chain, draw, ...), of a parameter; without a name, of the only one there is."""
    check_draws(draws)
    posterior = draws["posterior"]
    there = [str(each) for each in posterior.data_vars]
    if name is None and len(there) != 1:
        raise BadInput(f"say which parameter to draw; there are {', '.join(there)}")
    chosen = there[0] if name is None else name
    if chosen not in there:
        raise BadInput(f"there is no parameter {chosen!r}; there are {', '.join(there)}")
    return chosen, np.asarray(posterior[chosen].transpose("chain", "draw", ...), float)


def space_of(draws: Any, name: str) -> str:
    """Return the name of the manifold on which a parameter lives; an empty text if the draws do not say."""
    return str(json.loads(draws.attrs.get("manifolds", "{}")).get(name, ""))


def pooled(values: Reals, point_ndim: int) -> Reals:
    """Return the draws of all chains, (draw, copy, ...): the last `point_ndim` axes are a point, the rest copies."""
    point = values.shape[values.ndim - point_ndim :]
    return values.reshape(values.shape[0] * values.shape[1], -1, *point)


def thinned(points: Reals, most: int = MOST_POINTS) -> Reals:
    """Return at most `most` of the rows, evenly spread."""
    return points[np.unique(np.linspace(0, len(points) - 1, min(len(points), most)).round().astype(int))]


def require(found: bool, name: str, values: Reals, wanted: str) -> None:
    """Raise unless a parameter has the shape that a figure needs."""
    if not found:
        raise BadInput(f"one draw of {name!r} has the shape {values.shape[2:]}; this figure is of {wanted}")


def copy_name(name: str, copy: int, copies: int) -> str:
    """Return the name of a copy: that of the parameter if there is only one."""
    return name if copies == 1 else f"{name}[{copy}]"
