"""Section 5.3 of Liu, Zhu & Song (2016) on Fig. 5, sentence by sentence, as claims on the annealed estimates.

Each is made twice where the authors' settings differ from tuned ones: with their settings (steps that neither tune nor
suit the posterior, see the errata) and with ours. Ends are compared after equal processor time; at `quick` scale an
order that fails by less than the curves move between their last two looks is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable

from orthodrome.experiments.support.claims.claim import undecided, unfinished
from orthodrome.experiments.support.contract import Claim
from orthodrome.experiments.support.sam.curves import MethodCurve
from orthodrome.experiments.support.sam.methods import GMC, NEAR, SAMPLERS

Curves = dict[str, MethodCurve]


def ends(curves: Curves, names: Iterable[str]) -> dict[str, float]:
    """Return the annealed estimates at the end of some curves."""
    return {name: curves[name].annealed for name in names}


def settled(claim: Claim, off: float, curves: Iterable[MethodCurve]) -> Claim:
    """Return a claim about the order of ends, undecided if it fails by less than a curve still moves.

    off: how far it fails
    """
    steps = (abs(curve.rows[-2][3] - curve.rows[-1][3]) for curve in curves if len(curve.rows) > 1)
    moved = max(steps, default=0.0)
    if claim.holds or not moved > off:
        return claim
    return undecided(
        claim, f"the curves move by {moved:.0f} between their last two evaluations, and the claim fails by {off:.0f}"
    )


def statement_claims(curves: Curves, size: int) -> list[Claim]:
    """Return the claims that both data sets have in common; size: the paper's number of documents in a batch."""
    ours, others = [f"{method}, S = {size}" for method in SAMPLERS], (*GMC, "vi", "stovi")
    small, rest = ends(curves, ours), ends(curves, others)
    text = "annealed: the worse of SGGMC and gSGNHT with batches is below every other method"
    off = max(small.values()) - min(rest.values())
    lowest = Claim("lowest", text, "ours go the lowest", small | rest, off < 0)
    compared = [curves[name] for name in (*ours, *others)]
    return [settled(lowest, off, compared), *full_batch_claims(curves), thermostat_claim(curves, ours)]


def full_batch_claims(curves: Curves) -> list[Claim]:
    """Return the claims that full-batch SGGMC and gSGNHT end below GMC: with the authors' settings, and tuned."""
    claims = []
    for label, ending, said in (
        ("authors", ", published", "even the full-batch versions outperform GMC"),
        ("tuned", "", None),
    ):
        full = ends(curves, (f"{method}, all{ending}" for method in SAMPLERS))
        gmc = ends(curves, (f"{method}{ending}" for method in GMC))
        text = f"annealed ({label} settings): both full-batch samplers end below both GMC methods"
        off = max(full.values()) - min(gmc.values())
        claim = Claim(f"full-batch-{label}", text, said, full | gmc, off < 0)
        claims.append(settled(claim, off, [curves[name] for name in (*full, *gmc)]))
    return claims


def thermostat_claim(curves: Curves, names: list[str]) -> Claim:
    """Return the claim that the thermostat pays, at tuned settings; names: of SGGMC's and gSGNHT's curves."""
    plain, warm = (curves[name].annealed for name in names)
    said = "gSGNHT outperforms SGGMC under the same setting"
    claim = Claim("thermostat-tuned", "annealed, tuned: gSGNHT below SGGMC", said, ends(curves, names), warm < plain)
    return settled(claim, warm - plain, [curves[name] for name in names])


def variational_claims(curves: Curves, long: MethodCurve, seconds: tuple[float, float]) -> list[Claim]:
    """Return the claims on the small set: StoVI is slower than VI and has its limit, and GMC goes below both.

    long: a run of StoVI of several times the budget
    seconds: of processor time that the other curves have, and have at the paper's scale
    """
    vi = curves["vi"].annealed
    arrivals = {name: curves[name].arrival(vi + NEAR) for name in ("vi", "stovi")} | {
        "stovi, long": long.arrival(vi + NEAR)
    }
    limits = {"vi": vi, "stovi": curves["stovi"].annealed, "stovi, long": long.annealed}
    gmc = ends(curves, (*GMC, *(f"{method}, published" for method in GMC)))
    off = max(gmc[name] for name in GMC) - min(limits.values())
    below = Claim(
        "gmc-below-vi",
        "annealed: both GMC methods (tuned) end below VI and StoVI",
        "all sampling methods eventually go below variational methods",
        gmc | limits,
        off < 0,
    )
    limit = Claim(
        "stovi-limit",
        f"annealed: StoVI, given five times as long, ends within {NEAR:.0f} of VI",
        "exhibits the same limit",
        limits,
        abs(long.annealed - vi) < NEAR,
    )
    return [
        Claim(
            "stovi-slower",
            f"seconds until the annealed estimate is within {NEAR:.0f} of VI's end: StoVI after VI",
            "StoVI converges slower than VI in this small scale case",
            arrivals,
            arrivals["vi"] < min(arrivals["stovi"], arrivals["stovi, long"]),
        ),
        settled(limit, abs(long.annealed - vi) - NEAR, (curves["vi"], long)),
        unfinished(settled(below, off, [curves[name] for name in GMC]), *seconds, "processor seconds"),
    ]


def batch_size_claim(curves: Curves, sizes: tuple[int, ...]) -> Claim:
    """Return the claim that a batch smaller than all documents ends lowest, with the ends at every size."""
    names = [f"{method}, {kind}" for method in SAMPLERS for kind in (*(f"S = {size}" for size in sizes), "all")]
    found = ends(curves, names)
    best = min(found, key=lambda name: found[name])
    text = "annealed, after equal time: the batch size that ends lowest is smaller than the whole corpus"
    said = "an appropriately smaller batch size achieves a better result"
    claim = Claim("batch-size", text, said, found | {"best": best}, not best.endswith("all"))
    off = min(found[name] for name in names if not name.endswith("all")) - found[best]
    return settled(claim, off, [curves[name] for name in names])


def gap(curves: Curves, size: int) -> float:
    """Return how far the better of our samplers ends below the best of the other methods."""
    ours = ends(curves, (f"{method}, S = {size}" for method in SAMPLERS))
    return min(ends(curves, (*GMC, "vi", "stovi")).values()) - min(ours.values())


def gap_claim(few: Curves, many: Curves, size: int) -> Claim:
    """Return the claim that the gap is larger with more documents, after equal time."""
    found = {"few documents": gap(few, size), "many documents": gap(many, size)}
    text = "annealed, after equal time: the lead of SGGMC or gSGNHT over the best other method grows with the documents"
    said = "the gap between our methods and other baselines gets larger"
    off = found["few documents"] - found["many documents"]
    return settled(Claim("gap", text, said, found, off < 0), off, [*few.values(), *many.values()])
