"""What the geodesic samplers with stochastic gradients share: the phase, kicks from estimates, and bad moves.

There is no Metropolis test that would refuse a bad move. So: a step that ends outside the numbers, or where the
density is zero, is not taken; the position is kept, the velocity turned round, and `diverging` says so. A gradient or
a density that is NaN at a point that is fine is an error of the model and not of the step: the position becomes NaN,
for the run to stop and name the chain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Memory, Setting, State, Tree
from orthodrome.dynamics import splitting
from orthodrome.dynamics.words import own_temperature
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import steps
from orthodrome.linear.noise import MatrixFriction, budget, duration, is_noise, spread
from orthodrome.manifolds.manifold import Manifold


class Phase(NamedTuple):
    """Where the dynamics is, what the estimator remembers, and what the last estimate said."""

    position: Tree
    velocity: Tree
    memory: Memory
    thermostat: Any
    logdensity: Array
    clipped: Array
    broken: Array


def begin(state: State, thermostat: Any = None) -> Phase:
    """The phase at the beginning of a step."""
    no = jnp.zeros((), bool)
    lp = jnp.zeros((), trees.real_dtype(state.position))
    return Phase(state.position, state.velocity, state.memory, thermostat, lp, no, no)


def kicked(
    gradient: GradientEstimator, batch_key: Array, noise_key: Array | None, phase: Phase, friction: Tree, h: Tree
) -> Phase:
    """O (with a `noise_key`) or K (without) from a fresh estimate."""
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
    """The phase that is kept, and whether the move was refused."""
    inside = ended.logdensity != -jnp.inf
    good = inside & trees.all_finite(ended.position) & trees.all_finite(ended.velocity)
    back = begun._replace(velocity=trees.negate(begun.velocity), logdensity=ended.logdensity, clipped=ended.clipped)
    kept = trees.where(good, ended._replace(broken=ended.broken), back._replace(broken=ended.broken))
    spoilt = jax.tree.map(lambda a: jnp.where(ended.broken, jnp.nan, a), kept.position)
    return kept._replace(position=spoilt), ~good


def temperature(manifold: Manifold, x: Tree, v: Tree) -> Array:
    """v.v / m."""
    return trees.dot(v, v) / max(1, manifold.dimension(x))


def first_velocity(manifold: Manifold, position: Tree, key: Array | None) -> Tree:
    """A random velocity; at rest without a key."""
    return trees.scale(0.0, position) if key is None else manifold.random_velocity(key, position)


def friction_tree(friction: Setting, position: Tree) -> Tree:
    """One friction per leaf of the position."""
    return jax.tree.unflatten(jax.tree.structure(position), spread(friction, position))


def mean_friction(friction: Setting, position: Tree) -> Array:
    """The frictions of the leaves, averaged over the numbers of the position."""
    entries, dtype = jax.tree.leaves(friction_tree(friction, position)), trees.real_dtype(position)
    leaves = jax.tree.leaves(position)
    total = sum(jnp.mean(c).astype(dtype) * x.size for c, x in zip(entries, leaves, strict=True))
    return total / sum(x.size for x in leaves)


def friction_range(friction: Setting, units: Tree) -> tuple[Any, Any]:
    """The weakest and the strongest friction in these units; None for both if it is not set."""
    if friction is None:
        return None, None
    diagonal = lambda c: jnp.diag(c.matrix) if isinstance(c, MatrixFriction) else jnp.ravel(c)
    leaves, dtype = jax.tree.leaves(units), trees.real_dtype(units)
    rates = [diagonal(c) * jnp.ravel(u) for c, u in zip(spread(friction, units), leaves, strict=True)]
    every = jnp.concatenate([rate.astype(dtype) for rate in rates])
    return jnp.min(every), jnp.max(every)


def friction_problem(friction: Setting, matrix: bool = True) -> str | None:
    """A friction that cannot be."""
    for c in jax.tree.leaves(friction, is_leaf=is_noise):
        if c is None:
            continue
        if not matrix and isinstance(c, MatrixFriction):
            return "the thermostat is one number, and so must be the friction of a leaf (or of an element)"
        values = np.linalg.eigvalsh(np.asarray(c.matrix)) if isinstance(c, MatrixFriction) else np.asarray(c)
        if not np.all(np.isfinite(values)) or not np.all(values > 0):
            least = float(np.min(values))
            return f"friction has the value (or eigenvalue) {least:.3g}; it must be above 0 (None: learnt in warm-up)"
    return None


def expected_temperature(order: str, step_size: Setting, friction: Setting, position: Tree) -> Array:
    """The scheme's own v.v/m, averaged over the numbers of the position."""
    h = jax.tree.leaves(steps.per_leaf(step_size, position), is_leaf=steps.is_step)
    leaves = jax.tree.leaves(position)
    means = [jnp.mean(own_temperature(order, _rate(c, s))) for c, s in zip(spread(friction, position), h, strict=True)]
    dtype = trees.real_dtype(position)
    return sum(jnp.asarray(m, dtype) * x.size for m, x in zip(means, leaves, strict=True)) / sum(x.size for x in leaves)


def _rate(friction: Setting, h: Any) -> Array:
    """C h, for each element or eigenvalue."""
    if isinstance(friction, MatrixFriction):
        return jnp.linalg.eigvalsh(budget(friction, duration(h)).matrix) / 2
    return jnp.asarray(friction * duration(h))
