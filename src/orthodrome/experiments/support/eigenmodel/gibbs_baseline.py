"""Hoff's Gibbs sampler on the protein network, beside one trajectory of geodesic Monte Carlo.

The paper says that its better chain "converges to the same mode as Hoff (2009)", and that Hoff's sampler has to compute
the full null space of the frame for each column. Here it runs from the same starts as the single chains: which mode it
ends at, what its rejection steps accept (there is no linear part, so they are sound here), and the processor seconds of
a sweep beside those of a trajectory of 20 steps.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from orthodrome.core.types import Reals
from orthodrome.experiments.support.claims.claim import still_moving
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.eigenmodel.speed import compiled_seconds
from orthodrome.models.network.gibbs import EigenmodelGibbs
from orthodrome.models.network.starts import random_starts
from orthodrome.run import sample

SOUND = 0.05
"""The acceptance rate of the rejection steps above which they work well."""


class Baseline(NamedTuple):
    """Log posterior (chain, draw), the mean acceptance rate, processor seconds of a sweep, and the eigenvalues."""

    lp: Reals
    acceptance: float
    seconds: float
    eigenvalues: Reals


def draw_gibbs(context: Context, edges: Reals, rank: int) -> Baseline:
    """Draw chains from the starts of the single chains."""
    chains, length = context.pick(quick=(1, 20), paper=(4, 300))
    starts = random_starts(len(edges), rank, chains, context.seed, "float32")
    settings: dict[str, Any] = {"seed": context.seed, "num_chains": chains, "progress": context.progress}
    began = time.process_time()
    with threadpool_limits(1):  # see `speed`
        tree = sample(EigenmodelGibbs(edges), starts, num_warmup=0, num_draws=length, **settings)
    seconds = (time.process_time() - began) / (chains * length)
    stats = tree["sample_stats"]
    values = np.asarray(tree["posterior"]["eigenvalues"], float)
    return Baseline(np.asarray(stats["lp"], float), float(stats["acceptance_rate"].mean()), seconds, values)


def gibbs_claims(found: Baseline, level: float, edges: Reals) -> list[Claim]:
    """Return the claims on the mode, the acceptance rate and the time, given the level of the best mode."""
    tail = slice(-max(1, found.lp.shape[1] // 5), None)
    ends = found.lp[:, tail].mean(axis=1)
    text = (
        "Hoff's Gibbs sampler converges to the same mode: at least one of its chains ends within 25 nats "
        "of the tempered ones"
    )
    mode = Claim("gibbs-mode", text, "the same mode", ends.round(1).tolist(), bool(np.max(ends) > level - 25))
    ratio = found.seconds / compiled_seconds(edges, "float32")
    measured = {"acceptance_rate": found.acceptance, "sweep_over_trajectory": ratio}
    text = (
        "without a linear part its rejection steps accept at least one proposal in twenty, but a sweep costs more time"
    )
    text += " than a trajectory of 20 steps"
    return [
        still_moving(mode, found.lp),
        Claim("gibbs-cost", text, None, measured, bool(found.acceptance > SOUND and ratio > 1)),
    ]
