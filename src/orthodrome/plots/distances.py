"""How far draws of weights are from a Dirichlet law: the distribution of each Rosenblatt transform, and d_KS.

Exact draws make every line run along zero, up to the grey band, sqrt(n) times which Kolmogorov's law holds 95 % of the
time for n independent draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import kolmogi

from orthodrome.diagnostics.ks_distance import ks_distance, rosenblatt
from orthodrome.plots.drawn import COLOURS, parameter, pooled, require
from orthodrome.plots.style import GREY, new_figure


def plot_ks_distance(draws: Any, concentration: Any, name: str | None = None, copy: int = 0) -> Figure:
    """Return a figure of empirical minus exact distribution functions, a line for each coordinate.

    draws: of `sample`; concentration: of the Dirichlet law that the weights should have
    name: the parameter; None: the only one; copy: which, if there are several
    """
    name, values = parameter(draws, name)
    exact = np.asarray(concentration, float)
    require(values.shape[-1:] == exact.shape, name, values, f"{exact.size} weights, as many as concentrations")
    weights = pooled(values, 1)[:, copy]
    uniform = np.sort(rosenblatt(weights, exact), axis=0)
    figure, axes = new_figure(1, 1, size=(4.8, 3.4))
    level = np.arange(1, len(uniform) + 1) / len(uniform)
    band = float(kolmogi(0.05)) / np.sqrt(len(uniform))
    axes[0, 0].axhspan(-band, band, color=GREY, alpha=0.2, linewidth=0)
    for number in range(uniform.shape[1]):
        line = level - uniform[:, number]
        axes[0, 0].plot(uniform[:, number], line, color=COLOURS[number % len(COLOURS)], linewidth=1.0)
    axes[0, 0].axhline(0, color=GREY, linewidth=0.6)
    axes[0, 0].set(xlabel="exact distribution function", ylabel="empirical minus exact", xlim=(0, 1))
    axes[0, 0].set_title(f"{name}: d_KS = {ks_distance(weights, exact):.3f} over {uniform.shape[1]} coordinates")
    return figure
