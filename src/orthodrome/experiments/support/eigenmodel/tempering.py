"""Fig. 6 with the paper's own tempering, and what its caption says: permutations of Lambda and the local mode.

The scheme of section 5.1 with the sizes of section 5.3: twenty replicas, ten random exchanges of neighbours between
moves, each replica with the steps and trajectories of the single chains. The exponents are not printed; as in section
5.1 they are evenly spaced, 1/20, 2/20, ..., 1. The columns of the frame and their eigenvalues may be permuted without
any change of the law: how many orders of its three eigenvalues a chain goes through is counted. A local mode of "about
10^-36 of the density" has a log posterior 36 log 10 = 83 nats lower.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.experiments.support.claims.claim import Claim, still_moving
from orthodrome.samplers.holders.tempering import Tempering

EXCHANGES, LOCAL, CLOSE = 10, -36.0, 0.15
"""Random exchanges between moves; log10 of the local mode's share of the density, and the deviation that is allowed."""


def paper_tempering(sampler: Any, replicas: int) -> Tempering:
    """Return the paper's scheme around the sampler of the single chains."""
    ladder = tuple((np.arange(1, replicas + 1) / replicas).tolist())
    return Tempering(sampler, ladder, random_swaps=EXCHANGES)


def orders(eigenvalues: Reals) -> list[int]:
    """Return the number of orders of its eigenvalues that each chain (chain, draw, column) goes through.

    Counted in the second half: on its way from a random start a chain may change the order of small eigenvalues.
    """
    late = np.argsort(eigenvalues[:, eigenvalues.shape[1] // 2 :], axis=-1)
    return [len({tuple(row) for row in chain.tolist()}) for chain in late]


def levels(lp: Reals) -> Reals:
    """Return the mean log posterior of each chain over its last fifth."""
    return lp[:, -max(1, lp.shape[1] // 5) :].mean(axis=1)


def caption_claims(kinds: dict[str, Any], gibbs: Reals, least: float) -> list[Claim]:
    """Return the claims of the caption and the text.

    kinds: traces by "single", "tempered" and "paper's tempering"
    gibbs: the eigenvalues of Hoff's sampler
    least: the log posterior above which a chain is at the best mode
    """
    printed = kinds["paper's tempering"]
    found = {"reached": int(printed.reached.sum()), "of": len(printed.reached), "levels": levels(printed.lp).tolist()}
    counts = {kind: orders(seen.eigenvalues) for kind, seen in kinds.items()} | {"Hoff's Gibbs": orders(gibbs)}
    switching = "is able to switch between the various permutations"
    ends = levels(kinds["single"].lp)
    best, lower = max(ends.max(), levels(kinds["tempered"].lp).max()), ends[ends < least]
    shares = np.sort((lower - best) / np.log(10))[::-1].round(1).tolist()
    fixed = "unlike the algorithm of Hoff"
    return [
        still_moving(
            Claim(
                "paper-tempering",
                "the paper's own tempering (20 replicas, 10 random exchanges, T = 20, its steps) finds the best mode",
                "rapidly finds the higher mode",
                found,
                found["reached"] == found["of"],
            ),
            printed.lp,
        ),
        still_moving(
            Claim(
                "permutations-paper",
                "with the paper's tempering every chain visits several orders of the eigenvalues",
                switching,
                counts,
                min(counts["paper's tempering"]) > 1,
            ),
            printed.lp,
        ),
        still_moving(
            Claim(
                "permutations-ours",
                "with self-tuned tempering every chain visits several orders of the eigenvalues",
                switching,
                counts,
                min(counts["tempered"]) > 1,
            ),
            kinds["tempered"].lp,
        ),
        Claim("permutations-gibbs", "Hoff's sampler keeps one order", fixed, counts, max(counts["Hoff's Gibbs"]) == 1),
        still_moving(
            Claim(
                "local-mode",
                "a single chain ends at a local mode of about 1e-36 times the highest density (log10 within 15 %)",
                LOCAL,
                shares,
                any(abs(share / LOCAL - 1) <= CLOSE for share in shares),
            ),
            kinds["single"].lp,
        ),
    ]
