"""Topics on the sphere: the flow, and the kick with noise, one topic to a thread.

The letters are those of `orthodrome.splitting` for `Sphere`, written out for K rows of V numbers: A the great circle
with rounding removed inside its coefficients, and B O B in one pass,

    v <- P(x) [ d (d v + h gradient + sd N(0, I)) ],     d = exp(-C h / 2),

which is the same as three letters because v is tangent and C a number. The gradient arrives as its dense part
(-beta M), to which the documents' sparse rows and the prior are added here.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from orthodrome.models.kernels.lanes import LANES
from orthodrome.models.kernels.proportions import OPTIONS
from orthodrome.models.kernels.streams import fill_normals, mixed, seed_lane, stream_key, warm

CHUNK = 32
"""Rows of LANES normals made at a time."""


@njit(parallel=True, **OPTIONS)
def inner_products(topics, indptr, indices, values, rows):  # type: ignore[no-untyped-def]
    """b = beta' v of the given documents, (S, K)."""
    found = np.empty((rows.shape[0], topics.shape[0]), topics.dtype)
    for s in prange(rows.shape[0]):
        begin, end = indptr[rows[s]], indptr[rows[s] + 1]
        for k in range(topics.shape[0]):
            total = 0.0
            for i in range(begin, end):
                total += topics[k, indices[i]] * values[i]
            found[s, k] = total
    return found


@njit(parallel=True, **OPTIONS)
def add_documents(gradient, indptr, indices, values, rows, weights, scale):  # type: ignore[no-untyped-def]
    """gradient += scale v' W, in place."""
    for k in prange(gradient.shape[0]):
        for s in range(rows.shape[0]):
            factor = gradient.dtype.type(scale * weights[s, k])
            for i in range(indptr[rows[s]], indptr[rows[s] + 1]):
                gradient[k, indices[i]] += factor * values[i]


@njit(parallel=True, **OPTIONS)
def flow(x, v, time):  # type: ignore[no-untyped-def]
    """A, in place: great circles for the time; returns v.v of each topic."""
    squares = np.empty(x.shape[0])
    for k in prange(x.shape[0]):
        square, lean, norm = 0.0, 0.0, 0.0
        for i in range(x.shape[1]):
            square += v[k, i] * v[k, i]
            lean += x[k, i] * v[k, i]
            norm += x[k, i] * x[k, i]
        speed, shrink = math.sqrt(square), 1.5 - 0.5 * norm
        cos, sin = math.cos(speed * time), math.sin(speed * time)
        along = sin / speed if speed > 0 else time
        xx, xv = x.dtype.type(cos * shrink - along * lean), x.dtype.type(along)
        vv, vx = x.dtype.type(cos), x.dtype.type(-(speed * sin * shrink + cos * lean))
        for i in range(x.shape[1]):
            here, going = x[k, i], v[k, i]
            x[k, i] = xx * here + xv * going
            v[k, i] = vv * going + vx * here
        squares[k] = square
    return squares


@njit(**OPTIONS)
def _noise(state, normals, row):  # type: ignore[no-untyped-def]
    """A row of normals, a chunk at a time; the order of numbers is that of the lanes."""
    size = CHUNK * LANES
    for begin in range(0, row.shape[0], size):
        fill_normals(state, normals)
        flat = normals.ravel()
        for i in range(min(size, row.shape[0] - begin)):
            row[begin + i] = flat[i]


@njit(**OPTIONS)
def _open_stream(seed, step, topic):  # type: ignore[no-untyped-def]
    state = np.empty((4, LANES), np.uint32)
    key = stream_key(seed, step, np.uint64(topic) + np.uint64(1 << 62))
    for lane in range(LANES):
        seed_lane(state, lane, mixed(key + np.uint64(lane)))
    warm(state, np.empty(LANES, np.uint32))
    return state


@njit(parallel=True, **OPTIONS)
def normals_like(x, seed, step):  # type: ignore[no-untyped-def]
    """Standard normals of the shape of the topics, as `kick` draws them."""
    found = np.empty(x.shape, np.float32)
    for k in prange(x.shape[0]):
        _noise(_open_stream(seed, step, k), np.empty((CHUNK, LANES), np.float32), found[k])
    return found


@njit(parallel=True, **OPTIONS)
def kick(x, v, gradient, prior, h, damp, deviation, seed, step):  # type: ignore[no-untyped-def]
    """B O B, in place; gradient is that of the log density without the prior's part, which is the same for all topics."""
    real = x.dtype.type
    for k in prange(x.shape[0]):
        noise = np.zeros(x.shape[1], np.float32)
        if deviation > 0:
            _noise(_open_stream(seed, step, k), np.empty((CHUNK, LANES), np.float32), noise)
        once, twice, push, sd = real(damp), real(damp * damp), real(damp * h), real(damp * deviation)
        lean = 0.0
        for i in range(x.shape[1]):
            going = twice * v[k, i] + push * (gradient[k, i] + prior[i]) + sd * noise[i]
            v[k, i] = going
            lean += x[k, i] * going
        back = real(lean)
        for i in range(x.shape[1]):
            v[k, i] -= back * x[k, i]


@njit(**OPTIONS)
def distinct_rows(count, size, seed, step):  # type: ignore[no-untyped-def]
    """`size` different rows of `count` by Floyd's method, in O(size^2) for the search; for batches, not for everything."""
    rows = np.empty(size, np.int64)
    key = stream_key(seed, step, np.uint64(1 << 63))
    for i in range(size):
        top = count - size + i
        key = mixed(key + np.uint64(0x9E3779B97F4A7C15))
        pick = np.int64(key % np.uint64(top + 1))
        for j in range(i):
            if rows[j] == pick:
                pick = top
                break
        rows[i] = pick
    return rows
