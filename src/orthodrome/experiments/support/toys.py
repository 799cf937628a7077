"""What the two toy experiments of Liu, Zhu & Song (2016) have in common: where modes are, and how much they weigh."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.experiments.support.contract import Claim

PLACE, WEIGHT = 0.1, 0.03
"""How far the place (in radians, the paper's bin) and the weight of a mode may be from the exact ones."""


def total_variation(one: Reals, other: Reals) -> float:
    """Return the total variation distance of two histograms."""
    return float(np.abs(one - other).sum() / 2)


def smoothed(p: Reals, width: float) -> Reals:
    """Return bins averaged with their neighbours by a Gaussian of some bins, so that a maximum is not a chance one."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(p, width, mode="nearest")


def highest(p: Reals, middles: Reals, where: Any, width: float) -> list[float]:
    """Return the coordinates of the highest of the bins chosen by a mask, after smoothing."""
    index = np.unravel_index(int(np.argmax(np.where(where, smoothed(p, width), -1))), p.shape)
    return [float(middles[i]) for i in index]


def mode_claims(
    name: str, truth: Reals, found: Reals, middles: Reals, sides: dict[str, Any], width: float = 1.0
) -> list[Claim]:
    """Return the claims on the place and on the weight of each mode.

    name: of the sampler
    truth, found: probabilities of bins, exact and of the draws
    middles: of the bins along each axis
    sides: a mask of bins for each mode, by its name
    width: of the smoothing, in bins
    """
    claims = []
    for side, where in sides.items():
        place = {
            "exact": highest(truth, middles, where, width),
            "measured": highest(found, middles, where, width),
        }
        off = float(np.max(np.abs(np.subtract(place["exact"], place["measured"]))))
        weight = {"exact": float(truth[where].sum()), "measured": float(found[where].sum())}
        claims += [
            Claim(
                f"place-{side}-{name}",
                f"{name}: the mode {side} is within {PLACE:g} of its exact place",
                "both modes",
                place,
                off <= PLACE + 1e-9,
            ),
            Claim(
                f"weight-{side}-{name}",
                f"{name}: the weight of the mode {side} is within {WEIGHT:g} of the exact one",
                "both modes",
                weight,
                abs(weight["exact"] - weight["measured"]) <= WEIGHT,
            ),
        ]
    return claims
