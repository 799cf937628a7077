"""The reason why chains disagree: signs, labels, or another one that only a longer run can remedy.

mirror images    turning the signs of whole chains (of each column of a frame) makes them agree
signs            x x' agrees although no such turning does: chains change their sign, but seldom
labels           the sorted numbers along the first axis of a variable agree: the same components in another order
"""

from __future__ import annotations

import numpy as np

import orthodrome.diagnostics.convergence as convergence

RHAT = 1.01
SHARE = 0.1
"""An invariant agrees if its R-hat exceeds 1 by at most this share of the variable's own excess."""
RELABELLED = 1.1
"""The least R-hat of chains that are said to hold other labels: sorting also hides a little of what is mere noise."""


def above(value: float, limit: float, least_digits: int = 2) -> str:
    """Return a number that exceeds a limit with as many decimals as it takes to see that it does."""
    digits = least_digits
    while float(f"{value:.{digits}f}") <= limit and digits < 12:
        digits += 1
    return f"{value:.{digits}f}"


def disagreement(name: str, values: np.ndarray, row: dict[str, float]) -> str | None:
    """Return in what way the chains of a variable (chain, draw, ...) disagree, and what to do; None if they agree."""
    rhat, invariant = row["rhat"], row.get("rhat_invariant", np.inf)
    if not rhat > RHAT:
        return None
    start = f"{name}: the chains disagree (R-hat {above(rhat, RHAT)})"
    if _agrees(invariant, rhat) and _mirrored(values, rhat):
        return (
            f"{start} but x x' agrees ({invariant:.3f}): they sit in mirror images; if the sign is arbitrary read "
            "x x' (or `align` the draws), else use Tempering to cross over."
        )
    if _agrees(invariant, rhat):
        return (
            f"{start} but x x' agrees ({invariant:.3f}): the sign mixes more slowly than the rest; if it is arbitrary "
            "read x x', else draw longer."
        )
    if rhat > RELABELLED and _relabelled(values, rhat):
        return (
            f"{start} but its sorted numbers agree: the chains hold the same components in another order; `align` the "
            "draws if the labels are arbitrary, else use Tempering to cross over."
        )
    return f"{name}: the chains disagree (R-hat {above(rhat, RHAT)}, above {RHAT}): draw longer, or start elsewhere."


def _agrees(other: float, rhat: float) -> bool:
    return bool(other - 1 <= max(RHAT - 1, SHARE * (rhat - 1)))


def _mirrored(values: np.ndarray, rhat: float) -> bool:
    """Return whether changing signs of whole chains, by vector or by column, makes them agree with the first."""
    means = values.mean(axis=1)
    for axis in (-1, -2) if means.ndim > 2 else (-1,):
        sign = np.where(np.sum(means * means[:1], axis=axis, keepdims=True) < 0, -1.0, 1.0)
        turned = convergence.chosen(values * sign[:, None])
        if np.any(sign < 0) and _agrees(convergence.most(convergence.rhat(turned)), rhat):
            return True
    return False


def _relabelled(values: np.ndarray, rhat: float) -> bool:
    if values.ndim < 3 or values.shape[2] < 2:
        return False
    ordered = convergence.chosen(np.sort(values, axis=2))
    return _agrees(convergence.most(convergence.rhat(ordered)), rhat)
