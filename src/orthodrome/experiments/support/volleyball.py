"""The claims on Table 1 of Byrne & Girolami (2013), values of an earlier reproduction, and the claims on our own
sampler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthodrome.experiments.support.claims.claim import Claim, too_short, undecided, within_error

REPRODUCED = {
    ("Simplex HMC", 1.0): (53.6, 53.6),
    ("Simplex HMC", 5.0): (84.0, 92.0),
    ("Spherical HMC", 1.0): (93.0, 98.0),
    ("Spherical HMC", 5.0): (220.0, 220.0),
}
"""ESS per 100 draws found with other estimators (a range), beside the printed ones."""
MEANS = {
    0.5: (0.322, 0.075, 0.317, 0.030, 0.055, 0.016, 0.024, 0.074, 0.088),
    1.0: (0.274, 0.077, 0.248, 0.052, 0.081, 0.028, 0.042, 0.093, 0.105),
    5.0: (0.165, 0.095, 0.142, 0.095, 0.115, 0.070, 0.085, 0.114, 0.119),
}
CONVERGED = 1.05
"""The R-hat above which an effective sample size says nothing."""
ROUNDING = 0.001
"""The published means have three digits and an error of their own."""


def claims_of(
    entries: Sequence[Any], table: Mapping[str, Sequence[float]], ours: str, alphas: Sequence[float]
) -> list[Claim]:
    """Return all claims."""
    by = {(e.sampler, e.alpha): e for e in entries}
    claims = [efficiency_claim(by[key], table[key[0]][alphas.index(key[1])], *REPRODUCED[key]) for key in REPRODUCED]
    claims += [mean_claim(by[name, alpha], MEANS[alpha]) for alpha in MEANS for name in ("Spherical HMC", ours)]
    claims += [order_claim(by, alpha, table) for alpha in alphas]
    claims += [faster_claim(by, alpha, table, ours) for alpha in alphas if alpha >= 0.5]
    return [*claims, walls_claim(by["Spherical HMC", 0.1], by[ours, 0.1], table["Spherical HMC"][0])]


def efficiency_claim(e: Any, printed: float, low: float, high: float) -> Claim:
    """Return the claim that ESS is within 15 % of an earlier reproduction and 25 % of the printed number."""
    text = f"alpha = {e.alpha:g}, {e.sampler}: ESS per 100 draws within 15 % of {low:g}..{high:g} and 25 % of the table"
    holds = 0.85 * low <= e.ess_percent <= 1.15 * high and abs(e.ess_percent / printed - 1) <= 0.25
    off = max(0.85 * low - e.ess_percent, e.ess_percent - 1.15 * high, abs(e.ess_percent - printed) - 0.25 * printed)
    claim = Claim(f"ess-{e.alpha:g}-{_slug(e.sampler)}", text, printed, e.ess_percent, bool(holds))
    return within_error(claim, off, e.ess_error)


def mean_claim(e: Any, published: Sequence[float]) -> Claim:
    """Return the claim that all nine posterior means agree with the published ones."""
    apart = np.abs(e.mean - np.array(published))
    worst = float(np.max((apart - ROUNDING) / e.mcse))
    text = f"alpha = {e.alpha:g}, {e.sampler}: posterior means within 3 MCSE (beyond rounding) of the known ones"
    measured = {"mean": e.mean.round(4).tolist(), "worst_in_mcse": worst}
    claim = Claim(f"means-{e.alpha:g}-{_slug(e.sampler)}", text, list(published), measured, worst < 3)
    return within_error(claim, worst, 1.0)


def order_claim(by: Mapping[Any, Any], alpha: float, table: Mapping[str, Sequence[float]]) -> Claim:
    """Return the claim of the paper that the sphere is best, by far at every alpha but the smallest."""
    found = {name: by[name, alpha].ess_percent for name in table}
    best = max(found, key=lambda name: found[name])
    text = f"alpha = {alpha:g}: spherical HMC has the largest ESS per draw of the four"
    return Claim(f"order-{alpha:g}", text, "Spherical HMC", found, best == "Spherical HMC")


def faster_claim(by: Mapping[Any, Any], alpha: float, table: Mapping[str, Sequence[float]], ours: str) -> Claim:
    """Return the claim that our ESS per second is at least twice that of the best row."""
    best = max(by[name, alpha].ess_per_second for name in table)
    ratio = by[ours, alpha].ess_per_second / best
    text = f"alpha = {alpha:g}: ours, tuned by itself, has at least twice the ESS per second of the best of the four"
    shortest = min(by[name, alpha].seconds for name in (*table, ours))
    return too_short(Claim(f"faster-{alpha:g}", text, None, ratio, bool(ratio >= 2)), shortest)


def walls_claim(paper: Any, ours: Any, printed: float) -> Claim:
    """Return the claim on ESS per gradient at alpha = 0.1, against the printed number and the measured one."""
    measured = {
        "against_table": ours.ess_per_gradient / (printed / 100 / 20),
        "against_measured": ours.ess_per_gradient / paper.ess_per_gradient,
    }
    text = "alpha = 0.1: ours has at least 100 times the ESS per gradient of the paper's spherical HMC"
    claim = Claim("walls-0.1", text, printed, measured, bool(min(measured.values()) >= 100))
    if paper.rhat < CONVERGED:
        return claim
    return undecided(
        claim, f"R-hat of the paper's sampler is {paper.rhat:.2f}: its chains are too short to have an ESS"
    )


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name.lower()).replace("--", "-")
