"""R-hat, ESS and MCSE (`ranks`), and the numbers they are taken of.

Statistics are taken of every coordinate of the embedding (rank-normalised, so a coordinatewise monotone map such as
the simplex' square root changes nothing), and of invariants: where the sign of a vector or of a frame's columns is
arbitrary, x x' is what can converge. Of large parameters at most `MOST` numbers, evenly spread, are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import orthodrome.diagnostics.ranks as ranks

MOST = 500


def chosen(values: np.ndarray) -> np.ndarray:
    """Return the elements that are diagnosed, as (chain, draw, number)."""
    flat = values.reshape(*values.shape[:2], -1)
    return flat[..., _spread(flat.shape[-1])]


def invariants(values: np.ndarray, point_ndim: int) -> np.ndarray:
    """Return entries of x x' (X X' for matrices) of every copy, (chain, draw, number); the diagonal alone if large."""
    x = values if point_ndim == 2 else values[..., None]
    x = x.reshape(*values.shape[:2], -1, *x.shape[-2:])
    copies, size = x.shape[2:4]
    i, j = np.triu_indices(size) if copies * size * size <= 20 * MOST else (np.arange(size),) * 2
    picked = _spread(copies * i.size)
    copy, i, j = picked // i.size, i[picked % i.size], j[picked % i.size]
    return np.sum(x[:, :, copy, i] * x[:, :, copy, j], axis=-1)


def _spread(count: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(int))


def rhat(values: np.ndarray) -> np.ndarray:
    """Split R-hat by ranks of each number; NaN for a constant."""
    return _each(ranks.rhat, values)


def ess(values: np.ndarray, method: str = "bulk") -> np.ndarray:
    """Return the effective sample size of each number: of the bulk, or of the tail."""
    return _each(ranks.tail_ess if method == "tail" else ranks.bulk_ess, values)


def mcse(values: np.ndarray) -> np.ndarray:
    """Return the Monte Carlo standard error of the mean of each number."""
    return _each(ranks.mean_error, values)


def _each(statistic: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """Return a statistic of every number of draws (chain, draw, ...), in the shape of one draw."""
    values = np.asarray(values, float)
    return statistic(values.reshape(*values.shape[:2], -1)).reshape(values.shape[2:])


def bfmi(energy: np.ndarray) -> np.ndarray:
    """Return the energy Bayesian fraction of missing information (E-BFMI) of each chain (Betancourt 2016)."""
    steps: np.ndarray = np.mean(np.diff(energy.astype(float), axis=1) ** 2, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return steps / np.var(energy.astype(float), axis=1, ddof=1)


def worst_ess(arrays: Mapping[str, np.ndarray]) -> float:
    """Return the smallest bulk effective sample size over all elements."""
    return min(least(ess(chosen(values))) for values in arrays.values())


def worst_rhat(arrays: Mapping[str, np.ndarray]) -> float:
    """Return the largest split R-hat over all elements."""
    return max(most(rhat(chosen(values))) for values in arrays.values())


def least(values: np.ndarray) -> float:
    """Return the smallest number, NaN left out; NaN if there is none."""
    return float(np.min(values[~np.isnan(values)], initial=np.inf)) if not np.all(np.isnan(values)) else float("nan")


def most(values: np.ndarray) -> float:
    """Return the largest number, NaN left out; NaN if there is none."""
    return -least(-values)
