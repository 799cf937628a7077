"""Topics on the sphere, K rows of V numbers: products with documents and among themselves, the flow, and normals.

The flow is letter A of `orthodrome.dynamics.splitting` for `Sphere`, the great circle with rounding removed inside its
coefficients. SGGMC and gSGNHT move topics word by word (`kernels.words`); this is for the samplers that do not.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.streams import mixed, seed_lane, stream_key, warm
from orthodrome.kernels.vectors.normals import fill_normals
from orthodrome.models.sam.kernels.density import OPTIONS


@njit(parallel=True, **OPTIONS)
def inner_products(topics, indptr, indices, values, rows):  # type: ignore[no-untyped-def]
    """Return b = beta' v of the given documents, (S, K); four topics at a time share the look-up of the words."""
    real, size = topics.dtype.type, topics.shape[0]
    found = np.empty((rows.shape[0], size), topics.dtype)
    for s in prange(rows.shape[0]):
        begin, end = indptr[rows[s]], indptr[rows[s] + 1]
        for k in range(0, size, 4):
            k1, k2, k3 = min(k + 1, size - 1), min(k + 2, size - 1), min(k + 3, size - 1)
            t0, t1, t2, t3 = real(0), real(0), real(0), real(0)
            for i in range(begin, end):
                word, value = np.uint32(indices[i]), values[i]
                t0 += topics[k, word] * value
                t1 += topics[k1, word] * value
                t2 += topics[k2, word] * value
                t3 += topics[k3, word] * value
            found[s, k3], found[s, k2], found[s, k1], found[s, k] = t3, t2, t1, t0
    return found


@njit(**OPTIONS)
def _eight(a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Return the inner products of four rows with two, which share the loads."""
    zero = a.dtype.type(0)
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    for i in range(a.shape[0]):
        p, q = e[i], f[i]
        s0 += a[i] * p
        s1 += b[i] * p
        s2 += c[i] * p
        s3 += d[i] * p
        s4 += a[i] * q
        s5 += b[i] * q
        s6 += c[i] * q
        s7 += d[i] * q
    return s0, s1, s2, s3, s4, s5, s6, s7


@njit(parallel=True, **OPTIONS)
def gram_matrix(x, size):  # type: ignore[no-untyped-def]
    """Return beta' beta of K rows in the corner of a (size, size) array; for few rows this is faster than BLAS."""
    found, count = np.zeros((size, size), x.dtype), x.shape[0]
    for tile in prange(-(-count // 4)):
        i = 4 * tile
        i1, i2, i3 = min(i + 1, count - 1), min(i + 2, count - 1), min(i + 3, count - 1)
        for j in range(0, min(i + 4, count), 2):
            j1 = min(j + 1, count - 1)
            t = _eight(x[i], x[i1], x[i2], x[i3], x[j], x[j1])
            found[i3, j], found[i2, j], found[i1, j], found[i, j] = t[3], t[2], t[1], t[0]
            found[i3, j1], found[i2, j1], found[i1, j1], found[i, j1] = t[7], t[6], t[5], t[4]
    for row in range(count):
        for column in range(row):
            found[column, row] = found[row, column]
    return found


@njit(**OPTIONS)
def _scatter_row(row, indptr, indices, values, rows, weights, k, scale):  # type: ignore[no-untyped-def]
    for s in range(rows.shape[0]):
        factor = row.dtype.type(scale * weights[s, k])
        for i in range(indptr[rows[s]], indptr[rows[s] + 1]):
            row[np.uint32(indices[i])] += factor * values[i]


@njit(**OPTIONS)
def _flow_row(x, v, time):  # type: ignore[no-untyped-def]
    """Move one topic along its great circle; return v.v."""
    real = x.dtype.type
    square, lean, norm = real(0), real(0), real(0)
    for i in range(x.shape[0]):
        square += v[i] * v[i]
        lean += x[i] * v[i]
        norm += x[i] * x[i]
    speed, shrink = math.sqrt(np.float64(square)), 1.5 - 0.5 * norm
    cos, sin = math.cos(speed * time), math.sin(speed * time)
    along = sin / speed if speed > 0 else time
    xx, xv = real(cos * shrink - along * lean), real(along)
    vv, vx = real(cos), real(-(speed * sin * shrink + cos * lean))
    for i in range(x.shape[0]):
        here, going = x[i], v[i]
        x[i] = xx * here + xv * going
        v[i] = vv * going + vx * here
    return square


@njit(parallel=True, **OPTIONS)
def add_documents(gradient, indptr, indices, values, rows, weights, scale):  # type: ignore[no-untyped-def]
    """Add scale v' W to the gradient, in place."""
    for k in prange(gradient.shape[0]):
        _scatter_row(gradient[k], indptr, indices, values, rows, weights, k, scale)


@njit(**OPTIONS)
def flow(x, v, time):  # type: ignore[no-untyped-def]
    """Apply A in place: move along great circles for the time; return v.v of each topic."""
    squares = np.empty(x.shape[0])
    for k in range(x.shape[0]):
        squares[k] = _flow_row(x[k], v[k], time)
    return squares


@njit(**OPTIONS)
def _open_stream(seed, step, topic):  # type: ignore[no-untyped-def]
    state = np.empty((4, LANES), np.uint32)
    key = stream_key(seed, step, np.uint64(topic) + np.uint64(1 << 62))
    for lane in range(LANES):
        seed_lane(state, lane, mixed(key + np.uint64(lane)))
    warm(state, np.empty(LANES, np.uint32))
    return state


@njit(**OPTIONS)
def _noise(seed, step, topic, size):  # type: ignore[no-untyped-def]
    """Draw standard normal numbers for one topic; the generator makes pairs of rows of LANES."""
    found = np.empty((2 * (-(-size // (2 * LANES))), LANES), np.float32)
    fill_normals(_open_stream(seed, step, topic), found)
    return found.reshape(-1)[:size]


@njit(**OPTIONS)
def normals_like(x, seed, step):  # type: ignore[no-untyped-def]
    """Draw standard normal numbers of the shape of the topics, each topic's of a stream of its own."""
    found = np.empty(x.shape, np.float32)
    for k in range(x.shape[0]):
        found[k] = _noise(seed, step, k, x.shape[1])
    return found


@njit(**OPTIONS)
def distinct_rows(count, size, seed, step):  # type: ignore[no-untyped-def]
    """Draw `size` different rows of `count` by Floyd's method; the search is quadratic in `size`."""
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
