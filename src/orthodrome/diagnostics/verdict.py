"""One line at the end of a run that did not converge: a quick look, where `diagnose` looks at everything.

R-hat is here the split R-hat of ranks (Vehtari et al. 2021, without the normal scores) of at most `NUMBERS` numbers of
each variable and `DRAWS` draws of each chain, in plain NumPy: milliseconds, while arviz-stats takes seconds to import.
With n draws in each of m half chains, W the mean of their variances and B/n the variance of their means,

    R-hat = sqrt((n - 1) / n + (B / n) / W).

The rule: a run of at least `FEWEST` draws a chain is told if chains never moved, if an R-hat is above `RHAT`, or if
more than one draw in a hundred diverged. Shorter runs are left alone, since their R-hat is mostly noise.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import orthodrome.diagnostics.convergence as convergence
from orthodrome.diagnostics.summaries import AXES
from orthodrome.errors import NotConverged

if TYPE_CHECKING:
    import xarray

FEWEST, RHAT, DIVERGED = 100, 1.05, 0.01
NUMBERS, DRAWS = 64, 1000


def warn_not_converged(tree: xarray.DataTree, stacklevel: int = 2) -> None:
    """Warn, in one line, if a run did not converge."""
    found = objections(tree)
    if found:
        text = f"the run did not converge: {'; '.join(found)}; `diagnose(draws)` says more"
        warnings.warn(text, NotConverged, stacklevel=stacklevel + 1)


def objections(tree: xarray.DataTree) -> list[str]:
    """Return what speaks against a run, in few words; nothing if it is too short to judge."""
    posterior = tree["posterior"]
    if posterior.sizes.get("draw", 0) < FEWEST:
        return []
    kinds = json.loads(tree.attrs.get("manifolds", "{}"))
    looks = {str(name): look(values, kinds.get(name, "")) for name, values in posterior.data_vars.items()}
    if looks and all(np.all(values == values[:, :1]) for values in looks.values()):
        return ["no chain ever moved"]
    worst = {name: convergence.most(quick_rhat(values)) for name, values in looks.items()}
    name = max(worst, key=lambda n: np.nan_to_num(worst[n], nan=0.0), default="")
    found = [f"R-hat is {worst[name]:.2f} for {name}"] if name and worst[name] > RHAT else []
    return found + _diverged(tree["sample_stats"] if "sample_stats" in tree.children else {})


def look(values: Any, kind: str) -> np.ndarray:
    """Return some numbers of some draws of a variable: (chain, draw, number)."""
    step = -(-values.sizes["draw"] // DRAWS)
    array = np.asarray(values.isel(draw=slice(None, None, step)).transpose("chain", "draw", ...))
    if array.dtype.kind not in "fiu":
        return np.zeros((*array.shape[:2], 0))
    if kind == AXES:  # the same as their opposites
        return convergence.invariants(np.swapaxes(array, -1, -2), 1)[..., :NUMBERS]
    flat = array.reshape(*array.shape[:2], -1)
    return flat[..., np.unique(np.linspace(0, flat.shape[-1] - 1, min(flat.shape[-1], NUMBERS)).astype(int))]


def quick_rhat(values: np.ndarray) -> np.ndarray:
    """Return the split R-hat of the ranks of (chain, draw, number), for each number; NaN for a constant."""
    half = values.shape[1] // 2
    split = np.concatenate([values[:, :half], values[:, -half:]]).astype(float)
    flat = split.reshape(-1, split.shape[-1])
    ranks = np.stack([_ranks(column) for column in flat.T], axis=-1).reshape(split.shape) if flat.size else split
    within = ranks.var(axis=1, ddof=1).mean(axis=0)
    between = ranks.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(between + within > 0, np.sqrt((half - 1) / half + between / within), np.nan)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks, equal ones for equal values (a chain that stays where it is)."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _diverged(stats: Any) -> list[str]:
    if "diverging" not in stats:
        return []
    share = float(np.mean(np.asarray(stats["diverging"])))
    return [f"{share:.0%} of the draws diverged"] if share > DIVERGED else []
