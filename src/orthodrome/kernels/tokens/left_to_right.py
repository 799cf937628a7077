"""The left-to-right estimate of a document's probability given the topics (Wallach et al. 2009).

    p(w_1, ..., w_N) = prod_n p(w_n | w_<n),
    p(w_n | w_<n) = E[ sum_k phi_{k w_n} (alpha_k + n_k) / (A + n - 1) ],    z_<n ~ p(z_<n | w_<n),   A = sum_k alpha_k.

Each of R particles carries its assignments from left to right: before word n it sweeps those of the words before it by
Gibbs steps, adds its term to the mean, and draws z_n. The cost is quadratic in the length of a document.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.generator import OPTIONS, uniform
from orthodrome.kernels.streams import mixed, stream_key

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(**OPTIONS)
def _drawn(bits, phi, w, numbers, sums):  # type: ignore[no-untyped-def]
    """Draw a topic of word w proportionally to (alpha_k + n_k) phi_kw, which `numbers` holds; return it and the sum."""
    total = 0.0
    for k in range(numbers.shape[0]):
        total += numbers[k] * phi[w, k]
        sums[k] = total
    k = np.searchsorted(sums, uniform(bits) * total)
    return min(k, numbers.shape[0] - 1), total


@njit(**OPTIONS)
def _particle(key, words, phi, prior, predicted, z, numbers, sums):  # type: ignore[no-untyped-def]
    """Carry one particle through a document and add its predictions of the words."""
    numbers[:] = prior
    weight, used = prior.sum(), np.uint64(0)
    for n in range(words.shape[0]):
        for i in range(n):
            numbers[z[i]] -= 1.0
            z[i], _ = _drawn(mixed(key + used * _GOLDEN), phi, words[i], numbers, sums)
            used += np.uint64(1)
            numbers[z[i]] += 1.0
        z[n], total = _drawn(mixed(key + used * _GOLDEN), phi, words[n], numbers, sums)
        used += np.uint64(1)
        numbers[z[n]] += 1.0
        predicted[n] += total / (weight + n)


@njit(parallel=True, **OPTIONS)
def log_probabilities(seed, starts, words, phi, prior, particles):  # type: ignore[no-untyped-def]
    """Return the logarithm of every document's estimated probability; phi is words x topics."""
    found = np.zeros(starts.shape[0] - 1)
    for d in prange(starts.shape[0] - 1):
        own, count = words[starts[d] : starts[d + 1]], phi.shape[1]
        predicted, z = np.zeros(own.shape[0]), np.zeros(own.shape[0], np.int64)
        numbers, sums = np.empty(count), np.empty(count)
        for r in range(particles):
            key = stream_key(np.uint64(seed), np.uint64(r), np.uint64(d))
            _particle(key, own, phi, prior, predicted, z, numbers, sums)
        for n in range(own.shape[0]):
            found[d] += np.log(predicted[n] / particles)
    return found
