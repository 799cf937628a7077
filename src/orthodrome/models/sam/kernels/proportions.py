"""Topic proportions of many documents at once, by geodesic Hamiltonian Monte Carlo on the simplex.

`density` has the law and its gradient, `paths` the geodesics: straight lines that are reflected at the walls, or great
circles after the square-root map. What a document draws depends on its own stream only, not on who is beside it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES, fused, load, splat, store, where_positive
from orthodrome.kernels.streams import next_bits, seed_lane, stream_key, warm
from orthodrome.kernels.vectors.normals import fill_normals
from orthodrome.models.sam.kernels.density import OPTIONS, force_on_simplex, force_on_sphere
from orthodrome.models.sam.kernels.paths import great_circle, straight


@njit(**OPTIONS)
def _refresh(flat, x, v, normals, size):  # type: ignore[no-untyped-def]
    """Draw a standard normal velocity in the tangent space."""
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
    """Compute minus the log density of every lane in float64, with one logarithm for sixteen topics."""
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
    """Draw a step for each lane within 40 % of the size: trajectories of fixed length can return to their start."""
    next_bits(state, bits)
    for lane in range(LANES):
        steps[0, lane] = step_size * (0.6 + 0.8 * np.float64(bits[lane]) / 4294967296.0)


@njit(**OPTIONS)
def _kinetic(v, size, scratch, potential, total):  # type: ignore[no-untyped-def]
    """Compute the Hamiltonian of every lane."""
    square = splat(v, 0.0)
    for k in range(size):
        going = load(v, k)
        square = fused(going, going, square)
    store(scratch, 0, square)
    for lane in range(LANES):
        total[lane] = potential[0, lane] + 0.5 * np.float64(scratch[0, lane])


@njit(**OPTIONS)
def _choose(state, bits, before, after, potential, old_potential, taken, accepted):  # type: ignore[no-untyped-def]
    """Apply the Metropolis test in every lane: taken is 1 or 0."""
    next_bits(state, bits)
    for lane in range(LANES):
        u = (np.float64(bits[lane]) + 0.5) / 4294967296.0
        yes = math.log(u) < before[lane] - after[lane]  # false for what is not a number
        accepted[lane] += yes
        taken[0, lane] = 1.0 if yes else 0.0
        potential[0, lane] = potential[0, lane] if yes else old_potential[lane]


@njit(**OPTIONS)
def _settle(flat, taken, x, old, y, old_force, size):  # type: ignore[no-untyped-def]
    """Restore the rejected lanes, and normalise the points of the sphere."""
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
    """Run Hamiltonian Monte Carlo for sixteen documents: `theta` (padded, LANES) is the start, then the last draw.

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
        cosine = force_on_simplex(gram, x, b, kappa, alpha, size, theta, y)
    else:
        cosine = force_on_sphere(gram, x, b, kappa, alpha, size, theta, y)
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
                straight(x, v, steps, size, scratch)
                cosine = force_on_simplex(gram, x, b, kappa, alpha, size, theta, y)
            else:
                great_circle(x, v, h, size)
                cosine = force_on_sphere(gram, x, b, kappa, alpha, size, theta, y)
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
    """Sample one block: put documents into lanes, move them, and write them back."""
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
    """Sample all documents; return the last draws (S, K) and the acceptance rate of each.

    gram: (padded, padded); b, start: (S, K); items: (S,) uint64, names of the documents' streams
    draws: (blocks, kept, padded, LANES), filled here
    """
    last, rates = np.empty_like(start), np.empty(b.shape[0])
    for block in prange(draws.shape[0]):
        settings = (seed, step, items, step_size, num_steps, burn_in)
        _sample_documents(np.int64(block), flat, gram, b, kappa, alpha, start, *settings, draws[block], last, rates)
    return last, rates
