"""A trajectory of geodesic Hamiltonian Monte Carlo for the eigenmodel (`GeodesicHMC`, Byrne & Girolami's Algorithm 1).

    log pi = sum_{i<j} log F(Y_ij eta_ij) - sum_r L_r^2 / (2 m) - c^2 / 200,      H = -log pi + |v|^2 / 2,

with a velocity for the frame U, the eigenvalues L and the intercept c, and a step for each of the three: kick by half a
step, move (the frame along its geodesic, the others straight on), kick. All of it is one call without Python.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS
from orthodrome.models.network.kernels.frames import move, project, straighten
from orthodrome.models.network.kernels.pair_sums import pair_pass
from orthodrome.models.network.law import INTERCEPT_VARIANCE


@njit(**OPTIONS)
def log_posterior(is_probit, signs, first, frame, values, intercept, slopes, flat_slopes, valued):  # type: ignore[no-untyped-def]
    """Write the gradient into `slopes` (p, m) and `flat_slopes` (p + 1, the last for c); return log pi if `valued`.

    The lanes without a pair add a constant.
    """
    p, m = frame.shape
    slope, height = pair_pass(is_probit, signs, first, frame, values, intercept, slopes, valued)
    for r in range(p):
        form = 0.0
        for i in range(m):
            form += frame[r, i] * slopes[r, i]
            slopes[r, i] *= values[r]
        flat_slopes[r] = form / 2 - values[r] / m
        height -= values[r] ** 2 / (2 * m)
    flat_slopes[p] = slope - intercept / INTERCEPT_VARIANCE
    return height - intercept**2 / (2 * INTERCEPT_VARIANCE)


@njit(**OPTIONS)
def kick(frame, v, flat_v, slopes, flat_slopes, frame_step, flat_steps):  # type: ignore[no-untyped-def]
    """Change the velocities by the gradient, the frame's kept tangent."""
    for r in range(v.shape[0]):
        for i in range(v.shape[1]):
            v[r, i] += frame_step * slopes[r, i]
    project(frame, v)
    for k in range(flat_v.size):
        flat_v[k] += flat_steps[k] * flat_slopes[k]


@njit(**OPTIONS)
def fly(is_probit, signs, first, frame, flat, v, flat_v, slopes, flat_slopes, frame_step, flat_steps, num_steps):  # type: ignore[no-untyped-def]
    """Follow the dynamics for `num_steps` steps, in place, and return log pi at the end.

    flat: L and c, with their velocities in flat_v; slopes, flat_slopes: the gradient at the start, then at the end
    """
    p, height = frame.shape[0], np.nan
    kick(frame, v, flat_v, slopes, flat_slopes, frame_step / 2, flat_steps / 2)
    for n in range(num_steps):
        move(frame, v, frame_step)
        for k in range(flat.size):
            flat[k] += flat_steps[k] * flat_v[k]
        last = n == num_steps - 1
        if last:
            straighten(frame)
        height = log_posterior(is_probit, signs, first, frame, flat[:p], flat[p], slopes, flat_slopes, last)
        share = 0.5 if last else 1.0  # the half kicks at the end of a step and at the start of the next are one
        kick(frame, v, flat_v, slopes, flat_slopes, share * frame_step, share * flat_steps)
    return height
