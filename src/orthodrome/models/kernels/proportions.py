"""Topic proportions of many documents at once, by geodesic Hamiltonian Monte Carlo on the simplex.

For a document v and topics beta only b = beta' v and G = beta' beta matter (erratum 3.3), so the vocabulary never
enters:

    log p(theta | v, beta) = kappa b.theta / q + (alpha - 1) sum log theta + const,    q^2 = theta' G theta.

Two geometries, the same law: `flat`, straight lines on the simplex that are reflected at its walls (Algorithm 2 of
Byrne & Girolami 2013), and the square-root map x = sqrt(theta), great circles on the sphere with the density

    exp(kappa b.theta / q) prod |x_k|^(2 alpha - 1)        with respect to the sphere's surface.

Its tangent gradient needs no inner product, because b.theta / q does not change when x is scaled:

    2 x (kappa / q) (b - (b.theta / q^2) G theta) + (2 alpha - 1) (1 / x - K x).

Sixteen documents lie side by side in the last axis of every array and go through the same instructions (`lanes`); what
a document draws depends on its own stream only.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from orthodrome.models.kernels.lanes import LANES, fused, load, lower, root, splat, store, where_positive
from orthodrome.models.kernels.streams import FAST, fill_normals, next_bits, seed_lane, stream_key, warm

OPTIONS = {"cache": True, "error_model": "numpy", "nogil": True, "fastmath": FAST}


def padded(count: int) -> int:
    """Topics are padded to a multiple of four: the product with G takes four rows at a time."""
    return -(-count // 4) * 4


def num_blocks(count: int) -> int:
    """Blocks of documents."""
    return -(-count // LANES)


@njit(**OPTIONS)
def _multiply(gram, theta, y):  # type: ignore[no-untyped-def]
    """y = G theta."""
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
def _likelihood(gram, theta, b, size, y):  # type: ignore[no-untyped-def]
    """y = G theta; the cosine b.theta / q, and 1 / q."""
    _multiply(gram, theta, y)
    along = splat(theta, 0.0)
    square = along
    for k in range(size):
        t = load(theta, k)
        along = fused(load(b, k), t, along)
        square = fused(load(y, k), t, square)
    inverse = splat(theta, 1.0) / root(square)
    return along * inverse, inverse


@njit(**OPTIONS)
def _force_on_sphere(gram, x, b, kappa, alpha, size, theta, y):  # type: ignore[no-untyped-def]
    """The tangent gradient of the log density at x = sqrt(theta), in y; returns the cosine."""
    for k in range(size):
        root_of = load(x, k)
        store(theta, k, root_of * root_of)
    cosine, inverse = _likelihood(gram, theta, b, size, y)
    power, total = splat(x, 2 * alpha - 1), splat(x, (2 * alpha - 1) * size)
    pull = splat(x, 2 * kappa) * inverse
    back = pull * cosine * inverse
    for k in range(size):
        here = load(x, k)
        store(y, k, here * (pull * load(b, k) - back * load(y, k) - total) + power / here)
    return cosine


@njit(**OPTIONS)
def _force_on_simplex(gram, x, b, kappa, alpha, size, theta, y):  # type: ignore[no-untyped-def]
    """The same at x = theta, in the flat simplex."""
    for k in range(size):
        store(theta, k, load(x, k))
    cosine, inverse = _likelihood(gram, theta, b, size, y)
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


@njit(**OPTIONS)
def _great_circle(x, v, h, size):  # type: ignore[no-untyped-def]
    """Along great circles for the time h. The polynomials of the half angle make an exact turn, of almost h |v|."""
    square = splat(x, 0.0)
    for k in range(size):
        going = load(v, k)
        square = fused(going, going, square)
    speed = root(square)
    one = splat(x, 1.0)
    angle = lower(speed * h * splat(x, 0.5), splat(x, 1.5))
    s = angle * angle
    sine = splat(x, -1 / 39916800) * s + splat(x, 1 / 362880)
    sine = ((sine * s - splat(x, 1 / 5040)) * s + splat(x, 1 / 120)) * s - splat(x, 1 / 6)
    sine = angle * (sine * s + one)
    cosine = splat(x, 1 / 20160) - s * splat(x, 1 / 1814400)
    cosine = one - s * splat(x, 0.5) * (one - s * (splat(x, 1 / 12) - s * (splat(x, 1 / 360) - s * cosine)))
    scale = one / (sine * sine + cosine * cosine)
    cos, sin = (cosine * cosine - sine * sine) * scale, splat(x, 2.0) * sine * cosine * scale
    along, against = sin / where_positive(speed, speed, one), sin * speed
    for k in range(size):
        here, going = load(x, k), load(v, k)
        store(x, k, cos * here + along * going)
        store(v, k, cos * going - against * here)


@njit(**OPTIONS)
def _straight(x, v, steps, size, lowest):  # type: ignore[no-untyped-def]
    """Along straight lines; a document that would cross a wall is moved by itself."""
    step, bottom = load(steps, 0), splat(x, 1.0)
    for k in range(size):
        bottom = lower(bottom, fused(step, load(v, k), load(x, k)))
    store(lowest, 0, bottom)
    for lane in range(LANES):
        if lowest[0, lane] <= 0:
            _reflected(x, v, steps[0, lane], size, lane)
    step = where_positive(bottom, step, splat(x, 0.0))
    for k in range(size):
        store(x, k, fused(step, load(v, k), load(x, k)))


@njit(**OPTIONS)
def _reflected(x, v, h, size, lane):  # type: ignore[no-untyped-def]
    """From wall to wall for the time h; at a wall v_j changes sign and the others share what it loses."""
    real = x.dtype.type
    remaining = h
    for _ in range(64 * size):
        hit, first = -1, remaining
        for k in range(size):
            if v[k, lane] < 0 and -x[k, lane] / v[k, lane] < first:
                hit, first = k, -x[k, lane] / v[k, lane]
        for k in range(size):
            x[k, lane] = max(x[k, lane] + first * v[k, lane], real(0))
        if hit < 0:
            return
        x[hit, lane] = 0  # exactly: rounding could leave it on the wrong side, to be hit again
        share = real(2) * v[hit, lane] / real(size - 1)
        for k in range(size):
            v[k, lane] = -v[k, lane] if k == hit else v[k, lane] + share
        remaining -= first


@njit(**OPTIONS)
def _refresh(flat, x, v, normals, size):  # type: ignore[no-untyped-def]
    """A standard normal velocity in the tangent space."""
    for k in range(size):
        for lane in range(LANES):
            v[k, lane] = normals[k, lane]
    lean, share = splat(x, 0.0), splat(x, 1 / size)
    for k in range(size):
        lean = fused(load(v, k), share if flat else load(x, k), lean)
    for k in range(size):
        store(v, k, load(v, k) - (lean if flat else lean * load(x, k)))


@njit(**OPTIONS)
def _kick(v, y, step, size):  # type: ignore[no-untyped-def]
    for k in range(size):
        store(v, k, fused(step, load(y, k), load(v, k)))


@njit(**OPTIONS)
def _potential(flat, kappa, alpha, theta, cosine, size, scratch, found):  # type: ignore[no-untyped-def]
    """Minus the log density of every lane in float64: one logarithm for sixteen topics."""
    power = alpha - 1 if flat else alpha - 0.5  # log |x| is half of log theta
    store(scratch, 0, cosine)
    for lane in range(LANES):
        found[0, lane] = -kappa * np.float64(scratch[0, lane])
    for first in range(0, size, 16):
        for lane in range(LANES):
            found[1, lane] = 1.0
        for quarter in range(first, min(first + 16, size), 4):
            product = load(theta, quarter)
            for k in range(quarter + 1, min(quarter + 4, size)):
                product = product * load(theta, k)
            store(scratch, 0, product)
            for lane in range(LANES):
                found[1, lane] *= np.float64(scratch[0, lane])
        for lane in range(LANES):
            found[0, lane] -= power * math.log(found[1, lane])


@njit(**OPTIONS)
def _jitter(state, bits, step_size, steps):  # type: ignore[no-untyped-def]
    """A step for each lane, within 40 % of the size: fixed ones can come round to where they began."""
    next_bits(state, bits)
    for lane in range(LANES):
        steps[0, lane] = step_size * (0.6 + 0.8 * np.float64(bits[lane]) / 4294967296.0)


@njit(**OPTIONS)
def _kinetic(v, size, scratch, potential, total):  # type: ignore[no-untyped-def]
    """The Hamiltonian of every lane."""
    square = splat(v, 0.0)
    for k in range(size):
        going = load(v, k)
        square = fused(going, going, square)
    store(scratch, 0, square)
    for lane in range(LANES):
        total[lane] = potential[0, lane] + 0.5 * np.float64(scratch[0, lane])


@njit(**OPTIONS)
def _choose(state, bits, before, after, potential, old_potential, taken, accepted):  # type: ignore[no-untyped-def]
    """Metropolis in every lane: taken is 1 or 0."""
    next_bits(state, bits)
    for lane in range(LANES):
        u = (np.float64(bits[lane]) + 0.5) / 4294967296.0
        yes = math.log(u) < before[lane] - after[lane]  # false for what is not a number
        accepted[lane] += yes
        taken[0, lane] = 1.0 if yes else 0.0
        potential[0, lane] = potential[0, lane] if yes else old_potential[lane]


@njit(**OPTIONS)
def _settle(flat, taken, x, old, y, old_force, size):  # type: ignore[no-untyped-def]
    """Rejected lanes go back; rounding is removed from the points of the sphere."""
    test, square = load(taken, 0), splat(x, 0.0)
    for k in range(size):
        here = where_positive(test, load(x, k), load(old, k))
        square = fused(here, here, square)
        store(x, k, here)
        store(y, k, where_positive(test, load(y, k), load(old_force, k)))
    if not flat:
        factor = splat(x, 1.5) - splat(x, 0.5) * square
        for k in range(size):
            store(x, k, load(x, k) * factor)


@njit(**OPTIONS)
def sample_block(  # type: ignore[no-untyped-def]
    flat, gram, b, kappa, alpha, theta, state, step_size, num_steps, burn_in, draws, accepted
):
    """Hamiltonian Monte Carlo for sixteen documents: `theta` (padded, LANES) is the start and becomes the last draw.

    draws: (kept, padded, LANES), of every transition after the first `burn_in`; accepted: the number of moves per lane
    """
    real = theta.dtype.type
    size = b.shape[0]
    x, v, y = np.zeros_like(theta), np.zeros_like(theta), np.zeros_like(theta)
    old, old_force = np.zeros_like(theta), np.zeros_like(theta)
    scratch, taken = np.zeros((1, LANES), theta.dtype), np.zeros((1, LANES), theta.dtype)
    steps = np.zeros((1, LANES), theta.dtype)
    normals, bits = np.zeros((theta.shape[0], LANES), np.float32), np.zeros(LANES, np.uint32)
    potential, old_potential = np.zeros((2, LANES)), np.zeros(LANES)
    before, after = np.zeros(LANES), np.zeros(LANES)
    for k in range(size):
        for lane in range(LANES):
            x[k, lane] = theta[k, lane] if flat else real(math.sqrt(theta[k, lane]))
    if flat:
        cosine = _force_on_simplex(gram, x, b, kappa, alpha, size, theta, y)
    else:
        cosine = _force_on_sphere(gram, x, b, kappa, alpha, size, theta, y)
    _potential(flat, kappa, alpha, theta, cosine, size, scratch, potential)
    for iteration in range(burn_in + draws.shape[0]):
        _jitter(state, bits, step_size, steps)
        h, half = load(steps, 0), load(steps, 0) * splat(x, 0.5)
        fill_normals(state, normals)
        _refresh(flat, x, v, normals, size)
        _kinetic(v, size, scratch, potential, before)
        for lane in range(LANES):
            old_potential[lane] = potential[0, lane]
        for k in range(size):
            store(old, k, load(x, k))
            store(old_force, k, load(y, k))
        _kick(v, y, half, size)
        for i in range(num_steps):
            if flat:
                _straight(x, v, steps, size, scratch)
                cosine = _force_on_simplex(gram, x, b, kappa, alpha, size, theta, y)
            else:
                _great_circle(x, v, h, size)
                cosine = _force_on_sphere(gram, x, b, kappa, alpha, size, theta, y)
            _kick(v, y, h if i < num_steps - 1 else half, size)
        _potential(flat, kappa, alpha, theta, cosine, size, scratch, potential)
        _kinetic(v, size, scratch, potential, after)
        _choose(state, bits, before, after, potential, old_potential, taken, accepted)
        _settle(flat, taken, x, old, y, old_force, size)
        if iteration >= burn_in:
            _keep(flat, x, size, draws[iteration - burn_in])
    _keep(flat, x, size, theta)


@njit(**OPTIONS)
def _keep(flat, x, size, theta):  # type: ignore[no-untyped-def]
    for k in range(size):
        here = load(x, k)
        store(theta, k, here if flat else here * here)


@njit(**OPTIONS)
def _sample_documents(  # type: ignore[no-untyped-def]
    block, flat, gram, b, kappa, alpha, start, seed, step, items, step_size, num_steps, burn_in, kept, last, rates
):
    """One block: documents into lanes, the moves, and back."""
    count, size = b.shape
    theta, own = np.zeros((kept.shape[1], LANES), start.dtype), np.zeros((size, LANES), start.dtype)
    state, accepted = np.zeros((4, LANES), np.uint32), np.zeros(LANES, np.int64)
    first = block * LANES
    for lane in range(LANES):
        document = min(first + lane, count - 1)  # spare lanes repeat the last document
        seed_lane(state, lane, stream_key(seed, step, items[document]))
        for k in range(size):
            theta[k, lane], own[k, lane] = start[document, k], b[document, k]
    warm(state, np.zeros(LANES, np.uint32))
    sample_block(flat, gram, own, kappa, alpha, theta, state, step_size, num_steps, burn_in, kept, accepted)
    for lane in range(min(LANES, count - first)):
        rates[first + lane] = accepted[lane] / max(1, burn_in + kept.shape[0])
        for k in range(size):
            last[first + lane, k] = theta[k, lane]


@njit(parallel=True, **OPTIONS)
def sample_proportions(  # type: ignore[no-untyped-def]
    flat, gram, b, kappa, alpha, start, seed, step, items, step_size, num_steps, burn_in, draws
):
    """All documents: the last draws (S, K) and the rate of acceptance of each.

    gram: (padded, padded); b, start: (S, K); items: (S,) uint64, names of the documents' streams
    draws: (blocks, kept, padded, LANES), filled here
    """
    last, rates = np.empty_like(start), np.empty(b.shape[0])
    for block in prange(draws.shape[0]):
        settings = (seed, step, items, step_size, num_steps, burn_in)
        _sample_documents(np.int64(block), flat, gram, b, kappa, alpha, start, *settings, draws[block], last, rates)
    return last, rates
