"""Frames two columns at a time (Byrne & Girolami 2013, section 6).

The two columns Y of a frame that remain when the others X_o are held fixed live on the frames of the space orthogonal
to X_o, whose geodesics are those of n x 2 frames with velocities orthogonal to X_o. So a trajectory of geodesic Monte
Carlo on the pair needs exponentials of 4 x 4 matrices instead of 2p x 2p:

    P(Y) U = U_o - Y (Y'U_o + U_o'Y) / 2,      U_o = U - X_o X_o'U.

All pairs take turns, in an order fixed beforehand; each transition has its own Metropolis test and leaves the target
distribution invariant, and so does the round.
"""

from __future__ import annotations

from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.leapfrog import Point
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.stiefel import Stiefel
from orthodrome.samplers.contract import ExactGradientSampler
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC, HMCInfo, HMCState

PAIR = Stiefel()


@pytree
class ColumnPairs(ExactGradientSampler):
    """Geodesic HMC on a `Stiefel` target, two columns at a time, all pairs in turn.

    gradient: an exact estimator (`FullGradient`)
    step_size: epsilon; None: learnt in warm-up
    num_steps: leapfrog steps of a trajectory
    """

    gradient: GradientEstimator
    step_size: Setting = None
    num_steps: Setting = 5
    compiled: bool = static(default=True)

    def supports(self, manifold: Manifold) -> str | None:
        """Return why the sampler cannot work on a manifold, and what to use instead; None if it can."""
        return None if isinstance(manifold, Stiefel) else "it moves columns of one Stiefel leaf; use GeodesicHMC"

    def problem_at(self, position: Tree) -> str | None:
        """Return why the sampler cannot start at a position, or None."""
        if np.ndim(position) != 2 or np.shape(position)[1] < 2:
            return f"the frame has the shape {np.shape(position)}; one n x p matrix with p >= 2 is needed"
        return None

    def init(self, position: Array, key: Array | None = None) -> HMCState:
        """Return the state at a frame."""
        estimate, _ = self.gradient.estimate(None, position, None)
        return HMCState(position, estimate.logdensity, estimate.gradient, jnp.zeros((), jnp.uint32))

    def step(self, key: Array, state: HMCState) -> tuple[HMCState, HMCInfo]:
        """Follow a trajectory of one pair of columns; accept or stay."""
        velocity_key, accept_key = jax.random.split(key)
        x = state.position
        pairs = jnp.asarray(list(combinations(range(x.shape[1]), 2)), jnp.int32)
        pair = pairs[(state.transitions % len(pairs)).astype(jnp.int32)]
        others = x.at[:, pair].set(0)
        v = _project(others, x[:, pair], jax.random.normal(velocity_key, (x.shape[0], 2), x.dtype))
        start = Point(x, v, state.logdensity, state.gradient)
        h, num_steps = jnp.asarray(self.step_size, x.dtype), jnp.asarray(self.num_steps, jnp.int32)
        end = jax.lax.fori_loop(0, num_steps, lambda _, point: self._leapfrog(point, pair, others, h), start)
        # the kinetic energy is that of the pair alone; the rest of the test is GeodesicHMC's
        return GeodesicHMC(self.gradient, h, num_steps).decide(accept_key, state, start, end, num_steps)

    def _leapfrog(self, point: Point, pair: Array, others: Array, h: Array) -> Point:
        y = point.position[:, pair]
        v = point.velocity + h / 2 * _project(others, y, point.gradient[:, pair])
        y, v = PAIR.geodesic(y, v, h)
        x = others.at[:, pair].set(y - others @ (others.T @ y))  # rounding must not lean towards the other columns
        estimate, _ = self.gradient.estimate(None, x, None)
        v = v + h / 2 * _project(others, y, estimate.gradient[:, pair])
        return Point(x, v, estimate.logdensity, estimate.gradient)


def _project(others: Array, y: Array, u: Array) -> Array:
    """Project u onto the tangent space at y of the frames that are orthogonal to the other columns."""
    return PAIR.project(y, u - others @ (others.T @ u))
