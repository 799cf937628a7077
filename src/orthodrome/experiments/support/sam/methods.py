"""What the two experiments on spherical topics have in common: methods, curves, figure, and common claims."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.experiments.support.claims.claim import undecided
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.sam.curves import WARM_UP, MethodCurve, trace_curve
from orthodrome.models.sam import SAM

SHORT: dict[str, Any] = {"proportion_warmup": 3, "proportion_draws": 5}
"""Proportions go on from a document's last visit, so few moves will do."""
SAMPLERS, GMC = ("sggmc", "gsgnht"), ("gmc-apprmh", "gmc-bgibbs")
NEAR = 100.0
"""The distance in nats from the lowest end at which a method counts as arrived."""
Cases = dict[str, dict[str, Any]]


def cases(sizes: tuple[int, ...], full_steps: int, data_set: str = "20news") -> Cases:
    """Return the six methods; the stochastic ones with several batch sizes and with all documents.

    data_set: for which the authors chose the exponent of their stochastic variational inference
    """
    found: Cases = {
        f"{method}, S = {size}": {"method": method, "batch_size": size} | SHORT for method in SAMPLERS for size in sizes
    }
    whole = {"batch_size": None, "num_steps": full_steps} | SHORT
    found |= {f"{method}, all": {"method": method} | whole for method in SAMPLERS}
    others = (*GMC, "vi", "stovi")
    found |= {method: {"method": method, "batch_size": sizes[0]} | SHORT for method in others}
    found["stovi"]["published"] = data_set
    return found


def published(name: str, size: int, full_steps: tuple[int, int]) -> Cases:
    """Return the sampling methods with the paper's settings for a data set.

    full_steps: the inner steps L of SGGMC and of gSGNHT with all documents
    """
    batches = {method: {"batch_size": size} for method in SAMPLERS}
    whole = {
        f"{method}, all": {"batch_size": None, "num_steps": steps}
        for method, steps in zip(SAMPLERS, full_steps, strict=True)
    }
    every = batches | whole | {method: {} for method in GMC}
    return {
        f"{key}, published": {"method": key.partition(",")[0], "published": name} | settings
        for key, settings in every.items()
    }


def run_cases(
    context: Context,
    wanted: Cases,
    common: dict[str, Any],
    data: tuple[Any, Any],
    budget: float,
    honest: int,
    stem: str = "",
    kept: Container[str] = (),
) -> tuple[dict[str, MethodCurve], dict[str, SAM]]:
    """Run every case, write the numbers and the figure, and return a curve for each, and some models.

    stem: of the names of both files, before "curves" and "figure5"
    kept: the names of the cases whose models are returned; a model holds its documents and their proportions
    """
    name_of = lambda kind: f"{stem}_{kind}" if stem else kind
    curves, models = {}, {}
    for name, settings in wanted.items():
        model = SAM(random_state=context.seed, **common, **settings)
        curves[name] = trace_curve(name, model, *data, budget, honest=honest)
        if name in kept:
            models[name] = model
        context.save_table(name_of("curves"), curve_rows(curves))  # again after each: what there is survives
    context.save_figure(figure(curves), name_of("figure5"))
    return curves, models


def curve_rows(curves: dict[str, MethodCurve]) -> list[dict[str, Any]]:
    """Return the table of the curves."""
    names = ("seconds", "draws", "log_perplexity_published", "log_perplexity_annealed")
    return [
        {"method": name} | dict(zip(names, row, strict=True)) for name, curve in curves.items() for row in curve.rows
    ]


def look_of(name: str) -> dict[str, Any]:
    """Return the style of a curve: colour by method, line by batch (solid: small, dashed: all, dotted: as
    published, both: all as published)."""
    colours = {"sggmc": "C0", "gsgnht": "C3", "gmc-apprmh": "C2", "gmc-bgibbs": "C8", "vi": "0.2", "stovi": "0.55"}
    method, _, kind = name.partition(", ")
    style = {"all": "--", "published": ":", "all, published": "-."}.get(kind, "-")
    shade = {"S = 20": 0.35, "S = 200": 0.6}.get(kind, 1.0)
    return {
        "color": colours[method],
        "linestyle": style,
        "alpha": shade,
        "linewidth": 1.2,
        "marker": ".",
        "markersize": 4,
    }


def figure(curves: dict[str, MethodCurve]) -> Any:
    """Return a figure of both estimates against the seconds of sampling; values far above the rest are only in the
    table.

    The grey line is the end of the warm-up, before which estimates are made from all draws, hot ones too.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    from orthodrome.plots.style import new_figure

    drawing, axes = new_figure(1, 2, size=(10.0, 4.4))
    warm = WARM_UP * min(curve.rows[-1][0] for curve in curves.values())
    titles = ("as published: 25 topics x 200 theta (VI: 1 x 200)", "annealed: nearly unbiased")
    for axis, column, title in zip(np.ravel(axes), (2, 3), titles, strict=True):
        everything = np.concatenate([np.array(curve.rows)[:, column] for curve in curves.values()])
        low, high = everything.min(), np.quantile(everything, 0.9)
        for name, curve in curves.items():
            rows: NDArray[Any] = np.array(curve.rows)
            axis.plot(rows[:, 0], rows[:, column], label=name, **look_of(name))
        axis.axvline(warm, color="0.8", linewidth=0.8, zorder=0)
        axis.set(xlabel="processor seconds of sampling, one thread", ylabel="log-perplexity", title=title, xscale="log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_ylim(low - 0.05 * (high - low), high + 0.1 * (high - low))
    drawing.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize=7, frameon=False)
    return drawing


def common_claims(curves: dict[str, MethodCurve], best: str) -> list[Claim]:
    """Return the claims of the paper about both figures: which method arrives first, and which ends lower, by the
    annealed estimate."""
    ends = {name: curve.annealed for name, curve in curves.items()}
    level = min(ends.values()) + NEAR
    seconds = {name: curve.arrival(level) for name, curve in curves.items()}
    full, gmc = (min(seconds[name] for name in names) for names in (("sggmc, all", "gsgnht, all"), GMC))
    text = f"seconds until the annealed estimate is within {NEAR:.0f} of the lowest: "
    lowest = min(ends["vi"], ends["stovi"])
    claims = [
        Claim("subsampling", text + "batches before all", "subsampling speeds up", seconds, seconds[best] < full),
        Claim("gmc", text + "batches before GMC", "GMC is slower", seconds, seconds[best] < gmc),
        Claim("full-batch", text + "all before GMC (tuned)", "full-batch outperforms GMC", seconds, full < gmc),
    ]
    last = Claim("vi-annealed", "annealed: batches below VI, StoVI", "sampling below VI", ends, ends[best] < lowest)
    return [
        *(not_arrived(claim, [curves[name] for name in (best, "sggmc, all", "gsgnht, all")]) for claim in claims),
        last,
    ]


def not_arrived(claim: Claim, curves: list[MethodCurve]) -> Claim:
    """Return a claim about arrivals, undecided if it fails while curves are still falling at the end of their time."""
    falling = [c.name for c in curves if len(c.rows) > 1 and c.rows[-2][3] - c.rows[-1][3] > NEAR / 2]
    if not falling:
        return claim
    return undecided(claim, f"still falling at the end of their {curves[0].rows[-1][0]:.0f} s: {'; '.join(falling)}")
