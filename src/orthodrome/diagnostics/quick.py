"""R-hat and ESS at a glance, in plain NumPy: milliseconds, while arviz-stats takes seconds to import.

Both are those of ranks over half chains (Vehtari et al. 2021, without the normal scores). With n draws in each of m
half chains, W the mean of their variances, B/n the variance of their means and S^2 = (n - 1) W / n + B / n,

    R-hat = (S^2 / W)^(1/2),       ESS = m n / (1 + 2 sum_t r_t),       r_t = 1 - (W - c_t) / S^2,

where c_t is the mean autocovariance at lag t, and the sum ends where r_2k + r_2k+1 falls below zero, and does not let
these grow on the way (Geyer 1992). At most NUMBERS numbers of a variable and DRAWS draws of each chain are looked at:
every so many, which leaves a small ESS as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import orthodrome.diagnostics.convergence as convergence
from orthodrome.diagnostics.summaries import AXES

NUMBERS, DRAWS = 64, 1000


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
    ranks = _split_ranks(values)
    within, total = _variances(ranks)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, np.sqrt(total / within), np.nan)


def quick_ess(values: np.ndarray) -> np.ndarray:
    """Return the effective number of draws of (chain, draw, number), for each number; NaN for a constant."""
    ranks = _split_ranks(values)
    within, total = _variances(ranks)
    chains, half = ranks.shape[:2]
    with np.errstate(invalid="ignore", divide="ignore"):
        lags = 1 - (within - _autocovariances(ranks) * half / (half - 1)) / total
    lags[0] = 1
    pairs = lags[: half // 2 * 2].reshape(half // 2, 2, -1).sum(axis=1)
    going = np.cumprod(pairs > 0, axis=0)
    tau = 2 * np.sum(np.minimum.accumulate(pairs, axis=0) * going, axis=0) - 1
    return np.where(total > 0, chains * half / np.maximum(tau, 1 / np.log10(chains * half)), np.nan)


def _split_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of half chains: (half chain, draw, number)."""
    half = values.shape[1] // 2
    split = np.concatenate([values[:, :half], values[:, -half:]]).astype(float)
    flat = split.reshape(-1, split.shape[-1])
    return np.stack([_ranks(column) for column in flat.T], axis=-1).reshape(split.shape) if flat.size else split


def _variances(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return W and S^2 of each number."""
    half = ranks.shape[1]
    within = ranks.var(axis=1, ddof=1).mean(axis=0)
    return within, (half - 1) / half * within + ranks.mean(axis=1).var(axis=0, ddof=1)


def _autocovariances(ranks: np.ndarray) -> np.ndarray:
    """Return the autocovariances (lag, number), averaged over chains; by Fourier transforms."""
    half = ranks.shape[1]
    waves = np.fft.rfft(ranks - ranks.mean(axis=1, keepdims=True), 2 * half, axis=1)
    return np.fft.irfft(np.abs(waves) ** 2, axis=1)[:, :half].mean(axis=0) / half


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks, equal ones for equal values (a chain that stays where it is)."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]
