"""Figures from draws. Nothing here touches pyplot, so importing it changes no global state and needs no display."""

from orthodrome.plots.directional import plot_directional
from orthodrome.plots.distances import plot_ks_distance
from orthodrome.plots.fitted_topics import plot_topics
from orthodrome.plots.ladder import plot_ladder
from orthodrome.plots.network import plot_network
from orthodrome.plots.perplexity import plot_perplexity
from orthodrome.plots.spaces.circle import plot_circle
from orthodrome.plots.spaces.frames import plot_frames
from orthodrome.plots.spaces.posterior import plot_posterior
from orthodrome.plots.spaces.rotation import plot_rotations
from orthodrome.plots.spaces.simplex import plot_simplex
from orthodrome.plots.spaces.sphere import plot_sphere
from orthodrome.plots.spaces.torus import plot_torus
from orthodrome.plots.strengths import plot_strengths
from orthodrome.plots.style import save
from orthodrome.plots.traces import plot_ranks, plot_traces

__all__ = [
    "plot_circle",
    "plot_directional",
    "plot_frames",
    "plot_ks_distance",
    "plot_ladder",
    "plot_network",
    "plot_perplexity",
    "plot_posterior",
    "plot_ranks",
    "plot_rotations",
    "plot_simplex",
    "plot_sphere",
    "plot_strengths",
    "plot_topics",
    "plot_torus",
    "plot_traces",
    "save",
]
