"""Do the chains of a model sit in different modes, and which ladder of temperatures joins them?

Neighbours with the exponents e and e' > e exchange with a fair chance if (e' - e) times the standard deviation of the
log density, sqrt(m / 2) / e at the exponent e in m dimensions, is about one. So ln(1 / h) sqrt(m / 2) rungs lead down
to the exponent h of the hottest, times SPACING if fewer exchanges will do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthodrome.diagnostics.quick import look, quick_rhat
from orthodrome.run.parallel import this_process
from orthodrome.run.progress import new_progress

RHAT = 1.4
"""One of four chains in a mode of its own has an R-hat of ranks of 1.65; chains in one mode that mix slowly have less
than this unless they are worth fewer than some five draws each."""
HOTTEST, SPACING, MOST = 0.3, 0.6, 20
"""The hottest exponent, the distance of rungs, and their largest number (that of Byrne & Girolami)."""


def disagree(tree: Any, names: tuple[str, ...]) -> bool:
    """Return whether the chains have different values of some variables, which no symmetry of the law may change."""
    values = (quick_rhat(look(tree["posterior"][name], "")) for name in names)
    return bool(max(np.max(np.nan_to_num(rhat)) for rhat in values) > RHAT)


def asked_replicas(tempering: Any) -> int | None:
    """Return the number of replicas that a model's `tempering` asks for in any case; None of None and 'auto'."""
    return None if tempering is None or isinstance(tempering, str) else int(tempering)


def rungs(dimension: int) -> int:
    """Return the number of replicas for a posterior of this dimension."""
    return min(MOST, 2 + math.ceil(SPACING * math.log(1 / HOTTEST) * math.sqrt(dimension / 2)))


def announced_rungs(dimension: int, progress: bool) -> int:
    """Return the number of replicas for a posterior of this dimension; progress: whether to say what they cost."""
    replicas = rungs(dimension)
    with new_progress(progress and this_process().first) as bar:
        bar.say(
            f"the chains ended in different modes: all is drawn once more with {replicas} replicas at several "
            f"temperatures, each draw of which takes {replicas} times as long or more (tempering=None, or --tempering "
            "none, leaves this out)"
        )
    return replicas
