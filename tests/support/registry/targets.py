"""TARGETS: every law with exact draws, by name."""

from __future__ import annotations

from support.registry.flat_laws import FLAT
from support.registry.frame_laws import FRAMES
from support.registry.law import Law
from support.registry.simplex_laws import SIMPLICES
from support.registry.sphere_laws import SPHERES

TARGETS: dict[str, Law] = {**FLAT, **SPHERES, **SIMPLICES, **FRAMES}

ONE_PER_MANIFOLD = [
    "gaussian-1",
    "affine",
    "positive",
    "log-positive",
    "ball",
    "box",
    "vmf-3",
    "simplex",
    "reflected-simplex",
    "log-ratio",
    "stiefel",
    "rotation",
    "level-torus",
    "product",
]
"""The laws of which the fast suite takes the most."""
