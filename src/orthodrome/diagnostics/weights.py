"""Averages of runs with decreasing steps: draws are weighted by their step size.

Without a Metropolis test, with steps h_t that fall, the average that converges to the posterior mean is

    sum_t h_t f(x_t) / sum_t h_t                           (Welling & Teh 2011; Chen, Ding & Carin 2015)

the average over the time of the process and not over its steps. So such draws are read at equal times: the one at time
s is the draw in whose step s lies. Statistics of draws that are read so are weighted, whatever they are, and what draws
of long steps are repeated counts as correlation, so that R-hat and ESS are those of the weighted draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

FINER, MOST = 8, 10**7
"""Averages are read at so many times per draw, unless that makes more numbers than MOST."""


def falling_steps(tree: xarray.DataTree) -> np.ndarray | None:
    """Return the steps (chain, draw) of a run without a Metropolis test whose steps never grow and do fall, else
    None."""
    stats: Any = tree["sample_stats"] if "sample_stats" in tree.children else {}
    if "step_size" not in stats or "acceptance_rate" in stats:
        return None
    steps = np.asarray(stats["step_size"].transpose("chain", "draw"), float)
    if steps.shape[1] < 2 or not np.all(np.isfinite(steps) & (steps > 0)):
        return None
    falls = np.all(np.diff(steps, axis=1) <= 0) and np.all(steps[:, 0] > 1.001 * steps[:, -1])
    return steps if falls else None


def at_equal_times(values: np.ndarray, steps: np.ndarray | None, finer: bool = False) -> np.ndarray:
    """Return draws (chain, draw, ...) read at equal times, as many as there are or FINER times as many; unchanged
    without steps."""
    if steps is None:
        return values
    count = values.shape[1] * (FINER if finer and values.size * FINER <= MOST else 1)
    ends = np.cumsum(steps, axis=1)
    times = (np.arange(count) + 0.5) / count
    rows = [np.searchsorted(end / end[-1], times) for end in ends]
    return np.stack([chain[row] for chain, row in zip(values, rows, strict=True)])
