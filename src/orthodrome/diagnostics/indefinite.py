"""Draws at which a matrix that depends on the position was no metric, and what to do about them.

A step there has no meaning: noise of a negative variance cannot be drawn. The samplers set the negative eigenvalues to
zero where they can and report it as `indefinite`; the chain then runs a dynamics that does not keep the law.
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
