"""What the geodesic samplers with stochastic gradients share: the phase, kicks from estimates, and failed moves.

There is no Metropolis test that would reject a bad move. So a step that ends at a non-finite position, or where the
density is zero, is not taken; the position is kept, the velocity reversed, and `diverging` reports it. A gradient or
a density that is NaN at a finite position is an error of the model and not of the step: the position becomes NaN,
for the run to stop and name the chain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Memory, State, Tree
from orthodrome.dynamics import splitting
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.manifold import Manifold


class Phase(NamedTuple):
    """Position, velocity and thermostat, the estimator's memory, and what the kicks of this step have reported."""

    position: Tree
    velocity: Tree
    memory: Memory
    thermostat: Any
    logdensity: Array
    clipped: Array
    broken: Array


def begin(state: State, thermostat: Any = None) -> Phase:
    """Return the phase at the beginning of a step."""
    no = jnp.zeros((), bool)
    lp = jnp.zeros((), trees.real_dtype(state.position))
    return Phase(state.position, state.velocity, state.memory, thermostat, lp, no, no)


def kicked(
    gradient: GradientEstimator, batch_key: Array, noise_key: Array | None, phase: Phase, friction: Tree, h: Tree
) -> Phase:
    """Apply O (with a `noise_key`) or K (without one) from a new estimate."""
    x, v = phase.position, phase.velocity
    estimate, memory = gradient.estimate(batch_key, x, phase.memory)
    clipped = phase.clipped
    if noise_key is None:
        v = splitting.kick(gradient.manifold, x, v, estimate.gradient, h)
    else:
        args = (estimate.gradient, estimate.noise, friction, h)
        v, now = splitting.noisy_kick(noise_key, gradient.manifold, x, v, *args)
        clipped = clipped | now
    nan = jnp.isnan(estimate.logdensity) | jnp.isnan(trees.dot(estimate.gradient, estimate.gradient))
    broken = phase.broken | (nan & jnp.isfinite(trees.dot(x, x)))
    lp = jnp.asarray(estimate.logdensity, phase.logdensity.dtype)
    return Phase(x, v, memory, phase.thermostat, lp, clipped, broken)


def settled(begun: Phase, ended: Phase) -> tuple[Phase, Array]:
    """Return the phase that is kept, and whether the move was rejected."""
    inside = ended.logdensity != -jnp.inf
    good = inside & trees.all_finite(ended.position) & trees.all_finite(ended.velocity)
    back = begun._replace(velocity=trees.negate(begun.velocity), logdensity=ended.logdensity, clipped=ended.clipped)
    kept = trees.where(good, ended._replace(broken=ended.broken), back._replace(broken=ended.broken))
    spoilt = jax.tree.map(lambda a: jnp.where(ended.broken, jnp.nan, a), kept.position)
    return kept._replace(position=spoilt), ~good


def temperature(manifold: Manifold, x: Tree, v: Tree) -> Array:
    """Return the kinetic temperature v.v / m."""
    return trees.dot(v, v) / max(1, manifold.dimension(x))


def first_velocity(manifold: Manifold, position: Tree, key: Array | None) -> Tree:
    """Draw a velocity in the tangent space; return zeros without a key."""
    return trees.scale(0.0, position) if key is None else manifold.random_velocity(key, position)
