"""The generalised leapfrog for a metric that depends on the position (Girolami & Calderhead 2011, section 6).

    H(x, p) = -log pi(x) + log det G(x) / 2 + p' G(x)^-1 p / 2

    p <- p - (h/2) dH/dx(x, p)                       implicit in p
    x <- x + (h/2) [G(x)^-1 + G(x_new)^-1] p         implicit in x_new
    p <- p - (h/2) dH/dx(x, p)                       explicit

With w = G^-1 p, dH/dx = -g + d/dx <G(x), (G^-1 - w w') / 2>, where the bracket's right side is held fixed: one
derivative of the metric, backward, and no derivative of a solve.

The implicit lines are solved by fixed-point iterations. The step is reversible and keeps volume if they have converged
to the same solution there and back; so it is also taken back, and three faults are told, each of which makes the move
a rejected one: a metric that is not positive definite, iterations that did not converge, a step that does not lead
back to where it began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.typing import DTypeLike

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Setting, Tree
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear.sweeps import Inverted, invert, outer, product
from orthodrome.metrics.local_metric import PointMetric

BACK = 100
"""A step whose reverse ends within this many tolerances of the start counts as reversible; each of the two steps has
the error of three solves, amplified by their condition."""


class PhasePoint(NamedTuple):
    """A position and momentum as vectors, with the log density and its gradient there."""

    x: Array
    p: Array
    logdensity: Array
    gradient: Array


class Faults(NamedTuple):
    """Whether a step failed, and why: at most one is true."""

    not_definite: Array
    not_converged: Array
    not_reversible: Array


@pytree
class System:
    """The Hamiltonian over vectors; `unravel` turns a vector into a position."""

    gradient: GradientEstimator
    metric: PointMetric
    tolerance: Setting
    unravel: Callable[[Array], Tree] = static()
    max_iterations: int = static(default=50)

    def look(self, x: Array) -> tuple[Array, Array]:
        """Return log density and gradient at x."""
        estimate, _ = self.gradient.estimate(None, self.unravel(x), None)
        return estimate.logdensity, ravel_pytree(estimate.gradient)[0]

    def metric_at(self, x: Array) -> Inverted:
        """Return the metric at x with its inverse and determinant."""
        return invert(self.metric.matrix(self.unravel(x)))

    def energy(self, point: PhasePoint) -> Array:
        """Return H; infinite where it is NaN."""
        metric = self.metric_at(point.x)
        kinetic = jnp.sum(point.p * product(metric.inverse, point.p)) / 2
        h = kinetic + metric.log_determinant / 2 - point.logdensity
        return jnp.where(jnp.isnan(h), jnp.inf, h)

    def step(self, point: PhasePoint, h: Array) -> tuple[PhasePoint, Faults]:
        """Take one step and its reverse; return the end of the step and its faults."""
        end, definite, converged = self._there(point, h)
        back, _, returns = self._there(end._replace(p=-end.p), h)
        apart = jnp.maximum(self._distance(back.x, point.x), self._distance(back.p, -point.p))
        reversible = returns & (apart <= BACK * self.tolerance)
        # each fault is told once, the first one
        return end, Faults(~definite, definite & ~converged, definite & converged & ~reversible)

    def _there(self, point: PhasePoint, h: Array) -> tuple[PhasePoint, Array, Array]:
        force, metric = self._force(point.x, point.gradient)
        p, first = self._solve(lambda q: point.p - h / 2 * force(q), point.p)
        ahead = product(metric.inverse, p)
        move = lambda y: point.x + h / 2 * (ahead + product(self.metric_at(y).inverse, p))
        x, second = self._solve(move, point.x)
        logdensity, gradient = self.look(x)
        force, there = self._force(x, gradient)
        definite = jnp.isfinite(metric.log_determinant) & jnp.isfinite(there.log_determinant)
        return PhasePoint(x, p - h / 2 * force(p), logdensity, gradient), definite, first & second

    def _force(self, x: Array, gradient: Array) -> tuple[Callable[[Array], Array], Inverted]:
        """Return dH/dx at x as a function of p, and the metric at x."""
        g, pull = jax.vjp(lambda y: self.metric.matrix(self.unravel(y)), x)
        metric = invert(g)

        def force(p: Array) -> Array:
            w = product(metric.inverse, p)
            return pull((metric.inverse - outer(w, metric.inverse)) / 2)[0] - gradient

        return force, metric

    def _solve(self, function: Callable[[Array], Array], start: Array) -> tuple[Array, Array]:
        """Solve y = function(y) by iteration; return y and whether it has converged."""

        def unfinished(carry: tuple[Array, Array, Array]) -> Array:
            _, apart, count = carry
            return (apart > self.tolerance) & (count < self.max_iterations)

        def iterate(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            y, _, count = carry
            new = function(y)
            return new, self._distance(new, y), count + 1

        first = (start, jnp.full((), jnp.inf, start.dtype), jnp.zeros((), jnp.int32))
        y, apart, _ = jax.lax.while_loop(unfinished, iterate, first)
        return y, apart <= self.tolerance

    @staticmethod
    def _distance(a: Array, b: Array) -> Array:
        """Return the largest difference, relative to numbers above one."""
        return jnp.max(jnp.abs(a - b) / (1 + jnp.abs(b)))


def default_tolerance(dtype: DTypeLike) -> float:
    """Return a relative tolerance of a hundred rounding errors, which the iterations reach in either precision."""
    return 100 * float(jnp.finfo(dtype).eps)
