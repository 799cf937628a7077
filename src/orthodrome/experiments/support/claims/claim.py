"""A claim, and its three verdicts: it holds, it does not, or the draws at hand cannot tell.

The third verdict is for `quick` scale, whose runs are short. A claim is left undecided only for a reason that is itself
measured, and only where it would otherwise fail:

    within_error   it fails by less than DECIDED Monte Carlo standard errors of what was measured. Standard errors of
                   short runs are themselves off by a tenth or two, and some hundred claims are looked at together: at
                   five of them a right claim hardly ever fails, at three one in four hundred does.
    still_moving   it is about where chains end, and they have not ended: the mean of their last quarter differs from
                   that of the quarter before by more than the noise.
    unsettled      it is about the order of curves, which over their last fifth move by more than it fails by.
    unconverged    it is about an effective sample size, and R-hat says that the chains have none yet.
    too_short      it is about time, and the run was too short to time.
    unfinished     it is about the end of a run of a stated length, of which this one is a part.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

DECIDED = 5.0
"""The number of standard errors by which a claim fails for certain."""
MOVING = 3.0
"""The number of standard errors between two quarters of a chain that has not arrived."""
CONVERGED = 1.05
"""The R-hat above which an effective sample size says nothing."""
SHORTEST = 2.0
"""Processor seconds below which a run is too short to time: what a run costs beside its draws is not small then."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """One number or statement of a figure or table.

    id: a short name
    text: the statement
    paper: the value in the paper
    measured: the value found here
    holds: whether the statement holds, computed from `measured`; None: undecided at this scale
    why: of a claim that does not hold or is undecided, if it is known
    """

    id: str
    text: str
    paper: Any
    measured: Any
    holds: bool | None
    why: str = ""


def undecided(claim: Claim, why: str) -> Claim:
    """Return a claim that would fail as undecided, with the reason; one that holds as it is."""
    return claim if claim.holds else dataclasses.replace(claim, holds=None, why=why)


def within_error(claim: Claim, off: float, error: float) -> Claim:
    """Return the claim, undecided if it fails by less than `DECIDED` standard errors.

    off: how far what was measured is from where the claim is about, or from where it would hold
    error: the Monte Carlo standard error of what was measured; infinite if there is but one run
    """
    if np.isfinite(off) and np.isposinf(error):
        return undecided(claim, f"off by {off:.2g} in single runs, which have no Monte Carlo standard error")
    if claim.holds or not (np.isfinite(off) and np.isfinite(error)) or off >= DECIDED * error:
        return claim
    return undecided(claim, f"off by {off / error:.1f} Monte Carlo standard errors; {DECIDED:g} are needed to decide")


def still_moving(claim: Claim, trace: Any) -> Claim:
    """Return the claim, undecided if it fails while chains, a row each, are still on their way."""
    lines = np.atleast_2d(np.asarray(trace, float))
    quarter = lines.shape[1] // 4
    if quarter < 4:
        return undecided(claim, f"{lines.shape[1]} draws per chain are too few to see whether the chains have settled")
    before, after = lines[:, -2 * quarter : -quarter], lines[:, -quarter:]
    noise = np.sqrt((spread(before) ** 2 + spread(after) ** 2) / quarter)
    steps = np.abs(after.mean(axis=1) - before.mean(axis=1)) / np.maximum(noise, 1e-300)
    moving = int(np.sum(steps > MOVING))
    if not moving:
        return claim
    return undecided(claim, f"{moving} of {len(lines)} chains have not settled after {lines.shape[1]} draws")


def unsettled(claim: Claim, off: float, moved: float) -> Claim:
    """Return a claim about the order of curves, undecided if it fails by less than they moved over their last fifth."""
    if claim.holds or not np.isfinite(off) or moved < off:
        return claim
    return undecided(claim, f"the curves move by {moved:.3g} over their last fifth, and the claim fails by {off:.3g}")


def unfinished(claim: Claim, done: float, whole: float, unit: str) -> Claim:
    """Return a claim about the end of a run, undecided if it fails after a part of the length that it is about."""
    return claim if done >= whole else undecided(claim, f"{done:,g} of the {whole:,g} {unit} that the claim is about")


def unconverged(claim: Claim, entries: Sequence[Any]) -> Claim:
    """Return a claim on effective sample sizes, undecided if it fails and chains are too short to have one.

    entries: of runs, with their sampler, alpha and rhat
    """
    worst = max(entries, key=lambda e: e.rhat)
    if worst.rhat < CONVERGED:
        return claim
    return undecided(
        claim, f"R-hat of {worst.sampler} at alpha = {worst.alpha:g} is {worst.rhat:.2f}: its ESS is not meaningful yet"
    )


def spread(lines: np.ndarray) -> np.ndarray:
    """Return the standard deviation of every row about its own straight line."""
    at = np.arange(lines.shape[1]) - (lines.shape[1] - 1) / 2
    centred = lines - lines.mean(axis=1, keepdims=True)
    slope = centred @ at / (at @ at)
    return np.sqrt(np.mean((centred - slope[:, None] * at) ** 2, axis=1))


def too_short(claim: Claim, seconds: float) -> Claim:
    """Return the claim, undecided if it fails and the shortest run that was timed took too little time."""
    if seconds >= SHORTEST:
        return claim
    return undecided(
        claim, f"a run of {seconds:.2g} processor seconds is too short to time; {SHORTEST:g} would suffice"
    )
