"""Can the draws be trusted? The verdict of `diagnose` in words with its remedies, and the figures behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import short, shown
from orthodrome.diagnostics.diagnosis import ESS_PER_CHAIN, Diagnosis, diagnose
from orthodrome.report.section import Section, TableTwin

if TYPE_CHECKING:
    import xarray

FEWEST = 4
"""Draws per chain below which R-hat and ESS do not exist."""
RHAT = 1.01
"""The R-hat up to which chains agree (Vehtari et al. 2021)."""
TEXT = (
    "R-hat compares the chains (1: they agree); the effective sample size (ESS) says how many independent draws the "
    "run is worth; a divergence is a trajectory that broke."
)
HEAD = ("variable", "worst R-hat", "least ESS (bulk)", "least ESS (tail)", "largest error of the mean")


def health(tree: xarray.DataTree) -> Section:
    """Return the section with the verdict; a run that is too short to be judged says so."""
    if tree["posterior"].sizes["draw"] < FEWEST or "sample_stats" not in tree.children:
        verdict = "There are too few draws to judge: R-hat and effective sample sizes need four draws of a chain."
        return Section("health", "Can the draws be trusted?", TEXT, {"ok": None, "verdict": verdict, "cards": []})
    found = diagnose(tree)
    problems = [shown(text) for text in found.problems]
    data = {"ok": found.ok, "verdict": shown(found.verdict), "problems": problems, "cards": cards(tree, found)}
    rows = [
        [short(name), *(row.get(key, math.nan) for key in ("rhat", "ess_bulk", "ess_tail", "mcse"))]
        for name, row in found.variables.items()
    ]
    return Section("health", "Can the draws be trusted?", TEXT, data, TableTwin("Convergence by variable", HEAD, rows))


def cards(tree: xarray.DataTree, found: Diagnosis) -> list[dict[str, Any]]:
    """Return the figures of the run: name, value, whether it is good, and what it should be."""
    stats, sizes = tree["sample_stats"], tree["posterior"].sizes
    rows = list(found.variables.values())
    rhat = max((row["rhat"] for row in rows if not math.isnan(row["rhat"])), default=math.nan)
    ess = min((min(row["ess_bulk"], row["ess_tail"]) for row in rows), default=math.nan)
    wanted = ESS_PER_CHAIN * sizes["chain"]
    total = sizes["chain"] * sizes["draw"]
    listed = [
        card("R-hat", f"{rhat:.3f}", rhat <= RHAT, f"at most {RHAT}, the worst of all numbers"),
        card("effective draws", f"{ess:,.0f}", ess >= wanted, f"at least {wanted:,}, the least of all numbers"),
        card("divergences", f"{found.divergences:,}", found.divergences == 0, f"none, of {total:,} draws"),
    ]
    if "acceptance_rate" in stats:
        aim = float(tree.attrs.get("target_acceptance", "nan"))
        text = "" if math.isnan(aim) else f"the warm-up aimed at {aim:.2f}"
        listed.append(card("acceptance", f"{float(stats['acceptance_rate'].mean()):.2f}", None, text))
    if found.temperature is not None:
        heat = found.temperature
        problem = any("temperature" in text for text in found.problems)
        listed.append(card("temperature", f"{heat.mean:.3f}", not problem, f"the scheme's own is {heat.expected:.3f}"))
        if not math.isnan(heat.worst):
            listed.append(
                card("worst direction", f"{heat.worst:.3f}", not problem, "temperature along it; should be 1")
            )
    if not math.isnan(found.bfmi):
        listed.append(card("E-BFMI", f"{found.bfmi:.2f}", found.bfmi >= 0.3, "at least 0.3: the energy mixes"))
    if not math.isnan(found.distance):
        listed.append(card("off the space", f"{found.distance:.0e}", None, "the largest distance of a draw from it"))
    return listed


def card(name: str, value: str, good: bool | None, should: str) -> dict[str, Any]:
    """Return one figure; good: None if it is neither."""
    return {"name": name, "value": "none" if value == "nan" else value, "good": None if value == "nan" else good} | {
        "should": should
    }
