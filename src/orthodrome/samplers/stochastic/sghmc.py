"""Stochastic gradient Hamiltonian Monte Carlo (Chen, Fox & Guestrin 2014; Eq. 12 of Ma, Chen & Fox 2015).

    r <- r + h g - h C M^-1 r + N(0, h (2 C - h V))
    x <- x + h M^-1 r

with the new r in the second line (erratum 004-12). The recipe with z = (x, r), H = U + r' M^-1 r / 2, D = diag(0,
C) and Q = ((0, -I), (I, 0)). Without the friction C the minibatch's noise heats the momentum without end (the naive
sampler of Eq. 11); C must be at least h V / 2 (erratum 004-7), and where it is less the noise is clipped and
`clipped` says so.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Number, Setting, Tree
from orthodrome.dynamics.flat import FlatInfo, bounced
from orthodrome.dynamics.friction import friction_problem, friction_range, noise_heat
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.momentum import of_hmc
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.dynamics.momentum import MomentumState, first_momentum, no_count, refreshed
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear import leaves, maps
from orthodrome.linear.linear_map import is_map
from orthodrome.linear.noise import injected_noise
from orthodrome.samplers.learnt import EULER, Measured
from orthodrome.samplers.stochastic.flat import FlatSampler


@pytree
class SGHMC(FlatSampler):
    """Stochastic gradient Hamiltonian Monte Carlo: second-order Langevin dynamics on flat spaces.

        r <- r + epsilon g - epsilon C M^-1 r + N(0, epsilon (2 C - epsilon V)),     x <- x + epsilon M^-1 r

    (Chen, Fox & Guestrin 2014), where g is the estimate of grad log pi and V, if the estimator knows it, the
    covariance of its error.

    gradient: any estimator
    step_size: epsilon; a number, or a tree with one per leaf or element; None: learnt in warm-up
    friction: C; a number, an array of the leaf's shape, `Dense` or `LowRank`; one for all leaves or one per leaf; None:
        learnt together with the step, 1 if the step is set
    mass: M, in the same forms; None: 1, and the warm-up learns a step for every element
    refresh_every: the number of transitions after which the momentum is drawn anew; None: never
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    has_momentum: ClassVar[bool] = True

    gradient: GradientEstimator
    step_size: Setting = None
    friction: Setting = None
    mass: Setting = None
    refresh_every: int | None = static(default=None)
    compiled: bool = static(default=True)

    @property
    def matrices(self) -> tuple[Any, ...]:
        """The settings that may hold matrices: C and M."""
        return self.friction, self.mass

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return friction_problem(self.friction)

    @property
    def learns_units(self) -> bool:
        """Whether the warm-up learns the units of the leaves: only if no mass is set."""
        return self.mass is None

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """Return M^-1."""
        return leaves.over(maps.inverse, leaves.spread(self.mass, position))

    def tuned(self, measured: Measured) -> SGHMC:
        """Return the sampler with a friction of sqrt(L), in the units of the leaves or times M, and the step that it
        allows."""
        if self.learns_units:
            weakest, strongest = friction_range(self.friction, measured.units)
            step = measured.in_units(measured.second_order(EULER, weakest, strongest))
            friction = measured.frictions()
        else:
            rate = self._rate(measured.units)
            step = measured.second_order(EULER, rate, rate)
            friction = jax.tree.map(partial(_friction_for, measured.rate), self.mass, is_leaf=is_map)
        return replace(self, step_size=step, friction=friction if self.friction is None else self.friction)

    def _rate(self, like: Tree) -> Array | None:
        """Return the mean of C M^-1, if C is set."""
        if self.friction is None:
            return None
        friction, mass = (leaves.spread(matrix, like) for matrix in (self.friction, self.mass))
        return leaves.mean_diagonal(friction, like) / leaves.mean_diagonal(mass, like)

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return h / (2 C), whatever the mass."""
        return noise_heat(self.step_size, leaves.one_if_none(self.friction), 1, position)

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the mean of r'M^-1 r / m under the scheme itself, with exact gradients and a small curvature: 1 /
        (1 - h C M^-1 / 2)."""
        c, m = (leaves.over(maps.diagonal, a, position) for a in self._matrices(position))
        h = leaves.spread(self.step_size, position)
        own = jax.tree.map(lambda h, c, m: jnp.sum(1 / (1 - h * c / m / 2)), h, c, m)
        return jax.tree.reduce(jnp.add, own) / trees.size(position)

    def ingredients(self) -> Ingredients:
        """Return H, D and Q."""
        return of_hmc(self.refresh_every)

    def init(self, position: Tree, key: Array | None = None) -> MomentumState:
        """Return the state at a position, with a random momentum (at rest without a key)."""
        r = self._scaled(first_momentum(key, position))
        return MomentumState(position, r, self.gradient.init(position), no_count())

    def step(self, key: Array, state: MomentumState) -> tuple[MomentumState, FlatInfo]:
        """Take one step of Eq. (12), the momentum first."""
        gradient_key, noise_key, momentum_key = jax.random.split(key, 3)
        x, h = state.position, leaves.spread(self.step_size, state.position)
        friction, mass = self._matrices(x)
        draw = lambda k: self._scaled(trees.normal_like(k, x))
        r = refreshed(momentum_key, self.refresh_every, state.transitions, state.momentum, draw)
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        noise, clipped = injected_noise(noise_key, h, friction, estimate.noise, x)
        drag = leaves.over(maps.damped, friction, h, leaves.over(maps.solve, mass, r))
        r = jax.tree.map(lambda r, s, g, d, w: r + s * g - d + w, r, h, estimate.gradient, drag, noise)
        velocity = leaves.over(maps.solve, mass, r)
        temperature = trees.dot(r, velocity) / trees.size(x)
        x, r = bounced(self.manifold, x, jax.tree.map(lambda s, v: s * v, h, velocity), r)
        info = FlatInfo(estimate.logdensity, temperature, largest_step(self.step_size), clipped)
        return MomentumState(x, r, memory, state.transitions + 1), info

    def _matrices(self, like: Tree) -> tuple[Tree, Tree]:
        """Return C and M, one per leaf."""
        unset = leaves.one_if_none
        return leaves.spread(unset(self.friction), like), leaves.spread(unset(self.mass), like)

    def _scaled(self, normals: Tree) -> Tree:
        """Return momenta with the distribution N(0, M) from standard normals."""
        _, mass = self._matrices(normals)
        return leaves.over(lambda m, n: maps.apply(maps.root(m), n), mass, normals)


def _friction_for(rate: Array, mass: Any) -> Any:
    """Return the friction matrix rate * M."""
    return mass.scaled(rate) if is_map(mass) else rate * jnp.asarray(mass, rate.dtype)
