"""The law of a document's topic proportions, and its gradient in two geometries.

For a document v and topics beta only b = beta' v and G = beta' beta matter (erratum 3.3), so the vocabulary never
enters:

    log p(theta | v, beta) = kappa b.theta / q + (alpha - 1) sum log theta + const,    q^2 = theta' G theta.

On the flat simplex its gradient is projected; with the square-root map x = sqrt(theta) the density on the sphere is

    exp(kappa b.theta / q) prod |x_k|^(2 alpha - 1)        with respect to the sphere's surface,

whose tangent gradient needs no inner product, because b.theta / q does not change when x is scaled:

    2 x (kappa / q) (b - (b.theta / q^2) G theta) + (2 alpha - 1) (1 / x - K x).

Sixteen documents lie side by side in the last axis of every array and go through the same instructions (`lanes`).
"""

from __future__ import annotations

from numba import njit

from orthodrome.kernels.lanes import LANES, fused, load, root, splat, store
from orthodrome.kernels.streams import FAST

OPTIONS = {"cache": True, "error_model": "numpy", "nogil": True, "fastmath": FAST}


def padded(count: int) -> int:
    """Return the number of topics rounded up to a multiple of four: the product with G takes four rows at a time."""
    return -(-count // 4) * 4


def num_blocks(count: int) -> int:
    """Return the number of blocks of documents."""
    return -(-count // LANES)


@njit(**OPTIONS)
def multiply(gram, theta, y):  # type: ignore[no-untyped-def]
    """Compute y = G theta."""
    for quarter in range(theta.shape[0] // 4):
        j = 4 * quarter
        s0 = splat(theta, 0.0)
        s1, s2, s3 = s0, s0, s0
        for k in range(theta.shape[0]):
            t = load(theta, k)
            s0 = fused(splat(theta, gram[j, k]), t, s0)
            s1 = fused(splat(theta, gram[j + 1, k]), t, s1)
            s2 = fused(splat(theta, gram[j + 2, k]), t, s2)
            s3 = fused(splat(theta, gram[j + 3, k]), t, s3)
        store(y, j, s0)
        store(y, j + 1, s1)
        store(y, j + 2, s2)
        store(y, j + 3, s3)


@njit(**OPTIONS)
def likelihood(gram, theta, b, size, y):  # type: ignore[no-untyped-def]
    """Compute y = G theta; return the cosine b.theta / q, and 1 / q."""
    multiply(gram, theta, y)
    along = splat(theta, 0.0)
    square = along
    for k in range(size):
        t = load(theta, k)
        along = fused(load(b, k), t, along)
        square = fused(load(y, k), t, square)
    inverse = splat(theta, 1.0) / root(square)
    return along * inverse, inverse


@njit(**OPTIONS)
def force_on_sphere(gram, x, b, kappa, alpha, size, theta, y):  # type: ignore[no-untyped-def]
    """Put the tangent gradient of the log density at x = sqrt(theta) into y; return the cosine."""
    for k in range(size):
        root_of = load(x, k)
        store(theta, k, root_of * root_of)
    cosine, inverse = likelihood(gram, theta, b, size, y)
    power, total = splat(x, 2 * alpha - 1), splat(x, (2 * alpha - 1) * size)
    pull = splat(x, 2 * kappa) * inverse
    back = pull * cosine * inverse
    for k in range(size):
        here = load(x, k)
        store(y, k, here * (pull * load(b, k) - back * load(y, k) - total) + power / here)
    return cosine


@njit(**OPTIONS)
def force_on_simplex(gram, x, b, kappa, alpha, size, theta, y):  # type: ignore[no-untyped-def]
    """Put the gradient of the log density at x = theta, in the flat simplex, into y; return the cosine."""
    for k in range(size):
        store(theta, k, load(x, k))
    cosine, inverse = likelihood(gram, theta, b, size, y)
    power, share = splat(x, alpha - 1), splat(x, 1 / size)
    pull = splat(x, kappa) * inverse
    back = pull * cosine * inverse
    mean = splat(x, 0.0)
    for k in range(size):
        slope = pull * load(b, k) - back * load(y, k) + power / load(x, k)
        store(y, k, slope)
        mean = fused(slope, share, mean)
    for k in range(size):
        store(y, k, load(y, k) - mean)
    return cosine
