"""The figure that belongs to a parameter, chosen by the manifold it lives on."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from orthodrome.errors import BadInput
from orthodrome.plots.drawn import parameter, space_of
from orthodrome.plots.spaces.circle import plot_circle
from orthodrome.plots.spaces.frames import plot_frames
from orthodrome.plots.spaces.rotation import plot_rotations
from orthodrome.plots.spaces.simplex import plot_simplex
from orthodrome.plots.spaces.sphere import plot_sphere
from orthodrome.plots.spaces.torus import plot_torus
from orthodrome.plots.traces import plot_traces

SIMPLICES = ("Simplex", "LogRatioSimplex", "ReflectedSimplex")


def plot_posterior(draws: Any, name: str | None = None) -> Figure:
    """Return the figure of a parameter: circle, sphere, torus, simplex, rotation or frame; else its traces.

    draws: of `sample`; name: the parameter; None: the only one
    """
    name, values = parameter(draws, name)
    space, shape = space_of(draws, name), values.shape[2:]
    if space == "Sphere" and shape == (2, 2):
        return plot_torus(draws, name)
    if space == "Sphere" and shape[-1] == 2:
        return plot_circle(draws, name)
    if space == "Sphere" and shape[-1] == 3:
        return plot_sphere(draws, name)
    if space in SIMPLICES and shape[-1] >= 3:
        return plot_simplex(draws, name)
    if space == "Rotation" and shape[-2:] == (3, 3):
        return plot_rotations(draws, name)
    if space in ("Stiefel", "Rotation"):
        return plot_frames(draws, name)
    if not space:
        raise BadInput(f"these draws do not say on which manifold {name!r} lives; call plot_sphere, plot_simplex ...")
    return plot_traces(draws, [name])
