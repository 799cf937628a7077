"""Draws made by hand, without a run: for tests of what reads draws."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from orthodrome.storage.draws import dataset, datatree

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe\x1b[31m",
    "a\u2028b&amp;\"'`",
)
"""Words that are markup, formulas, or turn the line around."""


def unit(values: np.ndarray) -> np.ndarray:
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def small_draws(draws: int = 60, seed: int = 0) -> Any:
    """Two chains of draws on every space that has a picture, with hostile labels."""
    rng = np.random.default_rng(seed)
    frames = np.linalg.qr(rng.normal(size=(2, draws, 6, 2)))[0]
    turns = np.linalg.qr(rng.normal(size=(2, draws, 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[..., None, None]
    posterior = {
        "direction": unit(rng.normal([2, 1, 0], 0.3, (2, draws, 3))),
        "angle": unit(rng.normal([1, 0], 0.3, (2, draws, 2))),
        "weight": rng.dirichlet(np.ones(6), (2, draws)),
        "frame": frames,
        "turn": turns,
        "scale": rng.gamma(2.0, size=(2, draws)),
    }
    kinds = {"direction": "Sphere", "angle": "Sphere", "weight": "Simplex", "frame": "Stiefel", "turn": "Rotation"}
    dims = {"weight": ["word"], "frame": ["node", "column"]}
    coords = {"word": list(HOSTILE), "node": list(HOSTILE)}
    stats = {"lp": rng.normal(size=(2, draws)), "diverging": np.zeros((2, draws), bool)}
    attrs = {"manifolds": json.dumps(kinds), "sampler": "GeodesicHMC", "manifold": "<b>Sphere</b>", "seed": 0}
    groups = {"posterior": dataset(posterior, dims, coords), "sample_stats": dataset(stats)}
    groups["observed_data"] = dataset({"y": unit(rng.normal(size=(30, 3)))}, sample_dims=())
    return datatree(groups, attrs)
