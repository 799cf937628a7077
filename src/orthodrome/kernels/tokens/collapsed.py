"""A sweep of fully collapsed Gibbs sampling for LDA (Griffiths & Steyvers 2004): topics and proportions integrated out.

    p(z_di = k | all other z)  ~  (alpha_k + n_dk) (beta + n_kw) / (V beta + n_k),

all counts without the token itself. Every draw changes the law of the next token, so the sweep is serial: it is the
exact reference for the other methods, not the fastest of them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS, uniform
from orthodrome.kernels.streams import mixed, stream_key

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(**OPTIONS)
def sweep_collapsed(seed, starts, words, z, counts, prior, smoothing):  # type: ignore[no-untyped-def]
    """Draw every assignment once; z and counts (words, K) are changed in place, and agree before and after."""
    size, count = counts.shape
    numbers, sums, shares = np.zeros(count), np.empty(count), np.empty(count)
    totals = counts.sum(axis=0) + size * smoothing
    for k in range(count):
        shares[k] = 1.0 / totals[k]
    for d in range(starts.shape[0] - 1):
        key = stream_key(np.uint64(seed), np.uint64(0), np.uint64(d))
        numbers[:] = prior
        for i in range(starts[d], starts[d + 1]):
            numbers[z[i]] += 1.0
        for i in range(starts[d], starts[d + 1]):
            w, k = words[i], z[i]
            counts[w, k] -= 1
            numbers[k] -= 1.0
            totals[k] -= 1.0
            shares[k] = 1.0 / totals[k]
            total = 0.0
            for j in range(count):
                total += numbers[j] * (counts[w, j] + smoothing) * shares[j]
                sums[j] = total
            u = uniform(mixed(key + np.uint64(i - starts[d]) * _GOLDEN)) * total
            k = min(np.searchsorted(sums, u), count - 1)
            z[i] = k
            counts[w, k] += 1
            numbers[k] += 1.0
            totals[k] += 1.0
            shares[k] = 1.0 / totals[k]
