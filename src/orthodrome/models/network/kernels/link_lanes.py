"""Link functions of binary data on lanes of float32: the slope of log F, and log F without its last logarithm.

    probit   F = Phi;  with a = |z| / sqrt(2), w = 2 + 4 a and erfcx(a) / 2 = q / w (`special.erfcx`),
             Phi(z) = (w - exp(-a^2) q) / w on the right of 0,   exp(-a^2) q / w on the left
    logit    F = 1 / (1 + exp(-z)) = 1 / (1 + e) on the right,   e / (1 + e) on the left,   e = exp(-|z|)

Both are written F = exp(-minus) / r, with minus >= 0 the exponential that would underflow, so that

    log F = -(log r + minus),     and the slope is a number times r or over r:

a trajectory takes its slopes with two divisions and one exponential, and the logarithm is taken at its end alone.
"""

from __future__ import annotations

import math

from numba import njit

from orthodrome.kernels.lanes import fused, lower, splat, where_positive
from orthodrome.kernels.vectors.elementary import OPTIONS, exp
from orthodrome.special.erfcx import CENTER, SINGLE

_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = SINGLE
_NORMAL = 1 / math.sqrt(2 * math.pi)
_LEAST = 80.0
"""Where exponentials stop falling: exp(-80) adds nothing to one, and is a normal number."""


@njit(**OPTIONS)
def _falling(x):  # type: ignore[no-untyped-def]
    """Return exp(-x) for x >= 0, not below exp(-_LEAST)."""
    return exp(splat(x, 0.0) - lower(x, splat(x, _LEAST)))


@njit(**OPTIONS)
def _scaled_tail(a):  # type: ignore[no-untyped-def]
    """Return (1 + 2 a) erfcx(a) for a >= 0, by the polynomial of `special.erfcx`."""
    t = (a - splat(a, CENTER)) / (a + splat(a, CENTER))
    q = fused(splat(a, _C11), t, splat(a, _C10))
    q = fused(q, t, splat(a, _C9))
    q = fused(q, t, splat(a, _C8))
    q = fused(q, t, splat(a, _C7))
    q = fused(q, t, splat(a, _C6))
    q = fused(q, t, splat(a, _C5))
    q = fused(q, t, splat(a, _C4))
    q = fused(q, t, splat(a, _C3))
    q = fused(q, t, splat(a, _C2))
    q = fused(q, t, splat(a, _C1))
    return fused(q, t, splat(a, _C0))


@njit(**OPTIONS)
def probit(z):  # type: ignore[no-untyped-def]
    """Return phi(z) / Phi(z), r and minus."""
    zero, one = splat(z, 0.0), splat(z, 1.0)
    a = where_positive(z, z, zero - z) * splat(z, math.sqrt(0.5))
    square, q = a * a, _scaled_tail(a)
    w, density = fused(splat(z, 4.0), a, splat(z, 2.0)), _falling(square)
    r = w / where_positive(z, w - density * q, q)
    return splat(z, _NORMAL) * where_positive(z, density, one) * r, r, where_positive(z, zero, square)


@njit(**OPTIONS)
def logit(z):  # type: ignore[no-untyped-def]
    """Return 1 - F(z), r and minus."""
    zero, one = splat(z, 0.0), splat(z, 1.0)
    size = where_positive(z, z, zero - z)
    e = _falling(size)
    r = one + e
    return where_positive(z, e, one) / r, r, where_positive(z, zero, size)
