"""Log Bessel functions at any order and argument.

Everything about I_nu follows from the ratio r_nu(x) = I_{nu+1}(x) / I_nu(x), by two steps that never cancel:

1. at an order m = nu + 20 or more, Debye's uniform expansion, with z = x / m, s = sqrt(1 + z^2), t = 1 / s,

       r_m = z / (1 + s) - z t^2 W(t) / (m U(t)),     U = sum_k u_k(t) / m^k,     W = U / 2 + t dU/dt,

2. down to nu by the recurrence in its stable direction, r_{k-1} = x / (2 k + x r_k).

The logarithm is taken relative to the leading power, which removes the large terms that otherwise cancel:

    L_nu(x) = log[Gamma(nu + 1) (2 / x)^nu I_nu(x)] = log 0F1(nu + 1; x^2 / 4)
            = L_{nu+1}(x) + log(1 + x r_{nu+1} / (2 nu + 2)),
    L_m(x)  = m [s - 1 - log((1 + s) / 2)] - log(s) / 2 + log(U(t) / U(1)).

L is also the log mean of exp(x u_1) over the uniform unit vectors u in 2 nu + 2 dimensions, and dL/dx = r. All
functions are differentiable in x (not in the order), keep the dtype of x, and take orders above -1.
Olver, NIST Digital Library of Mathematical Functions, 10.41(ii) and 10.29.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_derivatives import SymbolicZero
from jax.scipy.special import gammaln, xlogy

SHIFT, TERMS = 20, 9
"""From the order 20 on, nine terms of Debye's expansion are exact to rounding in double precision."""


def _debye_polynomials(terms: int) -> tuple[list[list[float]], list[list[float]]]:
    """Return the coefficients in t^2 of u_k(t) / t^k and of (u_k / 2 + t u_k') / t^k, for k = 0 .. terms."""
    u = [np.polynomial.Polynomial([1.0])]
    t = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(terms):
        u.append(t**2 * (1 - t**2) * u[-1].deriv() / 2 + ((1 - 5 * t**2) * u[-1]).integ() / 8)
    w = [p / 2 + t * p.deriv() for p in u]
    first, second = ([p.coef[k::2].tolist() for k, p in enumerate(family)] for family in (u, w))
    return first, second


DEBYE_U, DEBYE_W = _debye_polynomials(TERMS)


SINGLE_TERMS = 5
"""So many terms are exact to rounding in single precision: the next ones are below 2e-8 of the largest."""


def _horner(coefficients: list[Any], x: Array) -> Array:
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = x * value + c
    return value


def _terms(dtype: Any) -> int:
    """Return how many terms of Debye's expansion a type of numbers can tell from more of them."""
    return TERMS if jnp.finfo(dtype).eps < 1e-10 else SINGLE_TERMS


def _debye_sum(table: list[list[float]], t: Array, m: Array) -> Array:
    """Return sum_k table_k(t) / m^k without its first term, which is a constant."""
    square = t * t
    return t / m * _horner([_horner(row, square) for row in table[1 : _terms(t.dtype) + 1]], t / m)


def _correction(m: Array, t: Array) -> Array:
    """Return what of r_m the leading term z / (1 + s) lacks, over -z."""
    return t * t * (0.5 + _debye_sum(DEBYE_W, t, m)) / (m * (1 + _debye_sum(DEBYE_U, t, m)))


