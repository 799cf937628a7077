"""The posterior on the sphere in R^3: the draws on both sides of a globe, with the data if wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.core.types import Reals
from orthodrome.plots.drawn import COLOURS, copy_name, parameter, pooled, require, thinned
from orthodrome.plots.globe import globe, scatter, view
from orthodrome.plots.style import GREY, new_figure


def plot_sphere(draws: Any, name: str | None = None, data: Any = None) -> Figure:
    """Return a figure with two globes, seen from where most draws are and from behind.

    draws: of `sample` or a fitted model; name: the parameter; None: the only one. Copies have a colour each
    data: unit vectors, one in a row, shown as grey crosses
    """
    name, values = parameter(draws, name)
    require(values.ndim >= 3 and values.shape[-1] == 3, name, values, "unit vectors in R^3")
    clouds = pooled(values, 1)
    figure, axes = new_figure(1, 2, size=(7.0, 3.7))
    front, copies = facing(clouds.reshape(-1, 3)), clouds.shape[1]
    for panel, towards, title in ((axes[0, 0], front, "front"), (axes[0, 1], -front, "back")):
        camera = view(towards)
        globe(panel, camera)
        if data is not None:
            scatter(panel, camera, np.asarray(data, float), color=GREY, marker="x", s=14, linewidths=0.8)
        for copy in range(copies):
            style = {"color": COLOURS[copy % len(COLOURS)], "label": copy_name(name, copy, copies)}
            scatter(panel, camera, thinned(clouds[:, copy]), s=5, alpha=0.35, linewidths=0, **style)
        panel.set_title(title)
    if 1 < copies <= len(COLOURS):
        handles = axes[0, 0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4, fontsize=7, frameon=False, markerscale=2)
    return figure


def facing(points: Reals) -> Reals:
    """Return the mean direction of the points; if there is none to speak of, their main axis."""
    mean = points.mean(axis=0)
    if np.linalg.norm(mean) > 0.2:
        return mean
    main: Reals = np.linalg.eigh(points.T @ points)[1][:, -1]
    return main if points.mean(axis=0) @ main >= 0 else -main
