"""Section 6 on the network: the frame two columns at a time, with eigenvalues and intercept beside it.

Each transition of `ColumnPairs` moves one pair of columns of the frame together with all eigenvalues and the intercept,
alone or in every replica of a tempered chain. From the best mode, found from the spectrum, it must have the same law as
trajectories of the whole frame: means of the sorted eigenvalues, of the intercept and of the log posterior are compared
with their Monte Carlo errors. A round of three pairs costs three trajectories, so draws are worth less than those of
the whole frame; the paper proposes pairs for frames with many columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.diagnostics import convergence
from orthodrome.experiments.support.claims.claim import still_moving
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.gradients.full import FullGradient
from orthodrome.models.network.law import target
from orthodrome.models.network.starts import near, split_spectrum
from orthodrome.run import sample
from orthodrome.samplers.exact.column_pairs import ColumnPairs
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.holders.tempering import Tempering

LADDER, STEPS = (0.95, 1.0), 10
"""Exponents of the tempered chain, close enough that neighbours are exchanged; and the steps of a trajectory."""
POSITIVE = 2
"""The positive eigenvalues of the best mode."""
SURE, MIXED = 4.0, 1.05
"""So many standard errors make a difference, and above this R-hat there are none to speak of."""


def pair_claims(context: Context, edges: Reals, rank: int, step: dict[str, float]) -> list[Claim]:
    """Return the claim that the three samplers agree at the best mode, with their effective draws a transition."""
    gradient = FullGradient(target(edges))
    pairs = ColumnPairs(gradient, step, STEPS)
    samplers: dict[str, Any] = {
        "whole frame": GeodesicHMC(gradient, step, STEPS),
        "pairs": pairs,
        "pairs, tempered": Tempering(pairs, LADDER),
    }
    found = {name: numbers(context, edges, rank, sampler) for name, sampler in samplers.items()}
    return [agreement(found)]


def numbers(context: Context, edges: Reals, rank: int, sampler: Any) -> Reals:
    """Return the log posterior, the intercept and the sorted eigenvalues of all draws, as (chain, draw, number)."""
    chains, warmup, length = context.pick(quick=(2, 100, 150), paper=(4, 500, 1_500))
    best = split_spectrum(edges, rank, "probit", POSITIVE)
    given = [near(best, np.random.default_rng([context.seed, chain])) for chain in range(chains)]
    starts = [{name: np.asarray(value, "float32") for name, value in one.items()} for one in given]
    settings: dict[str, Any] = {"seed": context.seed, "num_chains": chains, "progress": context.progress}
    tree = sample(sampler, starts, num_warmup=warmup, num_draws=length, check=False, **settings)
    rest = (np.asarray(part, float) for part in (tree["sample_stats"]["lp"], tree["posterior"]["intercept"]))
    values = np.sort(np.asarray(tree["posterior"]["eigenvalues"], float), axis=-1)
    return np.concatenate([np.stack(list(rest), axis=-1), values], axis=-1)


def agreement(found: dict[str, Reals]) -> Claim:
    """Return the claim that means agree within their Monte Carlo errors.

    found: numbers as (chain, draw, number), the log posterior first, by sampler; the others are compared with the
        first
    """
    means = {name: draws.mean(axis=(0, 1)) for name, draws in found.items()}
    errors = {name: convergence.mcse(draws) for name, draws in found.items()}
    whole, *others = found
    apart = {
        name: float(np.max(np.abs(means[name] - means[whole]) / np.hypot(errors[name], errors[whole])))
        for name in others
    }
    text = "moves of pairs of columns, alone and tempered, draw from the same mode as those of the whole frame: log "
    text += f"posterior, intercept and sorted eigenvalues within {SURE:g} standard errors (R-hat below {MIXED:g})"
    measured: dict[str, Any] = {
        "standard errors apart": apart,
        "R-hat": {name: float(np.max(convergence.rhat(draws))) for name, draws in found.items()},
        "means": {name: mean.round(2).tolist() for name, mean in means.items()},
        "effective draws": {name: convergence.ess(draws).round().tolist() for name, draws in found.items()},
    }
    agree = max(apart.values()) < SURE and max(measured["R-hat"].values()) < MIXED
    claim = Claim("column-pairs", text, "section 6", measured, agree)
    return still_moving(claim, np.concatenate([draws[..., 0] for draws in found.values()]))
