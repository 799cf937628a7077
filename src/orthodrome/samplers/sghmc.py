"""Stochastic gradient Hamiltonian Monte Carlo (Chen, Fox & Guestrin 2014; Eq. 12 of Ma, Chen & Fox 2015).

    r <- r + h g - h C M^-1 r + N(0, h (2 C - h V))
    x <- x + h M^-1 r

with the new r in the second line (erratum 004-12). The recipe with z = (x, r), H = U + r' M^-1 r / 2, D = diag(0,
C) and Q = ((0, -I), (I, 0)). Without the friction C the minibatch's noise heats the momentum without end (the naive
sampler of Eq. 11); C must be at least h V / 2 (erratum 004-7), and where it is less the noise is clipped and
`clipped` says so.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.samplers.leaf_matrix as leaf_matrix
from orthodrome import steps, trees
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.gradients.noise import injected_noise
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.pytree import pytree, static
from orthodrome.samplers.flat import FlatInfo, bounced, no_step, refusal
from orthodrome.samplers.leapfrog import largest_step
from orthodrome.samplers.momentum import MomentumState, first_momentum, no_count, refreshed, size


@pytree
class SGHMC:
    """Second-order Langevin dynamics on flat spaces.

    gradient: an estimator
    step_size: epsilon; a number, or a tree with one per leaf or element
    friction: C; a number, an array of the leaf's shape, or a `MatrixFriction`; one for all leaves or one per leaf
    mass: M; a number, an array of the leaf's shape, or a `LeafMatrix`; one for all leaves or one per leaf
    refresh_every: so many transitions after which the momentum is drawn anew; None: never
    """

    gradient: GradientEstimator
    step_size: Any = None
    friction: Any = 1.0
    mass: Any = 1.0
    refresh_every: int | None = static(default=None)
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    def supports(self, manifold: Manifold) -> str | None:
        """Why it cannot work there, and what to use instead."""
        return refusal(manifold, self.step_size, self.friction, self.mass)

    def problem(self) -> str | None:
        """Settings that cannot be."""
        return no_step(self.step_size)

    def expected_temperature(self, position: Tree) -> float:
        """The scheme's own r'M^-1 r / m with exact gradients and a small curvature: 1 / (1 - h C M^-1 / 2)."""
        entries = (leaf_matrix.spread(matrix, position) for matrix in (self.friction, self.mass))
        c, m = (
            leaf_matrix.over(lambda a, x: jnp.mean(leaf_matrix.times(a, jnp.ones_like(x))), e, position)
            for e in entries
        )
        h = jax.tree.map(jnp.mean, steps.per_leaf(self.step_size, position))
        own = jax.tree.map(lambda h, c, m, x: x.size / (1 - h * c / m / 2), h, c, m, position)
        return float(jax.tree.reduce(jnp.add, own)) / size(position)

    def init(self, position: Tree, key: Array | None = None) -> MomentumState:
        """The state at a position, with a random momentum (at rest without a key)."""
        r = self._scaled(first_momentum(key, position))
        return MomentumState(position, r, self.gradient.init(position), no_count())

    def step(self, key: Array, state: MomentumState) -> tuple[MomentumState, FlatInfo]:
        """Eq. (12), the momentum first."""
        gradient_key, noise_key, momentum_key = jax.random.split(key, 3)
        x, h = state.position, steps.per_leaf(self.step_size, state.position)
        friction, mass = (leaf_matrix.spread(matrix, x) for matrix in (self.friction, self.mass))
        draw = lambda k: self._scaled(trees.normal_like(k, x))
        r = refreshed(momentum_key, self.refresh_every, state.transitions, state.momentum, draw)
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        noise, clipped = injected_noise(noise_key, h, friction, estimate.noise, x)
        drag = leaf_matrix.over(leaf_matrix.damped, friction, h, leaf_matrix.over(leaf_matrix.solve, mass, r))
        r = jax.tree.map(lambda r, s, g, d, w: r + s * g - d + w, r, h, estimate.gradient, drag, noise)
        velocity = leaf_matrix.over(leaf_matrix.solve, mass, r)
        temperature = trees.dot(r, velocity) / size(x)
        x, r = bounced(self.manifold, x, jax.tree.map(lambda s, v: s * v, h, velocity), r)
        info = FlatInfo(estimate.logdensity, temperature, largest_step(self.step_size), clipped)
        return MomentumState(x, r, memory, state.transitions + 1), info

    def _scaled(self, normals: Tree) -> Tree:
        """Momenta of N(0, M) from standard normals."""
        mass = leaf_matrix.spread(self.mass, normals)
        return leaf_matrix.over(lambda m, n: leaf_matrix.times(leaf_matrix.root(m), n), mass, normals)
