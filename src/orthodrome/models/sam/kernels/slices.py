"""Topic proportions under a Dirichlet with alpha < 1, by slices along one topic at a time.

Below one the Dirichlet has poles at the walls of the simplex, where Hamiltonian moves go wrong. But theta = g / sum g
with independent g_k ~ Gamma(alpha), the cosine b.g / sqrt(g' G g) does not change when g is scaled, and the power
y_k = g_k^alpha has no pole:

    log p(y) = kappa b.g / sqrt(g' G g) - sum_k y_k^(1/alpha),        y_k > 0.

Along y_k the cosine costs a handful of operations, because three sums over the other topics say everything about them,
and it is at most the length of v's projection on the plane of both, which bounds the slice. So each y_k is drawn by
shrinking slices (Neal 2003): exactly, without a step size, a sweep costing about as much as ten leapfrogs. `sum g` is
Gamma(K alpha) whatever theta is, and is drawn when a document is taken up.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.streams import advanced, seed_lane, stream_key

OPTIONS = {"cache": True, "error_model": "numpy", "nogil": True}
CANCELLED = 1e-6
"""What is left of q^2 without a topic, below which the difference is not trusted and the sum is made again."""

FLOOR, LEAST_SQUARE = -320.0, 1e-290
"""Of log sum g and of g' G g, so that nothing is lost in rounding: theta does not depend on the scale."""


@njit(**OPTIONS)
def _uniform(state):  # type: ignore[no-untyped-def]
    """Draw a uniform number between 0 and 1, both excluded; state is (4, 1)."""
    a, b, c, count, bits = advanced(state[0, 0], state[1, 0], state[2, 0], state[3, 0])
    state[0, 0], state[1, 0], state[2, 0], state[3, 0] = a, b, c, count
    return (np.float64(bits) + 0.5) / 4294967296.0


@njit(**OPTIONS)
def log_gamma_draw(state, shape):  # type: ignore[no-untyped-def]
    """Draw the logarithm of a Gamma(shape) number: Marsaglia & Tsang (2000) at shape + 1, times U^(1/shape)."""
    d = shape + 1 - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        z = math.sqrt(-2 * math.log(_uniform(state))) * math.cos(2 * math.pi * _uniform(state))
        v = 1 + c * z
        if v > 0:
            v = v * v * v
            if math.log(_uniform(state)) < 0.5 * z * z + d - d * v + d * math.log(v):
                return math.log(d * v) + math.log(_uniform(state)) / shape


@njit(**OPTIONS)
def _sums(gram, b, g, skip):  # type: ignore[no-untyped-def]
    """Return b.g and g' G g without one topic."""
    along, square = 0.0, 0.0
    for j in range(b.shape[0]):
        if j == skip:
            continue
        product = 0.0
        for i in range(b.shape[0]):
            if i != skip:
                product += gram[j, i] * g[i]
        along += b[j] * g[j]
        square += g[j] * product
    return along, max(square, 0.0)


@njit(**OPTIONS)
def _others(gram, b, g, k, along, square):  # type: ignore[no-untyped-def]
    """Return b.g, g' G g and (G g)_k without topic k, from the sums with it."""
    cross = 0.0
    for j in range(b.shape[0]):
        cross += gram[k, j] * g[j]
    cross -= gram[k, k] * g[k]
    rest = square - 2 * g[k] * cross - g[k] * g[k] * gram[k, k]
    if rest > CANCELLED * square:
        return along - b[k] * g[k], rest, cross
    along, rest = _sums(gram, b, g, k)
    cross = 0.0
    for j in range(b.shape[0]):
        if j != k:
            cross += gram[k, j] * g[j]
    return along, rest, cross


@njit(**OPTIONS)
def _highest(along, square, cross, own, self):  # type: ignore[no-untyped-def]
    """Return an upper bound of the cosine along a topic: the length of v's projection on two directions."""
    area = square * self - cross * cross
    if area <= 1e-9 * square * self:
        return 1.0
    return min(1.0, math.sqrt(max(0.0, along * along * self - 2 * along * own * cross + own * own * square) / area))


