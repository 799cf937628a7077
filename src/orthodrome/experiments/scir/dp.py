"""Fig. 3(b) of Baker et al. (2018): a Dirichlet-process mixture of the users of a site, by SCIR and by SGRLD.

Negative log predictive of test users against iterations of 1,000 users, over seeds, with the full-data slice sampler
beside it. Each method runs right and with the faults of the authors' code (errata, 1.6 b and c) put back in, together
and one at a time, which shows what of the published gap is theirs. Steps and base measures are those of the authors'
grid search; `scir-dp-grid` runs the search again.
"""

from __future__ import annotations

from typing import Any

from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.visits.cases import (
    DATA,
    GIBBS,
    SCIR,
    SGRLD,
    Curves,
    VisitCase,
    one_component,
    read_visits,
    run_case,
)
from orthodrome.experiments.support.visits.statements import (
    GIBBS_MOVES,
    ITERATIONS,
    MOVES,
    SUMS,
    concentration_claims,
    fault_claims,
    paper_claims,
    reference_claims,
    rise,
)
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure

__all__ = ["DATA", "NAME", "PAPER", "TITLE", "run"]

NAME = "scir-dp"
TITLE = "Clusters of a site's users without truncation: SCIR and SGRLD by minibatches, and full Gibbs"
PAPER = "Baker, Fearnhead, Fox & Nemeth 2018, section 4.2, Fig. 3(b)"

DRAWN: dict[str, VisitCase] = {
    "SCIR": SCIR,
    "SGRLD": SGRLD,
    "SCIR, fault b": SCIR._replace(faults="b"),
    "SGRLD, faults b, c": SGRLD._replace(faults="bc"),
    SUMS: SCIR._replace(control=True),
}
"""Runs over all seeds; the figure has the first four."""
BESIDE: dict[str, VisitCase] = {
    "SGRLD, fault b": SGRLD._replace(faults="b"),
    "SGRLD, fault c": SGRLD._replace(faults="c"),
    MOVES: SCIR._replace(moves=5, control=True),
}
"""Runs beside them, over two seeds."""

CONCENTRATIONS = (1.0, 10.0, 50.0)
"""alpha held fixed, for the remark on higher ones."""
COLOURS = {"SCIR": BLUE, "SGRLD": ORANGE, SUMS: "#7a5195"}


def run(context: Context) -> list[Claim]:
    """Run all cases, write curves and figure, and return the claims."""
    assert context.data is not None
    visits = read_visits(context.data)
    iterations, seeds, sweeps = context.pick((250, 2, 40), (ITERATIONS, 5, 200))
    found = {name: run_case(case, visits, iterations, seeds, context.seed) for name, case in DRAWN.items()}
    found |= {name: run_case(case, visits, iterations, 2, context.seed) for name, case in BESIDE.items()}
    for name, case in (("Gibbs", GIBBS), (GIBBS_MOVES, GIBBS._replace(moves=5))):
        found[name] = run_case(case, visits, sweeps, context.pick(1, 2), context.seed)
    fixed = fixed_concentrations(context, visits, iterations)
    single = one_component(visits)
    context.save_table("curves", [row for name, curves in found.items() for row in curve_rows(name, curves)])
    context.save_table("summary", [summary(name, curves) for name, curves in (found | fixed).items()])
    context.save_figure(figure(found, single), "figure3b")
    return [
        *reference_claims(found, single),
        *paper_claims(found),
        *fault_claims(found, single),
        *concentration_claims(fixed),
    ]


def fixed_concentrations(context: Context, visits: Any, iterations: int) -> dict[str, Curves]:
    """Return runs of SGRLD with alpha held fixed, right and with both faults."""
    values = context.pick(CONCENTRATIONS[::2], CONCENTRATIONS)
    cases = [SGRLD._replace(faults=faults, concentration=value) for faults in ("", "bc") for value in values]
    runs = [run_case(case, visits, iterations, 1, context.seed) for case in cases]
    return {fixed_name(case.faults, case.concentration): found for case, found in zip(cases, runs, strict=True)}


def fixed_name(faults: str, value: float | None) -> str:
    """Return the name of a run of SGRLD with alpha held fixed."""
    return f"SGRLD{', faults b, c' if faults else ''}, alpha = {value:g}"


def curve_rows(name: str, curves: Curves) -> list[dict[str, Any]]:
    """Return the curves as rows."""
    return [
        {
            "run": name,
            "seed": seed,
            "iteration": int(t),
            "negative_log_predictive": curves.scores[seed, k],
            "clusters": int(curves.clusters[seed, k]),
        }
        for seed in range(curves.scores.shape[0])
        for k, t in enumerate(curves.at)
    ]


def summary(name: str, curves: Curves) -> dict[str, Any]:
    """Return where a run ended: means over seeds, and the range and standard deviation of the score."""
    last = curves.last
    return {
        "run": name,
        "seeds": last.shape[0],
        "mean": last.mean(),
        "lowest": last.min(),
        "highest": last.max(),
        "sd": last.std(ddof=1) if last.shape[0] > 1 else "",
        "rise": rise(curves),
        "clusters": curves.clusters[:, -1].mean(),
        "concentration": curves.concentration.mean(),
    }


def figure(found: dict[str, Curves], single: float) -> Any:
    """Draw scores and numbers of clusters against iterations: right on the left, with the faults on the right."""
    drawn, axes = new_figure(2, 2, size=(7.2, 4.8), sharex=True, sharey="row")
    sides = (("as corrected", ("SCIR", "SGRLD", SUMS)), ("faults put back in", ("SCIR, fault b", "SGRLD, faults b, c")))
    gibbs = found["Gibbs"]
    for column, (title, names) in enumerate(sides):
        for name in names:
            draw_ribbon(axes[:, column], found[name], name)
        axes[0, column].axhline(gibbs.last.mean(), color=GREEN, lw=1, label="full Gibbs, at its end")
        axes[0, column].axhline(single, color=GREY, lw=1, ls="--", label="one component")
        axes[1, column].axhline(gibbs.clusters[:, -1].mean(), color=GREEN, lw=1)
        axes[0, column].set(title=title)
        axes[1, column].set(xlabel="iteration")
        axes[0, column].legend(fontsize=7, frameon=False)
    axes[0, 0].set(ylabel="negative log predictive")
    axes[1, 0].set(ylabel="clusters", yscale="log")
    return drawn


def draw_ribbon(axes: Any, curves: Curves, name: str) -> None:
    """Draw the mean over seeds and the range."""
    colour = COLOURS.get(name, COLOURS[name.split(",")[0]])
    for axis, values in zip(axes, (curves.scores, curves.clusters), strict=True):
        axis.plot(curves.at, values.mean(axis=0), color=colour, label=name)
        axis.fill_between(curves.at, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.25, lw=0)
