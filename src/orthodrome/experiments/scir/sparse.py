"""Fig. 1 and Fig. 2(a) of Baker et al. (2018): SCIR and SGRLD on a sparse Dirichlet posterior.

A boxplot of the fifth weight, which has no counts and the law Beta(0.1, 1000.9), and the Kolmogorov-Smirnov distance
from the exact posterior against the size of the batches, each method with its best step. SGRLD is shown right and with
the drift of the authors' code (errata, 1.6(a)), which pushes small weights up by ten times their prior: the published
gap between the methods is partly that. With the right drift SGRLD is better than published, and still far from SCIR.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.scir.dirichlet import GRIDS
from orthodrome.experiments.support.scir.study import (
    Study,
    batches_of,
    best_rows,
    by_batch,
    exact_claim,
    figure2,
    study,
)
from orthodrome.plots.style import new_figure

NAME = "scir-sparse"
TITLE = "Weights near zero: SCIR and SGRLD on a sparse Dirichlet posterior against the size of batches"
PAPER = "Baker, Fearnhead, Fox & Nemeth 2018, sections 1.3 and 2.2, Fig. 1 and 2(a)"
DATA = None

LIMITS = {10: 0.11, 100: 0.06, 500: 0.045}
"""What SCIR must reach at these batch sizes."""
FIFTH, SHOWN = 4, 10
"""The component and the batch size of Fig. 1."""
RIGHT, AUTHORS = "SGRLD", "SGRLD, authors' drift"


def run(context: Context) -> list[Claim]:
    """Run the grids, draw both figures, and compare with the claims."""
    found = study(context, sparse=True)
    boxes = fifth_weights(found)
    context.save_table("grid", found.table)
    context.save_table("figure2", best_rows(found))
    context.save_table("figure1", quantile_rows(boxes))
    context.save_figure(figure1(boxes), "figure1")
    context.save_figure(figure2(found, "sparse posterior"), "figure2")
    return distance_claims(found) + box_claims(boxes)


def fifth_weights(found: Study) -> dict[str, Reals]:
    """Return log10 of the fifth weight in the first seed's runs at batches of 10, and in exact draws."""
    runs = {method: found.best[method, SHOWN].draws[0] for method in GRIDS} | {"exact": found.exact_draws[0]}
    return {name: np.log10(np.maximum(draws[:, FIFTH], 1e-300)) for name, draws in runs.items()}


def quantile_rows(boxes: dict[str, Reals]) -> list[dict[str, Any]]:
    """Return the quartiles and extremes of the boxes."""
    levels = (0, 25, 50, 75, 100)
    named = lambda x: {f"q{k}": float(v) for k, v in zip(levels, np.percentile(x, levels), strict=True)}
    return [{"method": name} | named(x) for name, x in boxes.items()]


def figure1(boxes: dict[str, Reals]) -> Any:
    """Draw the boxplots on the log scale."""
    figure, axes = new_figure(1, 1, size=(4.2, 3.0))
    axes[0, 0].boxplot(list(boxes.values()), tick_labels=[name.replace(", ", ",\n") for name in boxes], sym=".")
    axes[0, 0].set(ylabel="log10 of the fifth weight", ylim=(-40, 1))
    return figure


def distance_claims(found: Study) -> list[Claim]:
    """Claim what Fig. 2(a) shows, with the numbers of the errata."""
    claims = [limit_claim(found, n, limit) for n, limit in LIMITS.items()]
    right, authors, ours = (by_batch(found, method) for method in (RIGHT, AUTHORS, "SCIR"))
    largest = max(batches_of(found))
    text = "SCIR is far closer to the posterior than SGRLD at every batch size: less than half of its distance"
    better = all(ours[n] < 0.5 * right[n] for n in ours)
    claims += [
        Claim("scir-beats-sgrld", text, True, {"SCIR": ours, RIGHT: right}, better),
        Claim(
            "dks-sgrld", "SGRLD with the correct drift has a distance of about 0.4", 0.4, right, near(right, 0.4, 0.1)
        ),
        Claim(
            "dks-authors",
            "SGRLD with the authors' drift has a distance of about 0.6",
            0.6,
            authors,
            near(authors, 0.6, 0.1),
        ),
    ]
    text = "SCIR approaches the exact sampler as batches grow: at n = 500 its distance is at most 0.02 larger"
    gap = ours[largest] - float(found.exact.mean())
    return [*claims, Claim("scir-to-exact", text, True, gap, gap < 0.02), exact_claim(found)]


def limit_claim(found: Study, n: int, limit: float) -> Claim:
    """Claim the distance of SCIR at one batch size."""
    value = found.mean("SCIR", n)
    return Claim(
        f"dks-scir-{n}", f"SCIR with batches of {n}: a distance of at most {limit}", limit, value, value <= limit
    )


def near(values: dict[int, float], reference: float, tolerance: float) -> bool:
    """Return whether the mean over batch sizes is near a reference."""
    return abs(float(np.mean(list(values.values()))) - reference) < tolerance


def box_claims(boxes: dict[str, Reals]) -> list[Claim]:
    """Claim what Fig. 1 shows: SGRLD rarely proposes small weights, SCIR does."""
    quartile = np.percentile(boxes["exact"], 25)
    share = {name: round(float(np.mean(x < quartile)), 3) for name, x in boxes.items()}
    text = (
        "SGRLD rarely has weights below the lower quartile of exact draws (less than a tenth of draws, "
        "with either drift)"
    )
    rare = share[RIGHT] < 0.1 and share[AUTHORS] < 0.1
    other = "SCIR has weights below the lower quartile of exact draws about as often as exact draws"
    return [
        Claim("boxes-sgrld", text, True, share, rare),
        Claim("boxes-scir", other, 0.25, share["SCIR"], 0.1 < share["SCIR"] < 0.45),
    ]
