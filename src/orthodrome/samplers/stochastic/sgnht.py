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

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Memory, Setting, Tree
from orthodrome.dynamics.flat import FlatInfo, bounced
from orthodrome.dynamics.friction import friction_problem, friction_range, noise_heat
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.thermostat import THERMOSTAT
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.dynamics.momentum import first_momentum
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.linear.noise import injected_noise
from orthodrome.samplers.learnt import EULER, Measured
from orthodrome.samplers.stochastic.flat import FlatSampler


class ThermostatState(NamedTuple):
    """A position, its momentum r, the friction xi (one number, or a tree like r), and the estimator's memory."""

    position: Tree
    momentum: Tree
    thermostat: Any
    memory: Memory


@pytree
class SGNHT(FlatSampler):
    """The stochastic gradient Nose-Hoover thermostat: Langevin dynamics whose friction adapts to the noise of the
    gradient.

        r  <- r + epsilon g - epsilon xi r + N(0, epsilon (2 A - epsilon V))
        x  <- x + epsilon r
        xi <- xi + epsilon (r.r / d - 1) / thermostat_mass

    (Ding et al. 2014), where g is the estimate of grad log pi in d dimensions and V, if the estimator knows it, the
    covariance of its error. With an unknown V, xi settles at A + epsilon V / 2.

    gradient: any estimator
    step_size: epsilon; a number, or a tree with one per leaf or element; None: learnt in warm-up
    friction: A: the noise that is added, and the friction at the start; a number, or one per leaf or element (A_i, of
        mean A: then i has the friction xi A_i / A, and counts with that factor in d xi); None: learnt together with the
        step, 1 if the step is set
    thermostat_mass: how slowly xi reacts (with a learnt friction: in units of 1/A^2)
    per_coordinate: whether each coordinate has a thermostat of its own
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    has_momentum: ClassVar[bool] = True

    gradient: GradientEstimator
    step_size: Setting = None
    friction: Setting = None
    thermostat_mass: Setting = 1.0
    per_coordinate: bool = static(default=False)
    compiled: bool = static(default=True)

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return friction_problem(self.friction, matrix=False)

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return h / (2 A)."""
        return noise_heat(self.step_size, leaves.one_if_none(self.friction), 1, position)

    def bears_noise(self, told: bool) -> bool:
        """Return True: the thermostat compensates for the noise of the gradient, whether or not the estimator states
        V."""
        return True

    def absorbs(self, diagonal: Array, dimension: int) -> Array:
        """Return what the thermostat compensates for: the mean of the noise, or its diagonal if `per_coordinate`."""
        return diagonal if self.per_coordinate else jnp.full_like(diagonal, jnp.sum(diagonal) / dimension)

    def restarted(self, state: ThermostatState) -> ThermostatState:
        """Return the state with the thermostat at the friction."""
        return state._replace(thermostat=self._rest(state.position))

    def tuned(self, measured: Measured) -> SGNHT:
        """Return the sampler with a friction of sqrt(L), the step that it allows, and a thermostat as fast as the
        friction."""
        step = measured.in_units(measured.second_order(EULER, *friction_range(self.friction, measured.units)))
        if self.friction is not None:
            return replace(self, step_size=step)
        mean = leaves.mean_diagonal(measured.frictions(), measured.units)
        mass = self.thermostat_mass / mean**2
        return replace(self, step_size=step, friction=measured.frictions(), thermostat_mass=mass)

    def ingredients(self) -> Ingredients:
        """Return H, D and Q."""
        return THERMOSTAT

    def init(self, position: Tree, key: Array | None = None) -> ThermostatState:
        """Return the state at a position, with a random momentum (at rest without a key) and xi = A."""
        momentum = first_momentum(key, position)
        return ThermostatState(position, momentum, self._rest(position), self.gradient.init(position))

    def step(self, key: Array, state: ThermostatState) -> tuple[ThermostatState, FlatInfo]:
        """Take one step of Eq. (15): momentum, position, thermostat."""
        gradient_key, noise_key = jax.random.split(key)
        x, h = state.position, leaves.spread(self.step_size, state.position)
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        friction = leaves.spread(leaves.one_if_none(self.friction), x)
        noise, clipped = injected_noise(noise_key, h, friction, estimate.noise, x)
        xi = state.thermostat if self.per_coordinate else jax.tree.map(lambda leaf: state.thermostat, x)
        time = jax.tree.map(lambda s, c: s * (c / self._mean(x).astype(c.dtype)), h, friction)
        kicked = lambda r, f, s, t, g, w: r + s * g - t * f * r + w
        r = jax.tree.map(kicked, state.momentum, xi, h, time, estimate.gradient, noise)
        thermostat = self._heated(state.thermostat, r, time)
        temperature = trees.dot(r, r) / trees.size(x)
        x, r = bounced(self.manifold, x, jax.tree.map(lambda s, v: s * v, h, r), r)
        info = FlatInfo(estimate.logdensity, temperature, largest_step(self.step_size), clipped)
        return ThermostatState(x, r, thermostat, memory), info

    def _mean(self, position: Tree) -> Array:
        """Return the mean friction A."""
        return leaves.mean_diagonal(leaves.one_if_none(self.friction), position)

    def _rest(self, position: Tree) -> Any:
        """Return the thermostat at rest, xi = A."""
        mean = self._mean(position)
        filled = lambda leaf: jnp.full(leaf.shape, mean, leaf.dtype)
        return jax.tree.map(filled, position) if self.per_coordinate else mean

    def _heated(self, xi: Any, r: Tree, time: Tree) -> Any:
        """Return xi after the time; it grows while the momentum is too hot."""
        excess = jax.tree.map(lambda v, s: s * (v * v - 1) / self.thermostat_mass, r, time)
        if self.per_coordinate:
            return trees.add(xi, excess)
        return xi + jax.tree.reduce(jnp.add, jax.tree.map(jnp.sum, excess)) / trees.size(r)
