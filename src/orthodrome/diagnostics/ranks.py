"""R-hat, effective sample sizes and standard errors of chains (Vehtari, Gelman, Simpson, Carpenter & Buerkner 2021).

They are those of arviz-stats, number for number, in plain NumPy and for many numbers at once: importing arviz-stats
takes longer than the summary of a run. Every chain is cut into two halves. Of m half chains of n draws, with chain
means and c_t the autocovariance at lag t (divided by n), averaged over the half chains,

    W = n c_0 / (n - 1),       S^2 = c_0 + (variance of the m means),       R = (S^2 / W)^(1/2),
    r_0 = 1,  r_t = 1 - (W - c_t) / S^2,       P_k = r_2k + r_2k+1,
    tau = -1 + 2 sum_{k < K} min(P_0, ..., P_k) + (r_2K where it is positive),       ESS = m n / tau,

K the first pair that is not positive (Geyer 1992), and tau at least 1 / log10(m n). The scores of values are the normal
quantiles of (rank - 3/8) / (m n + 1/4). R-hat is the larger R of the scores of the values and of their distances from
the median; the bulk ESS is that of the scores, the tail ESS the smaller one of the two indicators of lying below the
5 and the 95 per cent quantile, the ESS of the mean that of the values themselves.
"""

from __future__ import annotations

import functools
import statistics

import numpy as np

TAILS = 0.05, 0.95


def rhat(values: np.ndarray) -> np.ndarray:
    """Return R-hat of (chain, draw, number), for each number; NaN for constants and where numbers are not finite."""
    if len(values) < 2 or values.shape[1] < 4:
        return np.full(values.shape[2:], np.nan)
    halves = split(values)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.maximum(_ratio(scores(halves)), _ratio(scores(folded)))


def bulk_ess(values: np.ndarray) -> np.ndarray:
    """Return the bulk ESS of (chain, draw, number), for each number."""
    return _effective(scores(split(values)), values)


def tail_ess(values: np.ndarray) -> np.ndarray:
    """Return the tail ESS of (chain, draw, number), for each number."""
    quantiles = np.quantile(values, TAILS, axis=(0, 1))
    return np.min([_effective(split(values <= q).astype(float), values) for q in quantiles], axis=0)


def mean_error(values: np.ndarray) -> np.ndarray:
    """Return the Monte Carlo standard error of the mean of (chain, draw, number), for each number."""
    spread: np.ndarray = np.std(values, axis=(0, 1), ddof=1)
    return spread / np.sqrt(_effective(split(values), values))


def split(values: np.ndarray) -> np.ndarray:
    """Return the first and the last halves of the chains, as chains."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def scores(values: np.ndarray) -> np.ndarray:
    """Return the normal scores of (chain, draw, number) among all draws of each number, the same for equal values."""
    flat = values.reshape(-1, values.shape[-1])
    table = _quantiles(len(flat))
    return np.stack([table[_doubled_ranks(column)] for column in flat.T], axis=-1).reshape(values.shape)


def _ratio(values: np.ndarray) -> np.ndarray:
    """Return R of each number."""
    draws = values.shape[1]
    within = values.var(axis=1, ddof=1).mean(axis=0)
    ratio: np.ndarray = (draws * values.mean(axis=1).var(axis=0, ddof=1) / within + draws - 1) / draws
    return np.sqrt(ratio)


def _effective(halves: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the ESS of numbers made of `values`: NaN where those are not all numbers, or too few."""
    if values.shape[1] < 4:
        return np.full(values.shape[2:], np.nan)
    chains, draws = halves.shape[:2]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = chains * draws / np.maximum(_autocorrelation_time(halves), 1 / np.log10(chains * draws))
    constant = np.ptp(halves, axis=(0, 1)) < np.finfo(float).resolution
    return np.where(np.isnan(values).any(axis=(0, 1)), np.nan, np.where(constant, chains * draws, found))


def _autocorrelation_time(values: np.ndarray) -> np.ndarray:
    """Return tau of each number."""
    chains, draws = values.shape[:2]
    covariances = _autocovariances(values)
    within = covariances[0] * draws / (draws - 1)
    total = covariances[0] + (values.mean(axis=1).var(axis=0, ddof=1) if chains > 1 else 0)
    lags = 1 - (within - covariances) / total
    lags[0] = 1
    pairs = lags[: draws // 2 * 2].reshape(draws // 2, 2, -1)
    sums = pairs.sum(axis=1)
    most = max(0, -(-(draws - 4) // 2))
    positive = np.cumprod(sums[:most] > 0, axis=0)
    last = positive.sum(axis=0)
    tau = 2 * np.sum(np.minimum.accumulate(sums[:most], axis=0) * positive, axis=0, initial=0.0) - 1
    at_end, columns = pairs[last, 0, np.arange(pairs.shape[2])], np.arange(pairs.shape[2])
    result: np.ndarray = tau + np.where((at_end > 0) | (sums[last, columns] >= 0), at_end, 0)
    return result


def _autocovariances(values: np.ndarray) -> np.ndarray:
    """Return c_t of each number, (lag, number), by Fourier transforms."""
    draws = values.shape[1]
    length = 1 << (2 * draws - 1).bit_length()
    waves = np.fft.rfft(values - values.mean(axis=1, keepdims=True), length, axis=1)
    products = np.fft.irfft(waves.real**2 + waves.imag**2, length, axis=1)
    return products[:, :draws].mean(axis=0) / draws


def _doubled_ranks(values: np.ndarray) -> np.ndarray:
    """Return twice the ranks 1, 2, ..., equal ones for equal values, which are whole numbers."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (2 * np.cumsum(counts) - counts + 1)[place.reshape(-1)]


@functools.lru_cache(maxsize=8)
def _quantiles(count: int) -> np.ndarray:
    """Return the normal scores by twice the rank among `count`; the first two are not used."""
    invert = statistics.NormalDist().inv_cdf
    return np.array([0.0, 0.0, *(invert((twice / 2 - 0.375) / (count + 0.25)) for twice in range(2, 2 * count + 1))])
