"""Fig. 3(b) of Baker et al. (2018): a Dirichlet-process mixture of the users of a site, by SCIR and by SGRLD.

Negative log predictive of test users against iterations of 1,000 users, over seeds, with the full-data slice sampler
beside it. Each method runs right and with the faults of the authors' code (errata, 1.6 b and c) put back in, together
and one at a time, which shows what of the published gap is theirs. Steps and base measures are those of the authors'
grid search; `scir-dp-grid` runs the search again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats

from orthodrome.experiments.support.claims.claim import undecided, unfinished, unsettled
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
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure

__all__ = ["DATA", "NAME", "PAPER", "TITLE", "run"]

NAME = "scir-dp"
TITLE = "clusters of a site's users without truncation: SCIR and SGRLD by minibatches, and full Gibbs"
PAPER = "Baker, Fearnhead, Fox & Nemeth 2018, section 4.2, Fig. 3(b)"

SUMS = "SCIR, sums of all rows"
"""The run whose parameters move by the sums of all rows at their present labels instead of estimates from batches."""
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
    "SCIR, splits and merges": SCIR._replace(moves=5, control=True),
}
"""Runs beside them, over two seeds."""

CONCENTRATIONS = (1.0, 10.0, 50.0)
"""alpha held fixed, for the remark on higher ones."""
ITERATIONS = 1000
"""The length of a run in the paper."""
NEAR, FLAT = 0.03, 0.01
"""Nats: how near SCIR must be to Gibbs, and the rise of a score that counts as none."""
COLOURS = {"SCIR": BLUE, "SGRLD": ORANGE, SUMS: "#7a5195"}


def run(context: Context) -> list[Claim]:
    """Run all cases, write curves and figure, and return the claims."""
    assert context.data is not None
    visits = read_visits(context.data)
    iterations, seeds, sweeps = context.pick((250, 2, 40), (ITERATIONS, 5, 200))
    found = {name: run_case(case, visits, iterations, seeds, context.seed) for name, case in DRAWN.items()}
    found |= {name: run_case(case, visits, iterations, 2, context.seed) for name, case in BESIDE.items()}
    found["Gibbs"] = run_case(GIBBS, visits, sweeps, context.pick(1, 2), context.seed)
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


def rise(curves: Curves) -> float:
    """Return by how much the score, averaged over seeds and over the last tenth, is above its lowest tenth before."""
    mean = curves.scores.mean(axis=0)
    width = max(1, mean.shape[0] // 10)
    smooth = np.convolve(mean, np.full(width, 1 / width), "valid")
    return float(smooth[-1] - smooth.min())


def ends(found: dict[str, Curves], *names: str) -> dict[str, list[float]]:
    """Return the last scores of some runs."""
    return {name: [round(float(value), 4) for value in found[name].last] for name in names}


def clusters(found: dict[str, Curves], *names: str) -> dict[str, float]:
    """Return the last numbers of clusters of some runs, averaged over seeds."""
    return {name: float(found[name].clusters[:, -1].mean()) for name in names}


def moved(curves: Curves, of: str = "scores") -> float:
    """Return by how much the scores, or the numbers of clusters, move over the last fifth of the run."""
    mean = getattr(curves, of).mean(axis=0)
    return float(abs(mean[-1] - mean[-1 - max(1, len(mean) // 5)]))


def reference_claims(found: dict[str, Curves], single: float) -> list[Claim]:
    """Claim that the right sampler is near Gibbs: as published, without the noise of batches, and with moves."""
    gibbs, scir = float(found["Gibbs"].last.mean()), found["SCIR"].last
    low = {"one component": single, "SCIR": float(scir.max()), "Gibbs": float(found["Gibbs"].last.max())}
    below = max(low["SCIR"], low["Gibbs"]) < single - 0.3
    return [
        near_gibbs("near-gibbs", "right, SCIR", found["SCIR"], gibbs, "much worse than Gibbs"),
        near_gibbs("near-gibbs-sums", "by sums of all rows at their present labels, SCIR", found[SUMS], gibbs),
        near_gibbs("near-gibbs-moves", "so, and with splits and merges, SCIR", found["SCIR, splits and merges"], gibbs),
        Claim("one-component", "SCIR and Gibbs are below one component by 0.3 nats and more", None, low, below),
    ]


def near_gibbs(name: str, what: str, curves: Curves, gibbs: float, paper: str | None = None) -> Claim:
    """Claim that a run ends within so many nats of full Gibbs."""
    gap = float(curves.last.mean()) - gibbs
    text, seen = f"{what} ends within {NEAR} nats of full Gibbs", {"SCIR - Gibbs": gap, "Gibbs": gibbs}
    return unfinished(Claim(name, text, paper, seen, gap < NEAR), int(curves.at[-1]), ITERATIONS, "iterations")


def paper_claims(found: dict[str, Curves]) -> list[Claim]:
    """Claim what the paper says of Fig. 3(b), of the right samplers."""
    lower = found["SCIR"].last.max() < found["SGRLD"].last.min()
    spread = {name: float(found[name].last.std(ddof=1)) for name in ("SCIR", "SGRLD")}
    many = clusters(found, "SCIR", "SGRLD")
    up = {"SGRLD": rise(found["SGRLD"])}
    text = "SCIR converges to a lower score than SGRLD, every seed below every seed"
    return [
        Claim("scir-lower", text, True, ends(found, "SCIR", "SGRLD"), bool(lower)),
        few_seeds(
            Claim("variance", "SCIR varies less over seeds than SGRLD", True, spread, spread["SCIR"] < spread["SGRLD"]),
            spread["SCIR"] / max(spread["SGRLD"], 1e-300),
            len(found["SCIR"].last),
        ),
        Claim("more-clusters", "SGRLD has more clusters than SCIR", True, many, many["SGRLD"] > many["SCIR"]),
        unsettled(
            Claim("worsens", f"SGRLD's score rises with iterations, by more than {FLAT}", True, up, up["SGRLD"] > FLAT),
            FLAT - up["SGRLD"],
            moved(found["SGRLD"]),
        ),
    ]


def few_seeds(claim: Claim, ratio: float, seeds: int) -> Claim:
    """Return a claim on the spread over seeds, undecided if it fails by a ratio that so few seeds give by chance."""
    least = float(np.sqrt(scipy.stats.f.ppf(0.975, seeds - 1, seeds - 1)))
    if ratio >= least:
        return claim
    return undecided(
        claim, f"a ratio of {ratio:.2g} between standard deviations of {seeds} seeds; {least:.2g} would decide"
    )


def fault_claims(found: dict[str, Curves], single: float) -> list[Claim]:
    """Claim that the faults make the published findings."""
    wrong = ends(found, "SCIR, fault b", "SGRLD, faults b, c", "SGRLD, fault b", "SGRLD, fault c")
    gibbs = float(found["Gibbs"].last.mean())
    with_b = [float(np.mean(values)) for name, values in wrong.items() if "b" in name.split(", fault")[1]]
    many = clusters(found, "SGRLD", "SGRLD, fault b", "SGRLD, fault c", "SGRLD, faults b, c")
    up = {name: rise(found[name]) for name in ("SCIR, fault b", "SGRLD, faults b, c")}
    far = "with fault b no method is better than one component: stochastic methods are far worse than Gibbs"
    more = "with fault c SGRLD has at least twice the clusters that it has without"
    seen = wrong | {"one component": single, "Gibbs": gibbs}
    return [
        Claim("fault-b", far, "Gibbs is clearly better", seen, min(with_b) > single),
        Claim("fault-c", more, "many more than required", many, many["SGRLD, fault c"] > 2 * many["SGRLD"]),
        Claim(
            "fault-rise",
            f"with both faults SGRLD's score rises by more than {FLAT}",
            "worse scores as iterations increase",
            up,
            up["SGRLD, faults b, c"] > FLAT,
        ),
    ]


def concentration_claims(fixed: dict[str, Curves]) -> list[Claim]:
    """Claim the paper's remark: with a higher concentration SGRLD has fewer clusters too many, and fits worse."""
    found = []
    for faults, label in (("", "right"), ("bc", "with both faults")):
        names = [name for name in fixed if ("faults" in name) == bool(faults)]
        many, scores = clusters(fixed, *names), {name: float(fixed[name].last.mean()) for name in names}
        first, last = names[0], names[-1]
        text = f"SGRLD, {label}: a higher concentration gives fewer clusters"
        worse = f"SGRLD, {label}: a higher concentration fits worse"
        key = "faults" if faults else "right"
        found += [
            unsettled(
                Claim(f"concentration-clusters-{key}", text, True, many, many[last] < many[first]),
                many[last] - many[first],
                max(moved(fixed[name], "clusters") for name in (first, last)),
            ),
            unsettled(
                Claim(f"concentration-fit-{key}", worse, True, scores, scores[last] > scores[first]),
                scores[first] - scores[last],
                max(moved(fixed[name]) for name in (first, last)),
            ),
        ]
    return found


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
