"""Supplement E: does a D that is small where the density is high make draws near the mode more accurate?

Euler's chain on the double well of `support.adaptive`, with D(x) or its mean: its stationary law on a fine grid, by
linear algebra, without Monte Carlo error. A gradient with the variance V adds h^2 D^2 V to the variance 2 h D of a
step, a relative heat of h D V / 2, which is smaller where D is. But where gradients are exact the error is Euler's own,
which an adaptive D makes larger.
"""

from __future__ import annotations

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.experiments.support.adaptive import OFFSET, mean_strength
from orthodrome.experiments.support.contract import Claim

STEP, NOISE, NEAR = 0.0025, 100.0, 0.5
"""The step, the variance of the gradient, and the potential below which a place is near a mode."""
END, COUNT = 2.2, 1201


def stationary(adaptive: bool, noise: float) -> tuple[Reals, Reals, Reals]:
    """Return U on the grid, the exact masses, and those of the chain."""
    x = np.linspace(-END, END, COUNT)
    u, slope = 3 * (x**2 - 1) ** 2, 12 * x * (x**2 - 1)
    d = np.sqrt(u + OFFSET) if adaptive else np.full(COUNT, mean_strength())
    drift = -d * slope + (slope / (2 * d) if adaptive else 0)
    spread = np.sqrt(2 * STEP * d + STEP**2 * d**2 * noise)
    kernel = np.exp(-((x - (x + STEP * drift)[:, None]) ** 2) / (2 * spread[:, None] ** 2))
    kernel /= kernel.sum(axis=1, keepdims=True)
    system = kernel.T - np.eye(COUNT)
    system[-1] = 1  # one equation follows from the others; the masses add to one
    exact = np.exp(-u)
    return u, exact / exact.sum(), np.linalg.solve(system, np.eye(COUNT)[-1])


def near_the_mode(adaptive: bool, noise: float) -> float:
    """Return the total variation between the laws near the modes."""
    u, exact, found = stationary(adaptive, noise)
    near = u < NEAR
    one, two = exact[near] / exact[near].sum(), found[near] / found[near].sum()
    return float(np.abs(one - two).sum() / 2)


def accuracy_claims() -> list[Claim]:
    """Return the claims on total variation near the modes, with and without noise of the gradient."""
    claims = []
    for name, noise in (("noise", NOISE), ("exact", 0.0)):
        found = {kind: near_the_mode(kind == "adaptive", noise) for kind in ("adaptive", "constant")}
        about = f"gradients with the variance {noise:g}" if noise else "exact gradients"
        text = f"{about}, step {STEP:g}: near the modes, draws with a D that is small there are closer to the law than "
        text += "draws with the mean of D (total variation)"
        said = "can increase accuracy near the global mode"
        claims.append(Claim(f"accuracy-{name}", text, said, found, found["adaptive"] < found["constant"]))
    return claims
