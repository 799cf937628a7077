"""The posterior in numbers: mean, spread and 90 % interval of every number, with intervals to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.core.display import short
from orthodrome.diagnostics.movement import moved
from orthodrome.report.pictures.labels import element_names, flat_draws
from orthodrome.report.section import Section, TableTwin

if TYPE_CHECKING:
    import xarray

MOST = 60
"""The largest number of intervals of one variable; of larger ones those farthest from zero are shown."""
LEVELS = (0.05, 0.25, 0.75, 0.95)
TEXT = "Dots are posterior means; thick lines hold half of the draws, thin ones 90 per cent of them."


def summaries(tree: xarray.DataTree) -> Section:
    """Return the section with the intervals of every variable, those that the sampler moves first."""
    every, first = tree["posterior"].data_vars, list(moved(tree).data_vars)
    variables = [intervals_of(every[name]) for name in first + [name for name in every if name not in first]]
    rows = [
        [name, mean, sd, low, high]
        for one in variables
        for name, mean, sd, (low, _, _, high) in zip(one["names"], one["mean"], one["sd"], one["bounds"], strict=True)
    ]
    table = TableTwin("Posterior means and 90 % intervals", ("number", "mean", "sd", "5 %", "95 %"), rows)
    return Section("variables", "The posterior in numbers", TEXT, {"variables": variables}, table)


def intervals_of(values: xarray.DataArray) -> dict[str, Any]:
    """Return the intervals of the numbers of one variable."""
    flat = flat_draws(values)
    flat = flat.reshape(-1, flat.shape[-1])
    size = flat.shape[1]
    chosen = (
        np.arange(size)
        if size <= MOST
        else np.sort(np.argsort(-np.abs(flat.mean(axis=0, dtype=float)), kind="stable")[:MOST])
    )
    some = flat[:, chosen].astype(float)
    bounds = np.quantile(some, LEVELS, axis=0).T
    note = f"the {MOST} of {size:,} numbers that are farthest from zero" if size > MOST else ""
    return {
        "name": short(str(values.name)),
        "note": note,
        "names": element_names(values, chosen),
        "mean": some.mean(axis=0),
        "sd": some.std(axis=0),
        "bounds": bounds,
    }
