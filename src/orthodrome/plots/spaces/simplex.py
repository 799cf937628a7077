"""The posterior on the simplex as a ternary diagram.

Three weights are a point of the triangle with these barycentric coordinates. Of more than three the figure shows a
subcomposition, (p_i, p_j, p_k) / (p_i + p_j + p_k): for a Dirichlet law it is Dirichlet with the same three
concentrations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.core.display import for_figure
from orthodrome.errors import BadInput
from orthodrome.plots.drawn import COLOURS, copy_name, parameter, pooled, require, thinned
from orthodrome.plots.style import GREY, new_figure

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def plot_simplex(draws: Any, name: str | None = None, components: tuple[int, int, int] | None = None) -> Figure:
    """Return a ternary diagram of three weights.

    draws: of `sample` or a fitted model; name: the parameter; None: the only one. Copies have a colour each
    components: which three; None: those of the largest mean weights
    """
    name, values = parameter(draws, name)
    require(values.ndim >= 3 and values.shape[-1] >= 3, name, values, "at least three weights")
    clouds, size = pooled(values, 1), values.shape[-1]
    largest = np.sort(np.argsort(-clouds.mean(axis=(0, 1)), kind="stable")[:3])
    chosen = tuple(int(c) for c in (largest if components is None else components))
    if len(set(chosen)) != 3 or not all(0 <= c < size for c in chosen):
        raise BadInput(f"components are three different numbers from 0 to {size - 1}, not {components}")
    three = clouds[..., list(chosen)]
    three = three / three.sum(axis=-1, keepdims=True)
    figure, axes = new_figure(1, 1, size=(4.4, 4.0))
    triangle(axes[0, 0], [for_figure(label) for label in labels(draws, name, chosen)])
    for copy in range(three.shape[1]):
        flat = thinned(three[:, copy]) @ CORNERS
        label, colour = copy_name(name, copy, three.shape[1]), COLOURS[copy % len(COLOURS)]
        axes[0, 0].scatter(flat[:, 0], flat[:, 1], s=5, alpha=0.35, linewidths=0, color=colour, label=label)
    if size > 3:
        axes[0, 0].set_title(f"the share of each among these three of {size}")
    if 1 < three.shape[1] <= len(COLOURS):
        axes[0, 0].legend(fontsize=7, frameon=False)
    return figure


def triangle(panel: Any, names: list[str]) -> None:
    """Draw the triangle with lines at fifths and a name at each corner."""
    panel.fill(*CORNERS.T, facecolor="#f5f6f8", edgecolor=GREY, linewidth=0.8)
    for share in (0.2, 0.4, 0.6, 0.8):
        for first, second, third in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            ends = (1 - share) * CORNERS[[second, third]] + share * CORNERS[first]
            panel.plot(*ends.T, color=GREY, linewidth=0.3)
    for corner, text, aligned in zip(CORNERS, names, ("right", "left", "center"), strict=True):
        outward = corner + 0.05 * (corner - CORNERS.mean(axis=0))
        panel.text(*outward, text, ha=aligned, va="bottom" if corner[1] > 0 else "top", fontsize=9)
    panel.set(xlim=(-0.18, 1.18), ylim=(-0.12, 1.0), aspect="equal")
    panel.axis("off")


def labels(draws: Any, name: str, chosen: tuple[int, ...]) -> list[str]:
    """Return the names of the components: their coordinates where these are texts, else their numbers."""
    variable = draws["posterior"][name]
    names = variable.coords.get(variable.dims[-1])
    known = names is not None and names.dtype.kind in "UO"
    return [str(names.values[c]) if known else f"{name}[{c}]" for c in chosen]
