"""The claims on Table 1 of Byrne & Girolami (2013): all sixteen cells, the text's verdicts, and our own sampler.

A cell of ESS holds if it is within 15 % of the printed number or of those of an independent implementation; for
seconds see `claims.rates`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthodrome.experiments.support.claims.claim import Claim, too_short, unconverged, within_error
from orthodrome.experiments.support.claims.rates import CLOSE, seconds_claims, slug

REPRODUCED = {
    ("RW-MH", 0.5): (0.166, 0.166),
    ("RW-MH", 1.0): (0.38, 0.38),
    ("RW-MH", 5.0): (0.88, 0.88),
    ("Spherical RW", 0.5): (0.18, 0.18),
    ("Spherical RW", 1.0): (0.21, 0.21),
    ("Spherical RW", 5.0): (0.47, 0.47),
    ("Spherical HMC", 0.5): (76.0, 80.0),
    ("Simplex HMC", 1.0): (53.6, 53.6),
    ("Simplex HMC", 5.0): (84.0, 92.0),
    ("Spherical HMC", 1.0): (93.0, 98.0),
    ("Spherical HMC", 5.0): (220.0, 220.0),
}
"""ESS per 100 draws of an independent implementation (a range), beside the printed ones; at alpha = 0.1, and for
simplex HMC at 0.5, the chains are too short to know it."""
POOR, BETTER = 1.0, 100.0
"""ESS per 100 draws that counts as poor, and the factor that counts as a marked improvement."""
MEANS = {
    0.5: (0.322, 0.075, 0.317, 0.030, 0.055, 0.016, 0.024, 0.074, 0.088),
    1.0: (0.274, 0.077, 0.248, 0.052, 0.081, 0.028, 0.042, 0.093, 0.105),
    5.0: (0.165, 0.095, 0.142, 0.095, 0.115, 0.070, 0.085, 0.114, 0.119),
}
SOFTER = 10.0
"""The factor by which softened forces must raise the ESS of simplex HMC at alpha = 0.5."""
ROUNDING = 0.001
"""The published means have three digits and an error of their own."""


def claims_of(
    entries: Sequence[Any], table: Mapping[str, Sequence[float]], ours: str, alphas: Sequence[float]
) -> list[Claim]:
    """Return all claims."""
    by = {(e.sampler, e.alpha): e for e in entries}
    cells = [
        (by[name, alpha], printed) for name, row in table.items() for alpha, printed in zip(alphas, row, strict=True)
    ]
    claims = [efficiency_claim(e, printed, REPRODUCED.get((e.sampler, e.alpha))) for e, printed in cells]
    claims += [claim for alpha in alphas for claim in seconds_claims(by, alpha, table, alphas.index(alpha))]
    claims += verdict_claims(by)
    claims += [mean_claim(by[name, alpha], MEANS[alpha]) for alpha in MEANS for name in ("Spherical HMC", ours)]
    claims += [order_claim(by, alpha, table) for alpha in alphas]
    claims += [faster_claim(by, alpha, table, ours) for alpha in alphas if alpha >= 0.5]
    return [*claims, walls_claim(by["Spherical HMC", 0.1], by[ours, 0.1], table["Spherical HMC"][0])]


def efficiency_claim(e: Any, printed: float, known: tuple[float, float] | None) -> Claim:
    """Return the claim that ESS is within 15 % of the printed number or of a range found before."""
    low, high = known or (printed, printed)
    span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    other = "" if known is None else f", or of {span}"
    text = f"alpha = {e.alpha:g}, {e.sampler}: ESS per 100 draws within 15 % of the table{other}"
    off = min(beyond(e.ess_percent, printed, printed), beyond(e.ess_percent, low, high))
    claim = Claim(f"ess-{e.alpha:g}-{slug(e.sampler)}", text, printed, e.ess_percent, off <= 0)
    return unconverged(within_error(claim, off, e.ess_error), [e])


def beyond(value: float, low: float, high: float) -> float:
    """Return by how much a number is farther than 15 % from a range, negative if it is not."""
    return max((1 - CLOSE) * low - value, value - (1 + CLOSE) * high)


def verdict_claims(by: Mapping[Any, Any]) -> list[Claim]:
    """Return the sentences of section 5.2 as claims."""
    ess = lambda name: {f"{alpha:g}": by[name, alpha].ess_percent for alpha in (0.1, 0.5, 1.0, 5.0)}
    walk, flat, sphere = ess("Spherical RW"), ess("Simplex HMC"), ess("Spherical HMC")
    accepted = {name: (by[name, 0.1].acceptance, by[name, 5.0].acceptance) for name in ("Simplex HMC", "Spherical HMC")}
    cost = lambda alpha: by["Simplex HMC", alpha].ess_percent / 100 / by["Simplex HMC", alpha].ess_per_second
    small = {"Simplex HMC": flat["0.1"], "Spherical HMC": sphere["0.1"]}
    said: list[tuple[str, str, Any, bool]] = [
        (
            "small-alpha",
            "alpha = 0.1: both HMC samplers have less than 1 effective draw in 100",
            small,
            max(small.values()) < POOR,
        ),
        (
            "acceptance",
            "both HMC samplers have a lower acceptance rate at alpha = 0.1 than at 5",
            accepted,
            all(a < b for a, b in accepted.values()),
        ),
        (
            "reflections",
            "reflections cost time: a draw of simplex HMC takes longer at alpha = 0.1 than at 5",
            ratio := cost(0.1) / cost(5.0),
            ratio > 1,
        ),
        (
            "sphere-at-half",
            "at alpha = 0.5 spherical HMC improves a hundredfold",
            sphere,
            sphere["0.5"] > BETTER * sphere["0.1"],
        ),
        ("simplex-at-half", "at alpha = 0.5 simplex HMC stays poor", flat, flat["0.5"] < POOR),
        (
            "simplex-from-one",
            "from alpha = 1 on, simplex HMC improves a hundredfold",
            flat,
            min(flat["1"], flat["5"]) > BETTER * flat["0.5"],
        ),
        (
            "edge",
            "from alpha = 1 on, spherical HMC keeps an edge over simplex HMC",
            {"simplex": flat, "sphere": sphere},
            sphere["1"] > flat["1"] and sphere["5"] > flat["5"],
        ),
        ("spherical-walk", "the spherical random walk is poor throughout", walk, max(walk.values()) < POOR),
    ]
    claims = [Claim(f"text-{name}", text, "section 5.2", found, bool(holds)) for name, text, found, holds in said]
    return [judged(claim, by) for claim in claims]


COMPARED: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "text-small-alpha": (("Simplex HMC", "Spherical HMC"), (0.1,)),
    "text-sphere-at-half": (("Spherical HMC",), (0.1, 0.5)),
    "text-simplex-at-half": (("Simplex HMC",), (0.5,)),
    "text-simplex-from-one": (("Simplex HMC",), (0.5, 1.0, 5.0)),
    "text-edge": (("Simplex HMC", "Spherical HMC"), (1.0, 5.0)),
    "text-spherical-walk": (("Spherical RW",), (0.1, 0.5, 1.0, 5.0)),
}
"""The samplers and the alphas whose effective sample sizes a sentence compares."""


def judged(claim: Claim, by: Mapping[Any, Any]) -> Claim:
    """Return a sentence's claim, undecided if it fails on entries that are too short to time or to have an ESS."""
    if claim.id == "text-reflections":
        return too_short(claim, min(by["Simplex HMC", alpha].seconds for alpha in (0.1, 5.0)))
    if claim.id not in COMPARED:
        return claim
    names, alphas = COMPARED[claim.id]
    return unconverged(claim, [by[name, alpha] for name in names for alpha in alphas])


