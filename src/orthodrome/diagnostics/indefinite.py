"""Draws at which a matrix that depends on the position was no metric, and what to do about them.

A step there has no meaning: noise of a negative variance cannot be drawn. The stochastic samplers set the negative
eigenvalues to zero where they can and report it as `indefinite`; the chain then runs a dynamics that does not keep the
law. The exact ones reject every move that meets such a place and report it as `not_definite`; the chain then never
enters it, and keeps the law restricted to where the metric is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def indefinite_problem(stats: Any) -> str | None:
    """Return at how many draws the metric was not positive definite, with the remedy; None: at none, or no metric."""
    if "indefinite" not in stats:
        return None
    flags = np.asarray(stats["indefinite"], bool)
    if not flags.any():
        return None
    chain, draw = (int(i) for i in np.argwhere(flags)[0])
    return (
        f"the metric (or D) is not positive definite at {flags.sum()} of {flags.size} draws, the first being draw "
        f"{draw} of chain {chain}, and there the chain does not keep the law: give a matrix that is, for instance A A' "
        "plus a small multiple of the identity"
    )


def closed_problem(stats: Any, most: float = 0.0) -> str | None:
    """Return how many moves an exact sampler rejected as the metric was not positive definite on their way, with the
    remedy; None: no metric, or no larger share of the moves than `most`."""
    if "not_definite" not in stats:
        return None
    flags = np.asarray(stats["not_definite"], bool)
    if flags.mean() <= most:
        return None
    return (
        f"{flags.sum()} of {flags.size} moves were rejected as the metric is not positive definite on their way, and "
        "the chain never enters the places where it is not: give one that is everywhere, for instance A A' plus a "
        "small multiple of the identity (if yours is, a shorter step_size)"
    )
