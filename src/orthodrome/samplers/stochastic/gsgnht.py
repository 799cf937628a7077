"""Geodesic stochastic gradient Nose-Hoover thermostat (Liu, Zhu & Song 2016, Algorithm 2; errata 003-6, c-4, c-9).

As SGGMC, but the friction xi is a variable that grows while the chain is hot, and so compensates for gradient noise of
unknown (but constant and isotropic) V:

    dv = P(x) [grad log pi_H dt - xi v dt + N(0, 2 C dt)],     d xi = (v.v/m - 1) dt / mass,

m the dimension of the manifold. In equilibrium xi is normal about C (plus h V / 2) with the variance 1/(mass m). A
includes the thermostat, whose rate is constant along a geodesic; B is exp(-xi h). With a step eps_i and m_i numbers
per leaf,

    d xi = sum_i eps_i (v_i.v_i - m_i) / (mass m),

which is what keeps the law right when the steps differ (erratum c-9). The thermostat takes about mass xi / (v.v/m -
1) units of time to adapt: where steps are tiny, a small `thermostat_mass` lets it.

With `per_coordinate` every ambient coordinate has a thermostat of its own (`dynamics.thermostats`), which also finds a
V that differs between coordinates.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.dynamics.phase as stochastic
from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Memory, Number, Setting, Tree
from orthodrome.dynamics import splitting, thermostats
from orthodrome.dynamics.friction import friction_problem, friction_range, noise_heat
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.geodesic import Chart, of_geodesic_thermostat
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.dynamics.words import follow, word_problem
from orthodrome.errors import BadInput
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.linear.linear_step import duration
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf
from orthodrome.samplers.contract import NOTHING, StochasticSampler
from orthodrome.samplers.learnt import SECOND, Measured


class GSGNHTState(NamedTuple):
    """Position, velocity, thermostat, and the estimator's memory."""

    position: Tree
    velocity: Tree
    thermostat: Any
    memory: Memory


class GSGNHTInfo(NamedTuple):
    """What one transition did; `thermostat` is xi (the mean of several), the rest as in `SGGMCInfo`."""

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array
    diverging: Array
    thermostat: Array


