"""The style of all figures: one font size, few colours, no boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from orthodrome.storage import files

BLUE, ORANGE, GREEN, GREY = "#2f5d8c", "#d9782d", "#4b8b5a", "#8a8f98"

STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.usetex": False,  # words are no TeX
    "svg.hashsalt": "orthodrome",  # the same picture gives the same file
}


def new_figure(rows: int, columns: int, size: tuple[float, float], **grid: Any) -> tuple[Figure, Any]:
    """Return a figure and its axes (always a two-dimensional array of them), independent of pyplot's global state."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots(rows, columns, squeeze=False, **grid)


def save(figure: Figure, stem: Path) -> None:
    """Save a figure as PNG for the screen and as SVG for print.

    figure: any figure of matplotlib
    stem: the path without a suffix
    """
    with matplotlib.rc_context(STYLE):
        with files.replacing(stem.with_suffix(".png")) as file:
            figure.savefig(file, format="png", dpi=150)
        with files.replacing(stem.with_suffix(".svg")) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
