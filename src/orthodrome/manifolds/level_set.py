"""Implicit manifolds c(x) = 0: RATTLE's drift with the reversibility check.

The tangent space is the null space of the Jacobian J. The position moves along v and is put back on the manifold along
the normals at the *old* point; the velocity is then made tangent at the new one:

    x' = x + t v + J(x)'l   with c(x') = 0 (Newton in l),      v' = P(x') (v + J(x)'l / t).

This is reversible and symplectic (Leimkuhler & Reich 2004, chapter 7): the same equations lead from (x', -v') to (x,
-v), if Newton finds the same solution. So it is tried (Zappa, Holmes-Cerf & Goodman 2018; Lelievre, Rousset & Stoltz
2019): where the way back fails, NaN is returned, which samplers take as a rejected move. The speed changes by O(t^2),
as RATTLE's does.

c takes ONE point (of `point_ndim` axes) and, if given, `data`; it returns a scalar or a vector of full-rank
constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.manifolds.manifold import Manifold


@pytree
class LevelSet(Manifold):
    """Points with constraint(x) = 0; densities with respect to the surface measure.

    `random_point` is a normal draw moved onto the manifold: a start, not a uniform draw.

    constraint: `constraint(x)`, or `constraint(x, data)` if there are data, of ONE point; returns one number or a
        vector
    data: a tree of arrays, or None
    point_ndim: the number of axes of one point
    max_iterations: of Newton's method, after which a move is rejected
    """

    exact_flow = False
    pins = True
    constraint: Callable[..., Array] = static()
    data: Any = None
    point_ndim: int = static(default=1)  # type: ignore[misc]
    max_iterations: int = static(default=30)

    def dimension(self, x: Array) -> int:
        point = jax.ShapeDtypeStruct(x.shape[x.ndim - self.point_ndim :], x.dtype)
        return int(x.size - x.size // point.size * jax.eval_shape(self._value, point).size)

    def project(self, x: Array, u: Array) -> Array:
        projected: Array = self._each(self._project, x, u)
        return projected

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        time = jnp.asarray(t, x.dtype)
        moved: tuple[Array, Array] = self._each(lambda a, b: self._checked_drift(a, b, time), x, v)
        return moved

    def retract(self, x: Array) -> Array:
        nearest: Array = self._each(self._nearest, x)
        return nearest

    def random_point(self, key: Array, like: Any) -> Array:
        return self.retract(jax.random.normal(key, like.shape, like.dtype))

    def distance(self, x: Array) -> Array:
        return jnp.max(jnp.abs(self._each(self._value, x)))

    def max_step(self, x: Array) -> float:
        return jnp.inf

    def _each(self, function: Any, *arrays: Array) -> Any:
        for _ in range(arrays[0].ndim - self.point_ndim):
            function = jax.vmap(function)
        return function(*arrays)

    def _value(self, x: Array) -> Array:
        value = self.constraint(x) if self.data is None else self.constraint(x, self.data)
        return jnp.ravel(value)

    def _jacobian(self, x: Array) -> Array:
        jacobian: Array = jax.jacrev(self._value)(x)
        return jacobian.reshape(-1, x.size)

    def _project(self, x: Array, u: Array) -> Array:
        jacobian = self._jacobian(x)
        normals = jnp.linalg.qr(jacobian.T)[0] if len(jacobian) > 1 else _unit(jacobian.T)
        return u - (normals @ (normals.T @ u.ravel())).reshape(u.shape)

    def _checked_drift(self, x: Array, v: Array, t: Array) -> tuple[Array, Array]:
        y, w = self._drift(x, v, t)
        back, _ = self._drift(y, -w, t)
        scale = 1 + jnp.max(jnp.abs(x))
        returned = jnp.max(jnp.abs(back - x)) <= scale * jnp.sqrt(jnp.finfo(x.dtype).eps)
        return jnp.where(returned, y, jnp.nan), jnp.where(returned, w, jnp.nan)

    def _drift(self, x: Array, v: Array, t: Array) -> tuple[Array, Array]:
        normals, ahead = self._jacobian(x), x + t * v
        force = self._multiplier(normals, ahead)
        pull = (force @ normals).reshape(x.shape)
        y = ahead + pull
        # not (y - x) / t, which loses digits at small t: the error of the pull is normal and projected away
        return y, self._project(y, v + pull / jnp.where(t == 0, 1, t))

    def _multiplier(self, normals: Array, ahead: Array) -> Array:
        """Return the l that solves c(ahead + normals'l) = 0, or NaN if Newton's method does not converge."""

        def newton(force: Array) -> Array:
            y = ahead + (force @ normals).reshape(ahead.shape)
            return _solve(self._jacobian(y) @ normals.T, self._value(y))

        size = jnp.sqrt(jnp.sum(normals * normals, axis=1))
        return self._iterate(newton, jnp.zeros(len(normals), ahead.dtype), lambda step: step * size, ahead)

    def _nearest(self, x: Array) -> Array:
        def gauss_newton(y: Array) -> Array:
            jacobian = self._jacobian(y)
            return (_solve(jacobian @ jacobian.T, self._value(y)) @ jacobian).reshape(y.shape)

        return self._iterate(gauss_newton, x, lambda step: step, x)

    def _iterate(self, correction: Any, start: Array, displacement: Any, x: Array) -> Array:
        # convergence is quadratic: after a correction of eps^0.6 the error is about eps^1.2
        tolerance = (1 + jnp.max(jnp.abs(x))) * jnp.finfo(x.dtype).eps ** 0.6

        def unfinished(carry: tuple[Array, Array, Array]) -> Array:
            return ~carry[1] & (carry[2] < self.max_iterations)

        def improve(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            step = correction(carry[0])
            return carry[0] - step, jnp.max(jnp.abs(displacement(step))) <= tolerance, carry[2] + 1

        start_carry = (start, jnp.zeros((), bool), jnp.zeros((), jnp.int32))
        solution, done, _ = jax.lax.while_loop(unfinished, improve, start_carry)
        return jnp.where(done, solution, jnp.nan)


def _unit(column: Array) -> Array:
    return column / jnp.sqrt(jnp.sum(column * column))


def _solve(matrix: Array, value: Array) -> Array:
    return value / matrix[0] if len(value) == 1 else jnp.linalg.solve(matrix, value)
