"""Pairs of angles in groups, to which one law on the torus gives several tops."""

from __future__ import annotations

import numpy as np

GROUPS = {
    "hidden": ([[2.4, -2.4], [-1.4, 0.9], [1.2, 2.7]], [0.14, 0.3, 0.56], 0.26),
    "two tops": ([[-1.3, -1.7], [-0.1, -0.4]], [0.5, 0.5], 0.15),
}
"""Centres, shares and spread. hidden: the mean directions lie below a top that is tens of nats lower than the best of
the cosine law; two tops: of that law, of about equal height."""


def grouped_angles(name: str, count: int = 150) -> np.ndarray:
    centres, shares, spread = GROUPS[name]
    rng = np.random.default_rng(0)
    return np.array(centres)[rng.choice(len(shares), p=shares, size=count)] + spread * rng.normal(size=(count, 2))
