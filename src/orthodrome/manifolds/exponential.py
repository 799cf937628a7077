"""Exponentials of small matrices, cheap inside a vmapped loop.

`exponential`: scaling and squaring with a Taylor polynomial of degree 8 in three products (Bader, Blanes & Casas 2019,
"Computing the matrix exponential with an optimized Taylor polynomial approximation"). What is squared is e^A - I, as (I
+ E)^2 - I = 2 E + E^2, which keeps the digits of small E; the number of squarings comes from a bound on the norm that
the caller knows. No solves and no branches, so a batch costs what its members cost (JAX's `expm` is 5-8 times dearer
there).

`exponential_skew`: rotations, in closed form up to 3 x 3 (Rodrigues).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

_ROOT = math.sqrt(177)
_X3 = 2 / 3
_X1, _X2 = _X3 * (1 + _ROOT) / 88, _X3 * (1 + _ROOT) / 352
_X4, _X5 = (-271 + 29 * _ROOT) / (315 * _X3), 11 * (-1 + _ROOT) / (1260 * _X3)
_X6, _X7 = 11 * (-9 + _ROOT) / (5040 * _X3), (89 - _ROOT) / (5040 * _X3**2)
_Y2 = (857 - 58 * _ROOT) / 630


def exponential(a: Array, bound: Array) -> Array:
    """Return e^a for square matrices on the last two axes.

    bound: upper bounds of their spectral norms, of their leading shape
    """
    squarings = number_of_squarings(bound, a.dtype)
    small = _taylor_minus_identity(a * jnp.exp2(-squarings.astype(a.dtype)))
    grown = jax.lax.while_loop(lambda c: c[1] > 0, lambda c: (2 * c[0] + c[0] @ c[0], c[1] - 1), (small, squarings))[0]
    return grown + identity(a)


def number_of_squarings(bound: Array, dtype: Any) -> Array:
    """Return how often e^{a / 2^k} is squared: the least k that brings the largest bound within the polynomial's reach.

    A trajectory that overflows has an infinite bound. It counts as the largest number there is: its result is not
    finite either way, and the loop ends.
    """
    # the remainder x^9 / 9! of the polynomial stays below a tenth of the last digit
    reach = (0.1 * math.factorial(9) * float(jnp.finfo(dtype).eps)) ** (1 / 9)
    largest = jnp.clip(jnp.max(bound), reach, jnp.finfo(dtype).max)
    needed = jnp.ceil(jnp.log2(largest) - math.log2(reach))
    return jnp.where(jnp.isnan(needed), 0, needed).astype(jnp.int32)


def exponential_skew(a: Array, t: Any) -> Array:
    """Return e^{ta} for skew-symmetric matrices a."""
    n = a.shape[-1]
    if n == 1:
        return jnp.ones_like(a)
    # the angle is taken as speed times t, not as the size of t a, which has no derivative at t = 0
    angle: Array = t * jnp.sqrt(0.5 * jnp.sum(a * a, axis=(-2, -1), keepdims=True))
    if n > 3:
        return exponential(t * a, jnp.abs(angle[..., 0, 0]))
    sine: Array = t * jnp.sinc(angle / jnp.pi)
    if n == 2:
        return jnp.cos(angle) * identity(a) + sine * a
    half: Array = t * jnp.sinc(angle / (2 * jnp.pi))
    return identity(a) + sine * a + (0.5 * half * half) * (a @ a)


def identity(like: Array) -> Array:
    """Return the identity matrix, broadcast to the shape of `like`."""
    return jnp.broadcast_to(jnp.eye(like.shape[-1], dtype=like.dtype), like.shape)


def transposed(a: Array) -> Array:
    """Return the transpose of the last two axes."""
    return jnp.swapaxes(a, -1, -2)


def _taylor_minus_identity(a: Array) -> Array:
    a2 = a @ a
    a4 = a2 @ (_X1 * a + _X2 * a2)
    a8 = (_X3 * a2 + a4) @ (_X4 * identity(a) + _X5 * a + _X6 * a2 + _X7 * a4)
    return a + _Y2 * a2 + a8
