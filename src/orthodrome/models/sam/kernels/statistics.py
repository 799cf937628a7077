"""What the gradient in the topics needs of a batch's topic proportions: a few numbers per document, V never enters.

With q = |beta theta| and c = v.beta theta / q, averaged over the draws of theta (erratum 3.5),

    W_s = mean theta / q,     M_s = mean c theta theta' / q^2,     gradient of c_s in beta: v_s W_s' - beta M_s.

Its squared length, for the noise of the stochastic gradient, follows from the same numbers:
|v W' - beta M|^2 = W'W - 2 W'M b + tr(M G M). With what was stored at a document's last visit (W0 and c0, whence
M0 = c0 W0 W0'; zeros if there is nothing) everything is of the difference from it.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES, fused, load, splat, store
from orthodrome.models.sam.kernels.density import OPTIONS, likelihood, multiply


@njit(**OPTIONS)
def gather_draws(gram, b, draws, theta, y, weights, moments, cosines):  # type: ignore[no-untyped-def]
    """Sum over the draws of one block, in every lane."""
    size = b.shape[0]
    share = splat(theta, 1 / draws.shape[0])
    for n in range(draws.shape[0]):
        for k in range(size):
            store(theta, k, load(draws[n], k))
        cosine, inverse = likelihood(gram, theta, b, size, y)
        store(cosines, 0, fused(cosine, share, load(cosines, 0)))
        part = inverse * share
        scale = cosine * inverse * part
        for k in range(size):
            t = load(theta, k)
            store(weights, k, fused(t, part, load(weights, k)))
            scaled = t * scale
            for j in range(k + 1):
                store(moments, k * size + j, fused(scaled, load(theta, j), load(moments, k * size + j)))


@njit(**OPTIONS)
def _squares(gram, b, weights, moments, column, y, found):  # type: ignore[no-untyped-def]
    """Compute W'W - 2 W'M b + tr(M G M) in every lane; fills the upper half of M."""
    size = b.shape[0]
    total, two = splat(weights, 0.0), splat(weights, 2.0)
    for k in range(size):
        for j in range(k):
            store(moments, j * size + k, load(moments, k * size + j))
    for k in range(size):
        w, along = load(weights, k), splat(weights, 0.0)
        for j in range(size):
            m = load(moments, k * size + j)
            store(column, j, m)
            along = fused(m, load(b, j), along)
        multiply(gram, column, y)
        total = total + w * (w - two * along)
        for j in range(size):
            total = fused(load(column, j), load(y, j), total)
    store(found, 0, total)


@njit(**OPTIONS)
def _subtract(before, length, weights, moments):  # type: ignore[no-untyped-def]
    """Subtract W0 from W and c0 W0 W0' from M, in place."""
    size = before.shape[0]
    c = load(length, 0)
    for k in range(size):
        w = load(before, k)
        store(weights, k, load(weights, k) - w)
        for j in range(k + 1):
            store(moments, k * size + j, load(moments, k * size + j) - c * w * load(before, j))


@njit(**OPTIONS)
def _block_statistics(block, gram, b, draws, stored, found, weights, squares, moment):  # type: ignore[no-untyped-def]
    """Process one block: put documents into lanes, sum over their draws, and write the sums back."""
    count, size = b.shape
    shape, kind = (draws.shape[1], LANES), b.dtype
    own, before, moments = (
        np.zeros((size, LANES), kind),
        np.zeros((size, LANES), kind),
        np.zeros((size * size, LANES), kind),
    )
    total, theta, y, column = np.zeros(shape, kind), np.zeros(shape, kind), np.zeros(shape, kind), np.zeros(shape, kind)
    cosine, square, length = np.zeros((1, LANES), kind), np.zeros((1, LANES), kind), np.zeros((1, LANES), kind)
    first, used = block * LANES, min(LANES, count - block * LANES)
    for lane in range(used):
        length[0, lane] = stored[first + lane, size]
        for k in range(size):
            own[k, lane], before[k, lane] = b[first + lane, k], stored[first + lane, k]
    gather_draws(gram, own, draws, theta, y, total, moments, cosine)
    for lane in range(used):
        found[first + lane, size] = cosine[0, lane]
        for k in range(size):
            found[first + lane, k] = total[k, lane]
    _subtract(before, length, total, moments)
    _squares(gram, own, total, moments, column, y, square)
    for lane in range(used):
        squares[first + lane] = square[0, lane]
        for k in range(size):
            weights[first + lane, k] = total[k, lane]
    for k in range(size):
        for j in range(size):
            for lane in range(used):
                moment[k, j] += moments[k * size + j, lane]


@njit(**OPTIONS)
def _numbers(found, squares):  # type: ignore[no-untyped-def]
    """Return the mean of the squares, the largest sum of a row of W'W, and the mean of c."""
    count, size = found.shape[0], found.shape[1] - 1
    rows, square, cosine = np.zeros(size), 0.0, 0.0
    for d in range(count):
        total = 0.0
        for k in range(size):
            total += found[d, k]
        for k in range(size):
            rows[k] += found[d, k] * total
        square += squares[d]
        cosine += found[d, size]
    return square / count, rows.max(), cosine / count


@njit(parallel=True, **OPTIONS)
def batch_statistics(gram, b, draws, stored):  # type: ignore[no-untyped-def]
    """Return W and c as columns (S, K + 1); and as differences from `stored`, which is of that shape:

    W - W0 (S, K), the sum of M - M0 over the batch (K, K), and of v (W - W0)' - beta (M - M0) the mean squared length;
    then the largest sum of a row of W'W (a bound of its eigenvalues, as its entries are positive) and the mean of c
    """
    count, size = b.shape
    found, weights, squares = np.empty_like(stored), np.empty_like(b), np.empty(count)
    moments = np.zeros((draws.shape[0], size, size))
    for block in prange(draws.shape[0]):
        _block_statistics(np.int64(block), gram, b, draws[block], stored, found, weights, squares, moments[block])
    moment = np.zeros((size, size))
    for block in range(draws.shape[0]):
        moment += moments[block]
    square, largest, cosine = _numbers(found, squares)
    return found, weights, moment, square, largest, cosine
