"""The stochastic gradient Nose-Hoover thermostat (Ding et al. 2014; Eq. 15 of Ma, Chen & Fox 2015).

    r  <- r + h g - h xi r + N(0, h (2 A - h V))
    x  <- x + h r
    xi <- xi + h (r.r / d - 1) / mass

with the new r in the second and third line (erratum 004-12). The friction xi finds by itself what the noise of the
gradient asks for: with an unknown V it settles at A + h V / 2. The recipe with z = (x, r, xi) and

    H = U + r.r / 2 + mass (d / 2) (xi - A)^2                                                (erratum 004-4)

so that xi ~ N(A, 1 / (mass d)). With `per_coordinate` every coordinate has its own xi_i, d = 1, which also finds a
V that differs between coordinates. Steps of their own for leaves enter the sum leaf by leaf (erratum c-9).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import steps, trees
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.gradients.noise import injected_noise
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.pytree import pytree, static
from orthodrome.samplers.flat import FlatInfo, bounced, no_step, refusal
from orthodrome.samplers.leapfrog import largest_step
from orthodrome.samplers.momentum import first_momentum, size


class ThermostatState(NamedTuple):
    """A position, its momentum r, the friction xi (one, or a tree like r), and what the estimator remembers."""

    position: Tree
    momentum: Tree
    thermostat: Any
    memory: Any


@pytree
class SGNHT:
    """Langevin dynamics whose friction adapts to the noise of the gradient.

    gradient: an estimator
    step_size: epsilon; a number, or a tree with one per leaf or element
    friction: A, a number: the noise that is added, and the friction at the start
    thermostat_mass: how slowly xi reacts
    per_coordinate: whether each coordinate has a thermostat of its own
    """

    gradient: GradientEstimator
    step_size: Any = None
    friction: Any = 1.0
    thermostat_mass: Any = 1.0
    per_coordinate: bool = static(default=False)
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    def supports(self, manifold: Manifold) -> str | None:
        """Why it cannot work there, and what to use instead."""
        return refusal(manifold, self.step_size, self.friction)

    def problem(self) -> str | None:
        """Settings that cannot be."""
        return no_step(self.step_size)

    def init(self, position: Tree, key: Array | None = None) -> ThermostatState:
        """The state at a position, with a random momentum (at rest without a key) and xi = A."""
        filled = lambda leaf: jnp.full(leaf.shape, self.friction, leaf.dtype)
        one = jnp.asarray(self.friction, trees.real_dtype(position))
        xi = jax.tree.map(filled, position) if self.per_coordinate else one
        return ThermostatState(position, first_momentum(key, position), xi, self.gradient.init(position))

    def step(self, key: Array, state: ThermostatState) -> tuple[ThermostatState, FlatInfo]:
        """Eq. (15): momentum, position, thermostat."""
        gradient_key, noise_key = jax.random.split(key)
        x, h = state.position, steps.per_leaf(self.step_size, state.position)
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        noise, clipped = injected_noise(noise_key, h, self.friction, estimate.noise, x)
        xi = state.thermostat if self.per_coordinate else jax.tree.map(lambda leaf: state.thermostat, x)
        kicked = lambda r, f, s, g, w: r + s * g - s * f * r + w
        r = jax.tree.map(kicked, state.momentum, xi, h, estimate.gradient, noise)
        thermostat = self._heated(state.thermostat, r, h)
        temperature = trees.dot(r, r) / size(x)
        x, r = bounced(self.manifold, x, jax.tree.map(lambda s, v: s * v, h, r), r)
        info = FlatInfo(estimate.logdensity, temperature, largest_step(self.step_size), clipped)
        return ThermostatState(x, r, thermostat, memory), info

    def _heated(self, xi: Any, r: Tree, h: Tree) -> Any:
        """xi after the time h: it grows while the momentum is too hot."""
        excess = jax.tree.map(lambda v, s: s * (v * v - 1) / self.thermostat_mass, r, h)
        if self.per_coordinate:
            return trees.add(xi, excess)
        return xi + jax.tree.reduce(jnp.add, jax.tree.map(jnp.sum, excess)) / size(r)
