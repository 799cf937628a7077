"""Pairs of angles in groups, to which one law on the torus gives several tops."""

from __future__ import annotations

import numpy as np

GROUPS = {
    "hidden": ([[2.4, -2.4], [-1.4, 0.9], [1.2, 2.7]], [0.14, 0.3, 0.56], 0.26),
    "two tops": ([[2.6, -2.6], [-2.6, 2.6], [-0.1, 0.0]], [0.25, 0.25, 0.5], 0.25),
}
"""Centres, shares and spread. hidden: the mean directions lie below a top that is tens of nats lower than the best of
the cosine law; two tops: groups on both diagonals, which that law fits about as well with a coupling of either sign."""


def grouped_angles(name: str, count: int = 150) -> np.ndarray:
    centres, shares, spread = GROUPS[name]
    rng = np.random.default_rng(0)
    return np.array(centres)[rng.choice(len(shares), p=shares, size=count)] + spread * rng.normal(size=(count, 2))
