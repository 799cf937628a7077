"""What is claimed of Fig. 3(b) of Baker et al. (2018) and of the text beside it, from the curves of all runs."""

from __future__ import annotations

import numpy as np
import scipy.stats

from orthodrome.experiments.support.claims.claim import undecided, unfinished, unsettled
from orthodrome.experiments.support.contract import Claim
from orthodrome.experiments.support.visits.cases import Curves

SUMS, MOVES, GIBBS_MOVES = "SCIR, sums of all rows", "SCIR, splits and merges", "Gibbs, splits and merges"
"""The run whose parameters move by the sums of all rows at their present labels instead of estimates from batches; the
same with splits and merges; and Gibbs with them."""
ITERATIONS = 1000
"""The length of a run in the paper."""
NEAR, FLAT = 0.03, 0.01
"""Nats: how near SCIR must be to Gibbs, and the rise of a score that counts as none."""


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
    gibbs, scir = found["Gibbs"], found["SCIR"].last
    low = {"one component": single, "SCIR": float(scir.max()), "Gibbs": float(gibbs.last.max())}
    below = max(low["SCIR"], low["Gibbs"]) < single - 0.3
    without = float(found[SUMS].last.mean() - gibbs.last.mean())
    noise = f"the noise of the minibatches: without it, all else equal, the gap is {without:.3f} (`near-gibbs-sums`)"
    both = "with such sums, and splits and merges in both, SCIR"
    return [
        near_gibbs("near-gibbs", "implemented correctly, SCIR", found["SCIR"], gibbs, "much worse than Gibbs", noise),
        near_gibbs("near-gibbs-sums", "with sums over all rows at their current labels, SCIR", found[SUMS], gibbs),
        near_gibbs("near-gibbs-moves", both, found[MOVES], found[GIBBS_MOVES]),
        Claim("one-component", "SCIR and Gibbs are below one component by at least 0.3 nats", None, low, below),
    ]


def near_gibbs(
    name: str, what: str, curves: Curves, gibbs: Curves, paper: str | None = None, why_not: str = ""
) -> Claim:
    """Claim that a run ends within so many nats of full Gibbs."""
    level = float(gibbs.last.mean())
    gap = float(curves.last.mean()) - level
    text, seen = f"{what} ends within {NEAR} nats of full Gibbs", {"SCIR - Gibbs": gap, "Gibbs": level}
    claim = Claim(name, text, paper, seen, gap < NEAR, "" if gap < NEAR else why_not)
    return unfinished(claim, int(curves.at[-1]), ITERATIONS, "iterations")


def paper_claims(found: dict[str, Curves]) -> list[Claim]:
    """Claim what the paper says of Fig. 3(b), of the right samplers."""
    lower = found["SCIR"].last.max() < found["SGRLD"].last.min()
    spread = {name: float(found[name].last.std(ddof=1)) for name in ("SCIR", "SGRLD")}
    many = clusters(found, "SCIR", "SGRLD")
    up = {"SGRLD": rise(found["SGRLD"])}
    text = "SCIR converges to a lower score than SGRLD, for every pair of seeds"
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
        claim, f"a ratio of {ratio:.2g} between standard deviations of {seeds} seeds; {least:.2g} is needed to decide"
    )


def fault_claims(found: dict[str, Curves], single: float) -> list[Claim]:
    """Claim that the faults make the published findings."""
    wrong = ends(found, "SCIR, fault b", "SGRLD, faults b, c", "SGRLD, fault b", "SGRLD, fault c")
    gibbs = float(found["Gibbs"].last.mean())
    with_b = [float(np.mean(values)) for name, values in wrong.items() if "b" in name.split(", fault")[1]]
    many = clusters(found, "SGRLD", "SGRLD, fault b", "SGRLD, fault c", "SGRLD, faults b, c")
    up = {name: rise(found[name]) for name in ("SCIR, fault b", "SGRLD, faults b, c")}
    far = "with fault b no method is better than one component: stochastic methods are far worse than Gibbs"
    more = "with fault c SGRLD has at least twice as many clusters as without it"
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
    for faults, label in (("", "implemented correctly"), ("bc", "with both faults")):
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
