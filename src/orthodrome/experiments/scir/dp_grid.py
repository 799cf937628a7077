"""The grid search of section 4.2 of Baker et al. (2018): steps and base measures of SCIR and SGRLD for `scir-dp`.

The paper tunes both methods by the score of test users and does not give the grid. This one has the values that the
authors' code uses (errata, 1.3) inside it, so that it shows whether these are the best, and how much the best depends
on them. Every other setting is that of `scir-dp`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.experiments.support.claims.claim import within_error
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.visits.cases import DATA, SCIR, SGRLD, VisitCase, read_visits, run_case
from orthodrome.plots.style import new_figure

__all__ = ["DATA", "NAME", "PAPER", "TITLE", "run"]

NAME = "scir-dp-grid"
TITLE = "The grid search behind scir-dp: steps and base measures of SCIR and SGRLD"
PAPER = "Baker, Fearnhead, Fox & Nemeth 2018, section 4.2"

PRIORS = {"SCIR": (0.01, 0.1, 0.5, 1.0), "SGRLD": (0.001, 0.01, 0.1, 0.5)}
STEPS = {"SCIR": (0.05, 0.1, 0.5), "SGRLD": (2e-4, 1e-3, 5e-3)}
"""h of the parameters; the sticks of SCIR have the same, those of SGRLD five times as much, as in the authors' code."""
NEAR = 0.05
"""Nats from the best within which a setting is as good."""
BASE = {"SCIR": (SCIR, 1.0), "SGRLD": (SGRLD, 5.0)}
"""The settings of the authors' code, and h of the sticks over h of the parameters."""


def run(context: Context) -> list[Claim]:
    """Run the grids, write the table and the figure, and return the claims."""
    assert context.data is not None
    visits = read_visits(context.data)
    iterations, seeds, thin = context.pick((120, 1, 2), (1000, 2, 1))
    rows = [
        row_of(method, case_of(method, prior, step), visits, iterations, seeds, context.seed)
        for method in BASE
        for prior in PRIORS[method][::thin]
        for step in wanted(STEPS[method], thin)
    ]
    rows += [row_of(m, BASE[m][0], visits, iterations, seeds, context.seed) for m in BASE if thin > 1]
    context.save_table("grid", rows)
    context.save_figure(figure(rows), "grid")
    return claims(rows)


def wanted(steps: tuple[float, ...], thin: int) -> tuple[float, ...]:
    """Return the steps of the grid; of a thinned one, those at its ends."""
    return steps if thin == 1 else (steps[0], steps[-1])


def case_of(method: str, prior: float, step: float) -> VisitCase:
    """Return a case of the grid."""
    base, ratio = BASE[method]
    return base._replace(prior=prior, steps=(step, ratio * step))


def row_of(method: str, case: VisitCase, visits: Any, iterations: int, seeds: int, seed: int) -> dict[str, Any]:
    """Run one case, and return its line of the table."""
    found = run_case(case, visits, iterations, seeds, seed)
    return {
        "method": method,
        "prior": case.prior,
        "step": case.steps[0],
        "stick_step": case.steps[1],
        "score": float(found.last.mean()),
        "standard_error": float(found.last.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else np.inf,
        "clusters": float(found.clusters[:, -1].mean()),
        "authors": (case.prior, case.steps) == (BASE[method][0].prior, BASE[method][0].steps),
    }


def claims(rows: list[dict[str, Any]]) -> list[Claim]:
    """Claim that the authors' settings are good ones, and that the best of SCIR is below the best of SGRLD."""
    best = {m: min((row for row in rows if row["method"] == m), key=lambda row: row["score"]) for m in BASE}
    theirs = {row["method"]: row["score"] for row in rows if row["authors"]}
    found = []
    for method, row in best.items():
        text = f"{method}: the authors' settings are within {NEAR} nats of the best of the grid"
        measured = {"authors": theirs[method]} | {key: row[key] for key in ("score", "prior", "step", "clusters")}
        found.append(Claim(f"best-{method.lower()}", text, "tuned", measured, theirs[method] - row["score"] < NEAR))
    ends = {method: row["score"] for method, row in best.items()}
    text, error = (
        "each with its best settings, SCIR has the lower score",
        np.hypot(*(r["standard_error"] for r in best.values())),
    )
    both = Claim("best-of-both", text, True, ends, ends["SCIR"] < ends["SGRLD"])
    return [*found, within_error(both, ends["SCIR"] - ends["SGRLD"], float(error))]


def figure(rows: list[dict[str, Any]]) -> Any:
    """Draw the score against the base measure, a line for each step."""
    drawn, axes = new_figure(1, 2, size=(7.2, 3.0), sharey=True)
    for axis, method in zip(axes[0], BASE, strict=True):
        own = [row for row in rows if row["method"] == method]
        for step in sorted({row["step"] for row in own}):
            line = sorted((row["prior"], row["score"]) for row in own if row["step"] == step)
            axis.plot(*np.array(line).T, marker="o", ms=3, label=f"h = {step:g}")
        authors = next(row for row in own if row["authors"])
        axis.plot(authors["prior"], authors["score"], "o", ms=9, mfc="none", color="black", label="the authors'")
        axis.set(title=method, xscale="log", xlabel="a of Dirichlet(a)")
        axis.legend(fontsize=7, frameon=False)
    axes[0, 0].set(ylabel="negative log predictive")
    return drawn