@njit(**OPTIONS)
def _slice(gram, b, kappa, alpha, g, y, k, along, square, state):  # type: ignore[no-untyped-def]
    """Draw a new y_k and g_k; return b.g and g' G g with them."""
    along, square, cross = _others(gram, b, g, k, along, square)
    own, self, here = b[k], gram[k, k], g[k]
    total = square + here * (2 * cross + here * self)
    cosine = (along + own * here) / math.sqrt(total)
    drop = -math.log(_uniform(state))
    level = kappa * cosine - here - drop
    low, high = 0.0, (max(0.0, kappa * (_highest(along, square, cross, own, self) - cosine)) + here + drop) ** alpha
    high = max(high * (1 + 1e-9), y[k])
    for _ in range(200):
        trial = low + (high - low) * _uniform(state)
        there = math.exp(math.log(trial) / alpha)
        total = square + there * (2 * cross + there * self)
        if total > LEAST_SQUARE and kappa * (along + own * there) / math.sqrt(total) - there >= level:
            y[k], g[k] = trial, there
            break
        if trial < y[k]:
            low = trial
        else:
            high = trial
    here = g[k]
    return along + own * here, square + here * (2 * cross + here * self)


@njit(**OPTIONS)
def _take_up(theta, alpha, tiny, g, y, state):  # type: ignore[no-untyped-def]
    """Draw g and y given theta: their scale, and where below `tiny` a share lies that was lost to rounding."""
    size = theta.shape[0]
    scale = log_gamma_draw(state, size * alpha)
    while scale < FLOOR:
        scale = log_gamma_draw(state, size * alpha)
    for k in range(size):
        lost = theta[k] < tiny
        logarithm = scale + math.log(tiny if lost else np.float64(theta[k]))
        y[k] = math.exp(alpha * logarithm) * (_uniform(state) if lost else 1.0)
        g[k] = math.exp(math.log(y[k]) / alpha)


@njit(**OPTIONS)
def slice_document(gram, b, kappa, alpha, theta, tiny, burn_in, lane, draws, state):  # type: ignore[no-untyped-def]
    """Sample one document: `theta` (K,) is the start and becomes the last draw; draws: (kept, padded, LANES)."""
    size = b.shape[0]
    g, y = np.empty(size), np.empty(size)
    _take_up(theta, alpha, tiny, g, y, state)
    for iteration in range(burn_in + draws.shape[0]):
        along, square = _sums(gram, b, g, -1)
        for k in range(size):
            along, square = _slice(gram, b, kappa, alpha, g, y, k, along, square, state)
        if iteration >= burn_in:
            _keep(g, draws[iteration - burn_in, :, lane])
    _keep(g, theta)


@njit(**OPTIONS)
def _keep(g, theta):  # type: ignore[no-untyped-def]
    total = g.sum()
    for k in range(g.shape[0]):
        theta[k] = g[k] / total


@njit(parallel=True, **OPTIONS)
def slice_proportions(gram, b, kappa, alpha, start, seed, step, items, burn_in, draws):  # type: ignore[no-untyped-def]
    """Sample all documents; return the last draws (S, K). Arguments as in `sample_proportions`; spare lanes stay 0."""
    last, wide, table = start.copy(), gram.astype(np.float64), b.astype(np.float64)
    tiny = np.float64(np.finfo(start.dtype).tiny)
    for d in prange(b.shape[0]):
        state = np.zeros((4, 1), np.uint32)
        seed_lane(state, 0, stream_key(seed, step, items[d]))
        for _ in range(12):
            _uniform(state)
        block, lane = d // LANES, d % LANES
        slice_document(wide, table[d], kappa, alpha, last[d], tiny, burn_in, lane, draws[block], state)
    return last
