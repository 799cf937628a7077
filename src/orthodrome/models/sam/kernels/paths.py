"""The geodesics of topic proportions, of sixteen documents at once.

`great_circle` on the sphere of x = sqrt(theta); `straight` on the flat simplex, with reflections at its walls
(Algorithm 2 of Byrne & Girolami 2013).
"""

from __future__ import annotations

from numba import njit

from orthodrome.kernels.lanes import LANES, fused, load, lower, root, splat, store, where_positive
from orthodrome.models.sam.kernels.density import OPTIONS


@njit(**OPTIONS)
def great_circle(x, v, h, size):  # type: ignore[no-untyped-def]
    """Move along great circles for the time h; the polynomials of the half angle make an exact turn of about h |v|."""
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
def straight(x, v, steps, size, lowest):  # type: ignore[no-untyped-def]
    """Move along straight lines for the time h; a document that would cross a wall is moved by itself."""
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
    """Move from wall to wall for the time h; at a wall v_j changes sign and the others share what it loses."""
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