def mean_claim(e: Any, published: Sequence[float]) -> Claim:
    """Return the claim that all nine posterior means agree with the published ones."""
    apart = np.abs(e.mean - np.array(published))
    worst = float(np.max((apart - ROUNDING) / e.mcse))
    text = f"alpha = {e.alpha:g}, {e.sampler}: posterior means within 3 MCSE (beyond rounding) of the known ones"
    measured = {"mean": e.mean.round(4).tolist(), "worst_in_mcse": worst}
    claim = Claim(f"means-{e.alpha:g}-{slug(e.sampler)}", text, list(published), measured, worst < 3)
    return within_error(claim, worst, 1.0)


def order_claim(by: Mapping[Any, Any], alpha: float, table: Mapping[str, Sequence[float]]) -> Claim:
    """Return the claim of the paper that the sphere is best, by far at every alpha but the smallest."""
    found = {name: by[name, alpha].ess_percent for name in table}
    best = max(found, key=lambda name: found[name])
    text = f"alpha = {alpha:g}: spherical HMC has the largest ESS per draw of the four"
    claim = Claim(f"order-{alpha:g}", text, "Spherical HMC", found, best == "Spherical HMC")
    return unconverged(claim, [by[name, alpha] for name in table])


def faster_claim(by: Mapping[Any, Any], alpha: float, table: Mapping[str, Sequence[float]], ours: str) -> Claim:
    """Return the claim that our ESS per second is at least twice that of the best row."""
    best = max(by[name, alpha].ess_per_second for name in table)
    ratio = by[ours, alpha].ess_per_second / best
    text = f"alpha = {alpha:g}: self-tuned HMC has at least twice the ESS per second of the best of the four"
    shortest = min(by[name, alpha].seconds for name in (*table, ours))
    return too_short(Claim(f"faster-{alpha:g}", text, None, ratio, bool(ratio >= 2)), shortest)


def walls_claim(paper: Any, ours: Any, printed: float) -> Claim:
    """Return the claim on ESS per gradient at alpha = 0.1, against the printed number and the measured one."""
    measured = {
        "against_table": ours.ess_per_gradient / (printed / 100 / 20),
        "against_measured": ours.ess_per_gradient / paper.ess_per_gradient,
    }
    text = "alpha = 0.1: self-tuned HMC has at least 100 times the ESS per gradient of the paper's spherical HMC"
    claim = Claim("walls-0.1", text, printed, measured, bool(min(measured.values()) >= 100))
    return unconverged(claim, [paper])


def softened_claim(sharp: Any, softened: Any) -> Claim:
    """Return the claim on what softened forces alone do for simplex HMC, everything else being the paper's."""
    ratio = softened.ess_percent / sharp.ess_percent
    found = {"sharp": sharp.ess_percent, "softened": softened.ess_percent, "ratio": ratio}
    found |= {"acceptance": {"sharp": sharp.acceptance, "softened": softened.acceptance}}
    text = f"alpha = {sharp.alpha:g}: forces softened at walls give simplex HMC at least {SOFTER:g} times the ESS"
    claim = Claim(f"softened-{sharp.alpha:g}", text, None, found, bool(ratio >= SOFTER))
    return unconverged(claim, [sharp, softened])
