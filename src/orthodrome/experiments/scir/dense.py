"""Fig. 2(b) of Baker et al. (2018): SCIR and SGRLD on a dense Dirichlet posterior.

Each of 1000 data is given a category at random (errata, 1.1: not 100 each, as the paper says), so that no weight is
near 0, and both methods are alike; batches of one row are too noisy for either.
"""

from __future__ import annotations

from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.scir.study import Study, best_rows, by_batch, exact_claim, figure2, study

NAME = "scir-dense"
TITLE = "Weights away from zero: SCIR and SGRLD on a dense Dirichlet posterior against the size of batches"
PAPER = "Baker, Fearnhead, Fox & Nemeth 2018, section 2.2, Fig. 2(b)"
DATA = None

REFERENCE = {
    "SCIR": {1: 0.291, 10: 0.211, 100: 0.100, 500: 0.071},
    "SGRLD": {1: 0.445, 10: 0.255, 100: 0.119, 500: 0.073},
}
"""The values of the errata, from three seeds."""
ALIKE = 0.06
NOISE = 0.3
"""The relative error of a mean distance over few seeds, whose runs have some ten effective draws at small batches."""


def run(context: Context) -> list[Claim]:
    """Run the grids, draw the figure, and compare with the claims."""
    found = study(context, sparse=False)
    context.save_table("grid", found.table)
    context.save_table("figure2", best_rows(found))
    context.save_figure(figure2(found, "dense posterior"), "figure2")
    return [*reference_claims(found), alike_claim(found), exact_claim(found)]


def reference_claims(found: Study) -> list[Claim]:
    """Claim agreement with the values of the errata."""
    claims = []
    for method, values in REFERENCE.items():
        for n, reference in values.items():
            if (method, n) in found.best:
                text = f"{method} with batches of {n} agrees with the reference within {NOISE:.0%}"
                value = found.mean(method, n)
                claims.append(Claim(f"dks-{method}-{n}", text, reference, value, abs(value / reference - 1) < NOISE))
    return claims


def alike_claim(found: Study) -> Claim:
    """Claim that the two samplers have similar properties in the dense case."""
    ours, theirs = by_batch(found, "SCIR"), by_batch(found, "SGRLD")
    gap = max(abs(ours[n] - theirs[n]) for n in (100, 500))
    text = f"both methods are alike: with batches of 100 and 500 their distances differ by less than {ALIKE}"
    return Claim("alike", text, True, {"SCIR": ours, "SGRLD": theirs}, gap < ALIKE)
