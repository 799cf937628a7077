"""Frames two columns at a time (Byrne & Girolami 2013, section 6), alone or beside other parameters.

The two columns Y of a frame that remain when the others X_o are held fixed live on the frames of the space orthogonal
to X_o, whose geodesics are those of n x 2 frames with velocities orthogonal to X_o. So a trajectory of geodesic Monte
Carlo on the pair needs exponentials of 4 x 4 matrices instead of 2p x 2p:

    P(Y) U = U_o - Y (Y'U_o + U_o'Y) / 2,      U_o = U - X_o X_o'U.

That is a manifold, `PairOfColumns`, on which `GeodesicHMC` takes its trajectory. In a `Product` every frame of two or
more columns has its pair, and all other parameters move along with them, whole. All pairs take turns, in an order
fixed beforehand; each transition has its own Metropolis test and leaves the target distribution invariant, and so
does the round.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.leapfrog import Point, leapfrog
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold
from orthodrome.manifolds.stiefel import Stiefel
from orthodrome.samplers.contract import ExactGradientSampler
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC, HMCInfo, HMCState, in_step

PAIR = Stiefel()


@pytree
class PairOfColumns(Stiefel):
    """The n x p frames that share all but two columns with the current one; velocities are 0 in the shared columns.

    pair: the numbers of the two columns
    """

    pair: Array

    def project(self, x: Array, u: Array) -> Array:
        own = _project(self._others(x), x[:, self.pair], u[:, self.pair])
        return jnp.zeros_like(u).at[:, self.pair].set(own)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        others = self._others(x)
        y, w = PAIR.geodesic(x[:, self.pair], v[:, self.pair], t)
        y = y - others @ (others.T @ y)  # rounding must not lean towards the other columns
        return others.at[:, self.pair].set(y), jnp.zeros_like(v).at[:, self.pair].set(w)

    def _others(self, x: Array) -> Array:
        return x.at[:, self.pair].set(0)


@pytree
class ColumnPairs(ExactGradientSampler):
    """Geodesic HMC on `Stiefel` frames two columns at a time, all pairs in turn; other parameters move as a whole.

    Each pair, given the other columns, has a transition of `GeodesicHMC` with a Metropolis test of its own (Byrne &
    Girolami 2013, section 6).

    gradient: an exact estimator (`FullGradient`)
    step_size: epsilon; a number, or a tree with one per leaf; None: learnt in warm-up
    num_steps: leapfrog steps of a trajectory
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    step_size: Setting = None
    num_steps: Setting = 5
    compiled: bool = static(default=True)

    def supports(self, manifold: Manifold) -> str | None:
        """Return why the sampler cannot work on a manifold, and what to use instead; None if it can."""
        kinds = jax.tree.leaves(_factors(manifold), is_leaf=is_manifold)
        if any(isinstance(kind, Stiefel) for kind in kinds):
            return None
        return "it moves columns of Stiefel leaves, and there are none; use GeodesicHMC"

    def problem_at(self, position: Tree) -> str | None:
        """Return why the sampler cannot start at a position, or None."""
        shapes = [np.shape(x) for m, x in self._leaves(position) if isinstance(m, Stiefel)]
        if any(len(shape) == 2 and shape[1] > 1 for shape in shapes):
            return None
        return f"the frames have the shapes {shapes}; an n x p matrix with p >= 2 is needed"

    def init(self, position: Tree, key: Array | None = None) -> HMCState:
        """Return the state at an embedded position."""
        return GeodesicHMC(self.gradient).init(position)

    def step(self, key: Array, state: HMCState) -> tuple[HMCState, HMCInfo]:
        """Follow a trajectory of one pair of columns and all other parameters; accept or stay."""
        velocity_key, accept_key = jax.random.split(key)
        hmc, inside = GeodesicHMC(self.gradient, self.step_size, self.num_steps), self._moving(state)
        v = inside.random_velocity(velocity_key, state.position)
        start = Point(state.position, v, state.logdensity, state.gradient)
        h, num_steps = hmc.steps(state), hmc.length(state)
        end = jax.lax.fori_loop(0, num_steps, lambda _, point: leapfrog(self.gradient, point, h, inside), start)
        return hmc.decide(accept_key, state, start, end, num_steps)

    def _moving(self, state: HMCState) -> Manifold:
        """Return the submanifold of the next transition."""
        moving = [_restricted(m, x, in_step(state.transitions)) for m, x in self._leaves(state.position)]
        if not isinstance(self.manifold, Product):
            return moving[0]
        return Product(jax.tree.unflatten(jax.tree.structure(self.manifold.factors, is_leaf=is_manifold), moving))

    def _leaves(self, position: Tree) -> list[tuple[Manifold, Any]]:
        """Return every manifold with its leaf of the position."""
        kinds = jax.tree.leaves(_factors(self.manifold), is_leaf=is_manifold)
        return list(zip(kinds, jax.tree.leaves(position), strict=True))


def _factors(manifold: Manifold) -> Any:
    return manifold.factors if isinstance(manifold, Product) else manifold


def _restricted(manifold: Manifold, x: Array, turn: Array) -> Manifold:
    """Return the frames of the pair of columns whose turn it is; any other manifold as it is."""
    if not isinstance(manifold, Stiefel) or x.ndim != 2 or x.shape[1] < 2:
        return manifold
    pairs = jnp.asarray(list(combinations(range(x.shape[1]), 2)), jnp.int32)
    return PairOfColumns(pairs[(turn % len(pairs)).astype(jnp.int32)])


def _project(others: Array, y: Array, u: Array) -> Array:
    """Project u onto the tangent space at y of the frames that are orthogonal to the other columns."""
    return PAIR.project(y, u - others @ (others.T @ u))
