"""A simplex: its draws in a triangle of three parts, and the intervals of all parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orthodrome.report.packing import packed
from orthodrome.report.pictures.labels import array_of, axis_texts
from orthodrome.report.section import Section, TableTwin

if TYPE_CHECKING:
    import xarray

PARTS, DRAWS = 40, 1000
"""The largest numbers of parts to choose from, and of draws in the picture."""
TEXT = (
    "Each point is a draw, placed by the shares of three parts among themselves: at a corner one part has all, on the "
    "opposite side none."
)


def ternary(values: xarray.DataArray) -> Section | None:
    """Return the triangle of a variable on a simplex, one draw of which is a vector; None if it has two parts."""
    draws = array_of(values).reshape(-1, values.shape[-1])
    if draws.shape[1] < 3:
        return None
    names = axis_texts(values, str(values.dims[-1]))
    mean = draws.mean(axis=0)
    kept = np.sort(np.argsort(-mean, kind="stable")[:PARTS])
    chosen = np.argsort(-mean[kept], kind="stable")[:3]
    some = np.unique(np.linspace(0, len(draws) - 1, min(DRAWS, len(draws))).astype(int))
    data = {"names": [names[k] for k in kept], "draws": packed(draws[np.ix_(some, kept)]), "chosen": chosen}
    low, high = np.quantile(draws[:, kept], (0.05, 0.95), axis=0)
    rows = [[names[k], mean[k], low[i], high[i]] for i, k in enumerate(kept)]
    table = TableTwin("Mean shares with 90 % intervals", ("part", "mean", "5 %", "95 %"), rows)
    return Section("ternary", f"The simplex of {values.name}", TEXT, data, table)
