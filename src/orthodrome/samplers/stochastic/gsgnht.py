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
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.dynamics.phase as stochastic
from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Memory, Number, Setting, Tree
from orthodrome.dynamics import splitting
from orthodrome.dynamics.friction import friction_problem, friction_range, noise_heat
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.dynamics.words import follow, word_problem
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
    thermostat: Array
    memory: Memory


class GSGNHTInfo(NamedTuple):
    """What one transition did; `thermostat` is xi, the rest as in `SGGMCInfo`."""

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array
    diverging: Array
    thermostat: Array


@pytree
class GSGNHT(StochasticSampler):
    """The Nose-Hoover thermostat along geodesics with stochastic gradients, on any manifold.

    gradient: any estimator
    step_size: epsilon; a number, or a tree with one per leaf (per element on flat leaves); None: learnt in warm-up
    friction: C, which the injected noise balances and at which the thermostat starts; None: learnt in warm-up. With one
        per leaf (C_i, of mean C) leaf i has the friction xi C_i / C, and counts with that factor in d xi
    num_steps: the words in one transition
    order: the word, over A, B and O
    thermostat_mass: how slowly xi moves; 1 is the paper's (with a learnt friction: in units of 1/C^2)
    reuse_batch: whether one batch serves all steps of a transition
    """

    letters: ClassVar[str] = "ABO"

    gradient: GradientEstimator
    step_size: Setting = None
    friction: Setting = None
    num_steps: int = static(default=1)
    order: str = static(default="ABOBA")
    thermostat_mass: Setting = 1.0
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

    def init(self, position: Tree, key: Array | None = None) -> GSGNHTState:
        """Return the state at an embedded position, with a random velocity and the thermostat at the friction."""
        velocity = stochastic.first_velocity(self.manifold, position, key)
        return GSGNHTState(
            position, velocity, leaves.mean_diagonal(self.friction, position), self.gradient.init(position)
        )

    def step(self, key: Array, state: GSGNHTState) -> tuple[GSGNHTState, GSGNHTInfo]:
        """Apply `num_steps` words."""
        word_key, batch_key = jax.random.split(key)
        manifold = self.manifold
        h = leaves.spread(self.step_size, state.position)
        friction = leaves.spread(self.friction, state.position)
        mean = leaves.mean_diagonal(self.friction, state.position)
        share_of = jax.tree.map(lambda c: c / mean.astype(c.dtype), friction)

        def letter(name: str, key: Array, phase: stochastic.Phase, share: Number) -> stochastic.Phase:
            x, v, xi, part = phase.position, phase.velocity, phase.thermostat, leaves.scaled(h, share)
            if name == "A":
                xi = xi + self._heat(x, v, jax.tree.map(lambda r, s: r * duration(s), share_of, part))
                x, v = splitting.flow(manifold, x, v, part)
            elif name == "B":
                v = splitting.damp(manifold, x, v, jax.tree.map(lambda r: r * xi.astype(r.dtype), share_of), part)
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
        info = GSGNHTInfo(end.logdensity, heat, largest_step(self.step_size), end.clipped, refused, end.thermostat)
        return GSGNHTState(end.position, end.velocity, end.thermostat, end.memory), info

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
        return state._replace(thermostat=leaves.mean_diagonal(self.friction, state.position))

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return h / (2 C) over the number of kicks, which have batches of their own unless they share one."""
        kicks = sum(self.order.count(letter) for letter in "OK")
        return noise_heat(self.step_size, self.friction, kicks / (self.num_steps if self.reuse_batch else 1), position)

    def bears_noise(self, told: bool) -> bool:
        """Return True: the thermostat compensates for the noise of the gradient, whether or not the estimator states
        V."""
        return True

    def absorbs(self, diagonal: Array, dimension: int) -> Array:
        """Return the part of the noise that the one thermostat compensates for: its mean."""
        return jnp.full_like(diagonal, jnp.sum(diagonal) / dimension)

    def tuned(self, measured: Measured) -> GSGNHT:
        """Return the sampler with step and friction as in `SGGMC`, and a thermostat as fast as the friction."""
        weakest, _ = friction_range(self.friction, measured.units)
        step = measured.in_units(measured.second_order(SECOND, weakest))
        tuned = replace(self, step_size=step) if self.step_size is None else self
        if self.friction is not None:
            return tuned
        mean = leaves.mean_diagonal(measured.frictions(), measured.units)
        return replace(tuned, friction=measured.frictions(), thermostat_mass=self.thermostat_mass / mean**2)