@jax.jit
def _descend(order: Array, x: Array) -> tuple[Array, Array]:
    """Return r at the order nu, and L_nu - L_{nu + SHIFT}."""

    def body(i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        r, log_sum = carry
        twice = 2 * (order + (SHIFT - i).astype(x.dtype))
        return x / (twice + x * r), log_sum + jnp.log1p(x * r / twice)

    m = order + SHIFT
    z = x / m
    s = jnp.sqrt(1 + z * z)
    top = z * (1 / (1 + s) - _correction(m, 1 / s))
    return jax.lax.fori_loop(0, SHIFT, body, (top, jnp.zeros_like(x)))


# By hand, as automatic differentiation of x / (2 k + x r) cancels; for itself, as a gradient does not need it.
@jax.jit
def _slope(order: Array, x: Array) -> Array:
    """Return dr/dx at the order nu."""

    def body(i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        r, slope = carry
        twice = 2 * (order + (SHIFT - i).astype(x.dtype))
        below = twice + x * r
        return x / below, (twice - x * x * slope) / below**2

    m = order + SHIFT
    z = x / m
    s = jnp.sqrt(1 + z * z)
    h, h_slope = jax.jvp(partial(_correction, m), (1 / s,), (jnp.ones_like(s),))
    top = z * (1 / (1 + s) - h), (1 / (s * (1 + s)) - h + z * z / s**3 * h_slope) / m
    return jax.lax.fori_loop(0, SHIFT, body, top)[1]


@partial(jax.jit, static_argnums=2)
def _log_top(m: Array, x: Array, scaled: bool) -> Array:
    """Return L_m(x), or L_m(x) - x when scaled."""
    z = x / m
    s = jnp.sqrt(1 + z * z)
    above = z * z / (1 + s)  # s - 1
    growth = 1 / (s + z) - 1 if scaled else above
    tail = jnp.log1p(_debye_sum(DEBYE_U, 1 / s, m)) - jnp.log1p(_debye_sum(DEBYE_U, jnp.ones_like(s), m))
    return m * (growth - jnp.log1p(above / 2)) - jnp.log(s) / 2 + tail


def _log_relative(order: Array, x: Array, scaled: bool) -> Array:
    return _log_top(order + SHIFT, x, scaled) + _descend(order, x)[1]


def _only_in_argument(tangent: Any) -> None:
    if not isinstance(tangent, SymbolicZero):
        raise NotImplementedError("the Bessel functions are not differentiable in their order, only in x")


@jax.custom_jvp
def _ratio(order: Array, x: Array) -> Array:
    return _descend(order, x)[0]


@jax.custom_jvp
def _log_mgf(order: Array, x: Array) -> Array:
    return _log_relative(order, x, scaled=False)


@jax.custom_jvp
def _log_mgf_scaled(order: Array, x: Array) -> Array:
    return _log_relative(order, x, scaled=True)


def _ratio_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    _only_in_argument(tangents[0])
    return _ratio(*primals), _slope(*primals) * tangents[1]


def _log_mgf_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    _only_in_argument(tangents[0])
    return _log_mgf(*primals), _ratio(*primals) * tangents[1]


def _log_mgf_scaled_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    _only_in_argument(tangents[0])
    return _log_mgf_scaled(*primals), (_ratio(*primals) - 1) * tangents[1]


_ratio.defjvp(_ratio_jvp, symbolic_zeros=True)
_log_mgf.defjvp(_log_mgf_jvp, symbolic_zeros=True)
_log_mgf_scaled.defjvp(_log_mgf_scaled_jvp, symbolic_zeros=True)


def _real_pair(order: Any, x: Any) -> tuple[Array, Array]:
    x = jnp.asarray(x)
    x = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)
    order = jnp.asarray(order, x.dtype)
    shape = jnp.broadcast_shapes(order.shape, x.shape)
    return jnp.broadcast_to(order, shape), jnp.broadcast_to(x, shape)


def bessel_ratio(order: Any, x: Any) -> Array:
    """Return I_{order+1}(x) / I_order(x) for x >= 0.

    It is the mean resultant length of the von Mises-Fisher law in 2 order + 2 dimensions.
    """
    return _ratio(*_real_pair(order, x))


def log_sphere_mgf(order: Any, x: Any) -> Array:
    """Return log 0F1(order + 1; x^2/4), the log mean of exp(x u_1) for u uniform on the sphere of R^(2 order + 2)."""
    return _log_mgf(*_real_pair(order, x))


def log_sphere_mgf_scaled(order: Any, x: Any) -> Array:
    """Return `log_sphere_mgf(order, x)` minus x, without the cancellation at large x."""
    return _log_mgf_scaled(*_real_pair(order, x))


def log_bessel_i(order: Any, x: Any) -> Array:
    """Return log I_order(x), the modified Bessel function of the first kind.

    order: a real number above -1
    x: numbers above 0
    """
    order, x = _real_pair(order, x)
    return _log_mgf(order, x) + _log_leading_power(order, x)


def log_bessel_ie(order: Any, x: Any) -> Array:
    """Return log(I_order(x) exp(-x)), without overflow at large x.

    order: a real number above -1
    x: numbers above 0
    """
    order, x = _real_pair(order, x)
    return _log_mgf_scaled(order, x) + _log_leading_power(order, x)


def _log_leading_power(order: Array, x: Array) -> Array:
    """Return log[(x/2)^nu / Gamma(nu + 1)]; at large orders by Stirling, so that the large terms do not cancel."""
    m = jnp.maximum(order, SHIFT)
    large = (
        m * (1 + jnp.log(x / (2 * m)))
        - jnp.log(2 * math.pi * m) / 2
        + jnp.log1p(_debye_sum(DEBYE_U, jnp.ones_like(m), m))
    )
    return jnp.where(order < SHIFT, xlogy(order, x / 2) - gammaln(order + 1), large)


def log_sphere_area(dimension: Any, dtype: Any = None) -> Array:
    """Return the log surface area of the unit sphere in R^dimension, log[2 pi^(d/2) / Gamma(d/2)].

    dimension: d
    dtype: of the result; None: JAX's default
    """
    half = jnp.asarray(dimension, dtype or float) / 2
    return math.log(2) + half * math.log(math.pi) - gammaln(half)
