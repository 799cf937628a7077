"""Stop early: when every parameter has the wanted effective sample size, and R-hat is low enough.

ESS and R-hat are arviz-stats' rank-normalised bulk ESS and split R-hat. They are looked at when the number of draws
has grown by half since the last look, so all looks together cost three times the last one, and where a run stops does
not depend on its speed. A rule that stops at a wanted precision biases estimates a little when the wanted ESS is
small; ask for 400 or more.
"""

from __future__ import annotations

import dataclasses

import numpy as np

FIRST_LOOK = 100
"""The number of draws at which the rule is evaluated first; fewer say little about ESS and R-hat."""
GROWTH = 1.5
"""The factor from one evaluation to the next."""


@dataclasses.dataclass(frozen=True)
class Stop:
    """A rule for an early end: a run stops as soon as both limits are met.

    ess: the smallest effective sample size that every number must have; None: no limit
    rhat: the largest R-hat that any number may have; None: no limit
    """

    ess: float | None = None
    rhat: float | None = 1.01

    def satisfied(self, arrays: dict[str, np.ndarray]) -> bool:
        """Return whether draws (chain, draw, ...), by name, satisfy the rule."""
        from orthodrome.diagnostics.convergence import worst_ess, worst_rhat

        enough = self.ess is None or worst_ess(arrays) >= self.ess
        return enough and (self.rhat is None or worst_rhat(arrays) <= self.rhat)


def next_look(num_draws: int) -> int:
    """Return the first number of draws after `num_draws` at which the rule is evaluated."""
    look = FIRST_LOOK
    while look <= num_draws:
        look = int(look * GROWTH)
    return look
