"""Geodesic stochastic gradient Nose-Hoover thermostat (Liu, Zhu & Song 2016, Algorithm 2; errata 003-6, c-4, c-9).

As SGGMC, but the friction xi is a variable that warms up when the chain is hot, and so makes up for gradient noise of
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

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import splitting, steps, trees
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.gradients.noise import duration
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.manifolds.product import per_leaf
from orthodrome.pytree import pytree, replace, static
from orthodrome.samplers import stochastic
from orthodrome.samplers.leapfrog import largest_step
from orthodrome.samplers.words import follow, word_problem


class GSGNHTState(NamedTuple):
    """Position, velocity, thermostat, and what the estimator remembers."""

    position: Tree
    velocity: Tree
    thermostat: Array
    memory: Any


class GSGNHTInfo(NamedTuple):
    """What one transition did; `thermostat` is xi, the rest as in `SGGMCInfo`."""

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array
    diverging: Array
    thermostat: Array


@pytree
class GSGNHT:
    """A thermostat along geodesics with stochastic gradients, on any manifold.

    friction: C, one number: what the noise is injected for, and where the thermostat starts; None: learnt in warm-up
    thermostat_mass: how slowly xi moves; 1 is the paper's
    gradient, step_size, num_steps, order (over A, B and O), reuse_batch: as in `SGGMC`
    """

    letters: ClassVar[str] = "ABO"

    gradient: GradientEstimator
    step_size: Any = None
    friction: Any = None
    num_steps: int = static(default=1)
    order: str = static(default="ABOBA")
    thermostat_mass: Any = 1.0
    reuse_batch: bool = static(default=False)
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    def problem(self) -> str | None:
        """What the doors should refuse."""
        return word_problem(self.order, self.letters) or stochastic.friction_problem(self.friction, scalar=True)

    def init(self, position: Tree, key: Array | None = None) -> GSGNHTState:
        """At an embedded position, with a random velocity; the thermostat at the friction."""
        velocity = stochastic.first_velocity(self.manifold, position, key)
        thermostat = jnp.asarray(self.friction, trees.real_dtype(position))
        return GSGNHTState(position, velocity, thermostat, self.gradient.init(position))

    def step(self, key: Array, state: GSGNHTState) -> tuple[GSGNHTState, GSGNHTInfo]:
        """`num_steps` words."""
        word_key, batch_key = jax.random.split(key)
        manifold = self.manifold
        h = steps.per_leaf(self.step_size, state.position)
        friction = stochastic.friction_tree(self.friction, state.position)

        def letter(name: str, key: Array, phase: stochastic.Phase, share: Any) -> stochastic.Phase:
            x, v, xi, part = phase.position, phase.velocity, phase.thermostat, splitting.times(h, share)
            if name == "A":
                xi = xi + self._heat(x, v, part)
                x, v = splitting.flow(manifold, x, v, part)
            elif name == "B":
                v = splitting.damp(manifold, x, v, stochastic.friction_tree(xi, x), part)
            else:
                own, noise_key = jax.random.split(key)
                return stochastic.kicked(
                    self.gradient, batch_key if self.reuse_batch else own, noise_key, phase, friction, part
                )
            return phase._replace(position=x, velocity=v, thermostat=xi)

        begun = stochastic.begin(state, state.thermostat)
        end, refused = stochastic.settled(begun, follow(self.order, self.num_steps, letter, word_key, begun))
        heat = stochastic.temperature(manifold, end.position, end.velocity)
        info = GSGNHTInfo(end.logdensity, heat, largest_step(self.step_size), end.clipped, refused, end.thermostat)
        return GSGNHTState(end.position, end.velocity, end.thermostat, end.memory), info

    def _heat(self, x: Tree, v: Tree, h: Tree) -> Array:
        """sum_i eps_i (v_i.v_i - m_i) / (mass m)."""

        def leaf(m: Manifold, a: Array, w: Array, s: Any) -> Array:
            t = duration(s)
            return jnp.sum(t * w**2) - jnp.mean(t) * m.dimension(a)

        dtype = trees.real_dtype(x)
        heats = [jnp.asarray(heat, dtype) for heat in jax.tree.leaves(per_leaf(self.manifold, leaf, x, v, h))]
        return sum(heats) / (self.thermostat_mass * max(1, self.manifold.dimension(x)))

    def expected_temperature(self, position: Tree) -> float:
        """The thermostat holds v.v/m at one."""
        return 1.0

    def tuned(self, step_size: Tree, friction: Tree) -> GSGNHT:
        """With what was learnt, where nothing was set; one friction, the smallest of the leaves'."""
        smallest = jnp.min(jnp.stack([jnp.min(jnp.asarray(c)) for c in jax.tree.leaves(friction)]))
        return replace(
            self,
            step_size=step_size if self.step_size is None else self.step_size,
            friction=smallest if self.friction is None else self.friction,
        )
