"""Random-walk Metropolis along geodesics, on any manifold: no gradient needed.

A standard normal velocity in the tangent space at x is followed along its geodesic for the time h. The geodesic
flow is reversible and preserves volume on the tangent bundle, so (x, v) -> (x', -v') is an involution that keeps dx
dv, and

    min(1, pi_H(x') exp(-|v'|^2 / 2) / (pi_H(x) exp(-|v|^2 / 2)))

makes the law exact. On exact geodesics |v'| = |v| and only the densities remain; on a level set RATTLE's drift
changes the speed a little.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Number, Setting, Tree
from orthodrome.dynamics import splitting
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.linear import leaves
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.contract import ExactSampler
from orthodrome.targets import EmbeddedLaw, TemperedTarget


class RandomWalkState(NamedTuple):
    """A position with its log density; there is no gradient."""

    position: Tree
    logdensity: Array
    gradient: None = None


class RandomWalkInfo(NamedTuple):
    """What one transition did.

    lp: the log density
    acceptance_rate: the probability of acceptance
    step_size: the largest step of all leaves
    """

    lp: Array
    acceptance_rate: Array
    step_size: Array


@pytree
class RandomWalk(ExactSampler):
    """Random-walk Metropolis: a Gaussian step in the tangent space, followed along the geodesic.

    From x with v ~ N(0, I) in the tangent space the geodesic flow over the time `step_size` gives the proposal
    (x', v'), which is accepted with probability

        min(1, pi_H(x') exp(-|v'|^2 / 2) / (pi_H(x) exp(-|v|^2 / 2))).

    It needs no gradient.

    target: a distribution with a log density (`Target`, `Posterior`)
    step_size: the standard deviation of the step; a number or one per leaf (per element on flat leaves); None: learnt
        in warm-up
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    blind: ClassVar[bool] = True

    target: EmbeddedLaw
    step_size: Setting = None
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.target.manifold

    @property
    def target_acceptance(self) -> float:
        """The acceptance rate that dual averaging aims at, between the optimum of a random walk in one dimension,
        0.44, and in many, 0.23 (Roberts & Rosenthal 2001)."""
        return 0.35

    def at_temperature(self, beta: Number) -> RandomWalk:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
        return replace(self, target=TemperedTarget(self.target, beta))

    def init(self, position: Tree, key: Array | None = None) -> RandomWalkState:
        """Return the state at an embedded position."""
        return RandomWalkState(position, self.target.embedded_logdensity(position))

    def step(self, key: Array, state: RandomWalkState) -> tuple[RandomWalkState, RandomWalkInfo]:
        """Propose along a random geodesic; accept or stay."""
        velocity_key, accept_key = jax.random.split(key)
        v = self.manifold.random_velocity(velocity_key, state.position)
        h = leaves.spread(self.step_size, state.position)
        x, w = splitting.flow(self.manifold, state.position, v, h)
        logdensity = self.target.embedded_logdensity(x)
        change = logdensity - state.logdensity + (trees.dot(v, v) - trees.dot(w, w)) / 2
        change = jnp.where(jnp.isnan(change), -jnp.inf, change)
        accepted = jnp.log(jax.random.uniform(accept_key, dtype=change.dtype)) < change
        kept = trees.where(accepted, RandomWalkState(x, logdensity), state)
        return kept, RandomWalkInfo(kept.logdensity, jnp.exp(jnp.minimum(change, 0)), largest_step(self.step_size))