@pytree
class GSGNHT(StochasticSampler):
    """The Nose-Hoover thermostat along geodesics with stochastic gradients, on any manifold (Liu et al. 2016).

    The dynamics of `SGGMC` with a friction xi that adapts to gradient noise of unknown, isotropic covariance:

        dv = P(x) [grad log pi_H dt - xi v dt + N(0, 2 C dt)],     d xi = (v.v/m - 1) dt / thermostat_mass,

    where m is the dimension of the manifold. There is no Metropolis test: the bias is of order epsilon^2.

    gradient: any estimator
    step_size: epsilon; a number, or a tree with one per leaf (per element on flat leaves); None: learnt in warm-up
    friction: C, which the injected noise balances and at which the thermostat starts; None: learnt in warm-up. With one
        per leaf (C_i, of mean C) leaf i has the friction xi C_i / C, and counts with that factor in d xi
    num_steps: the words in one transition
    order: the word, over A, B and O
    thermostat_mass: how slowly xi moves; 1 is the paper's (with a learnt friction: in units of 1/C^2)
    per_coordinate: whether each coordinate has a thermostat of its own; costs n^3 on curved leaves of n numbers a copy
    reuse_batch: whether one batch serves all steps of a transition
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    has_momentum: ClassVar[bool] = True
    letters: ClassVar[str] = "ABO"

    gradient: GradientEstimator
    step_size: Setting = None
    friction: Setting = None
    num_steps: int = static(default=1)
    order: str = static(default="ABOBA")
    thermostat_mass: Setting = 1.0
    per_coordinate: bool = static(default=False)
    reuse_batch: bool = static(default=False)
    compiled: bool = static(default=True)

    @property
    def learns(self) -> frozenset[str]:
        """The step and the friction if they are not set, and the units of the leaves."""
        unset = {name for name, value in (("step", self.step_size), ("friction", self.friction)) if value is None}
        return frozenset(unset | {"units"}) if unset else NOTHING

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return word_problem(self.order, self.letters) or friction_problem(self.friction, matrix=False)

    def ingredients_in(self, chart: Chart) -> Ingredients:
        """Return H, D and Q of the dynamics in the coordinates of a chart."""
        if [jnp.ndim(c) for c in jax.tree.leaves(self.friction)] != [0]:
            raise BadInput(f"friction is {self.friction!r:.60}; in coordinates it must be one number")
        return of_geodesic_thermostat(chart, self.per_coordinate)

    def init(self, position: Tree, key: Array | None = None) -> GSGNHTState:
        """Return the state at an embedded position, with a random velocity and the thermostat at the friction."""
        velocity = stochastic.first_velocity(self.manifold, position, key)
        return GSGNHTState(position, velocity, self._rest(position), self.gradient.init(position))

    def step(self, key: Array, state: GSGNHTState) -> tuple[GSGNHTState, GSGNHTInfo]:
        """Apply `num_steps` words."""
        word_key, batch_key = jax.random.split(key)
        manifold = self.manifold
        h = leaves.spread(self.step_size, state.position)
        friction = leaves.spread(self.friction, state.position)
        usual = leaves.mean_diagonal(self.friction, state.position)
        share_of = jax.tree.map(lambda c: c / usual.astype(c.dtype), friction)

        def letter(name: str, key: Array, phase: stochastic.Phase, share: Number) -> stochastic.Phase:
            x, v, xi, part = phase.position, phase.velocity, phase.thermostat, leaves.scaled(h, share)
            if name == "A":
                times = jax.tree.map(lambda r, s: r * duration(s), share_of, part)
                xi, x, v = self._flow(xi, x, v, part, times)
            elif name == "B":
                v = self._damped(xi, x, v, share_of, part)
            else:
                own, noise_key = jax.random.split(key)
                return stochastic.kicked(
                    self.gradient,
                    jax.random.clone(batch_key) if self.reuse_batch else own,
                    noise_key,
                    phase,
                    friction,
                    part,
                )
            return phase._replace(position=x, velocity=v, thermostat=xi)

        begun = stochastic.begin(state, state.thermostat)
        end, refused = stochastic.settled(begun, follow(self.order, self.num_steps, letter, word_key, begun))
        heat = stochastic.temperature(manifold, end.position, end.velocity)
        mean = leaves.mean_diagonal(end.thermostat, end.position)
        info = GSGNHTInfo(end.logdensity, heat, largest_step(self.step_size), end.clipped, refused, mean)
        return GSGNHTState(end.position, end.velocity, end.thermostat, end.memory), info

    def _flow(self, xi: Any, x: Tree, v: Tree, h: Tree, times: Tree) -> tuple[Any, Tree, Tree]:
        """Apply A: thermostat and geodesic; several thermostats take half of the time before it and half after."""
        if not self.per_coordinate:
            return xi + self._heat(x, v, times), *splitting.flow(self.manifold, x, v, h)
        half = leaves.scaled(times, 0.5)
        xi = thermostats.heated(self.manifold, xi, x, v, half, self.thermostat_mass)
        x, v = splitting.flow(self.manifold, x, v, h)
        return thermostats.heated(self.manifold, xi, x, v, half, self.thermostat_mass), x, v

    def _damped(self, xi: Any, x: Tree, v: Tree, share_of: Tree, h: Tree) -> Tree:
        """Apply B: the friction of the thermostat."""
        if not self.per_coordinate:
            return splitting.damp(self.manifold, x, v, jax.tree.map(lambda r: r * xi.astype(r.dtype), share_of), h)
        rates = jax.tree.map(lambda f, r, s: f * r * duration(s), xi, share_of, h)
        return thermostats.damped(self.manifold, rates, x, v)

    def _rest(self, position: Tree) -> Any:
        """Return the thermostat at the friction."""
        mean = leaves.mean_diagonal(self.friction, position)
        filled = lambda leaf: jnp.full(leaf.shape, mean, leaf.dtype)
        return jax.tree.map(filled, position) if self.per_coordinate else mean

    def _heat(self, x: Tree, v: Tree, times: Tree) -> Array:
        """Return the increment of the thermostat, sum_i eps_i (v_i.v_i - m_i) / (mass m)."""

        def leaf(m: Manifold, a: Array, w: Array, t: Array) -> Array:
            return jnp.sum(t * w**2) - jnp.mean(t) * m.dimension(a)

        dtype = trees.real_dtype(x)
        heats = [jnp.asarray(heat, dtype) for heat in jax.tree.leaves(per_leaf(self.manifold, leaf, x, v, times))]
        heat: Array = sum(heats) / (self.thermostat_mass * max(1, self.manifold.dimension(x)))
        return heat

    def restarted(self, state: GSGNHTState) -> GSGNHTState:
        """Return the state with the thermostat at the friction, which a change of settings has moved."""
        return state._replace(thermostat=self._rest(state.position))

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return h / (2 C) over the number of kicks, which have batches of their own unless they share one."""
        kicks = sum(self.order.count(letter) for letter in "OK")
        return noise_heat(self.step_size, self.friction, kicks / (self.num_steps if self.reuse_batch else 1), position)

    def bears_noise(self, told: bool) -> bool:
        """Return True: the thermostat compensates for the noise of the gradient, whether or not the estimator states
        V."""
        return True

    def absorbs(self, diagonal: Array, dimension: int) -> Array:
        """Return the part of the noise that is compensated for: its mean, or its diagonal if `per_coordinate`."""
        return diagonal if self.per_coordinate else jnp.full_like(diagonal, jnp.sum(diagonal) / dimension)

    def tuned(self, measured: Measured) -> GSGNHT:
        """Return the sampler with step and friction as in `SGGMC`, and a thermostat as fast as the friction."""
        weakest, _ = friction_range(self.friction, measured.units)
        step = measured.in_units(measured.second_order(SECOND, weakest))
        tuned = replace(self, step_size=step) if self.step_size is None else self
        if self.friction is not None:
            return tuned
        mean = leaves.mean_diagonal(measured.frictions(), measured.units)
        return replace(tuned, friction=measured.frictions(), thermostat_mass=self.thermostat_mass / mean**2)
