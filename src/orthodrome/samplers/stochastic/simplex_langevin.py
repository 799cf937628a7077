"""SGRLD of weights in the other parametrisations of Patterson & Teh (2013), and mirrored Langevin: rivals of SCIR.

One Euler step of a Langevin diffusion for Dirichlet(a), with the shapes a_hat of a minibatch, in the coordinates of a
form (`dynamics.simplex_forms`, where the drifts are derived):

    x <- x + h mu(x; a_hat) + sqrt(2 h) S(x) xi.

The bias is of the order h where all shapes are above 1 (tested), and much larger near the walls: in the forms in which
1 / p or 1 / theta is a drift, weights whose shape is below 1 run away. A step that would be non-finite is not taken,
and counted in `clipped`. They are here to be compared with; `SCIR` and `SWF` have no such error.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Memory, Number, Setting, Tree
from orthodrome.dynamics.flat import FlatInfo
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.dynamics.simplex_forms import SimplexForm
from orthodrome.errors import Unsupported
from orthodrome.gradients.conjugate import ConjugatePosterior
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.simplex import Simplex
from orthodrome.samplers.contract import SteppedSampler
from orthodrome.samplers.stochastic import conjugate_leaves as shared


class SimplexLangevinState(NamedTuple):
    """A position, the coordinates of the form, and the memory of the estimator."""

    position: Tree
    coordinates: Tree
    memory: Memory


@pytree
class SimplexLangevin(SteppedSampler):
    """Euler steps of Langevin dynamics for Dirichlet conditionals, in the coordinates of a form, on `Simplex`.

        x <- x + h mu(x; a_hat) + sqrt(2 h) S(x) N(0, I),

    with the drift mu and the root S of the diffusion that the form has, at the shapes a_hat of a minibatch. The bias
    is of order h, and much larger near the walls; `SCIR` and `SWF` have no such error.

    gradient: `ConjugateCounts` or `CenteredCounts`, whose statistics are the unbiased shapes a_hat
    form: `ReducedMean()`, `ReducedNatural()`, `ExpandedNatural()` (SGRLD), or `Mirrored()` (mirrored Langevin)
    step_size: h, half that of Patterson & Teh; a number, or a tree with one per leaf. It must be given
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    form: SimplexForm
    step_size: Setting = None
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    def supports(self, manifold: Manifold) -> str | None:
        """Return why it cannot work on a space, and what to use instead; None if it can."""
        name = shared.unsupported_leaf(manifold, (Simplex,))
        return (
            None
            if name is None
            else f"a leaf lives on {name}, but the forms are defined on `Simplex()` only; use SCIR or SGGMC"
        )

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if self.step_size is None:
            return (
                "no step_size is given, and the warm-up does not learn it for this sampler; set it, or use SCIR or SWF"
            )
        return None

    def problem_at(self, position: Tree) -> str | None:
        """Return why the estimator gives no shapes at a start, or None."""
        return shared.statistics_problem(self.gradient, position)

    def at_temperature(self, beta: Number) -> SimplexLangevin:
        """Raise Unsupported: the conditional law to a power is not what the counts estimate."""
        raise Unsupported("SimplexLangevin draws from one conditional law and cannot be heated; use SGGMC")

    def init(self, position: Tree, key: Array | None = None) -> SimplexLangevinState:
        """Return the state at a position."""
        x = jax.tree.map(lambda a, prior: self.form.start(a * a, prior), position, self._priors(position))
        return SimplexLangevinState(position, x, self.gradient.init(position))

    def step(self, key: Array, state: SimplexLangevinState) -> tuple[SimplexLangevinState, FlatInfo]:
        """Take one Euler step with the shapes of a new batch."""
        gradient_key, noise_key = jax.random.split(key)
        estimate, memory = self.gradient.estimate(gradient_key, state.position, state.memory)
        keys, steps = trees.split_like(noise_key, state.position), leaves.spread(self.step_size, state.position)
        x, priors = state.coordinates, self._priors(state.position)
        changes = jax.tree.map(self._change, keys, x, estimate.statistics.shapes, priors, steps)
        moved = jax.tree.map(lambda a, change: self.form.fold(a + change), x, changes)
        sound = jax.tree.map(lambda a: jnp.all(jnp.isfinite(a), axis=-1, keepdims=True), moved)
        new = jax.tree.map(jnp.where, sound, moved, x)
        heat = jax.tree.leaves(jax.tree.map(self._displacement, x, changes, sound, steps))
        position = jax.tree.map(lambda a: shared.embedded_logs(self.form.weights(a)), new)
        temperature = jnp.mean(jnp.stack([part.astype(estimate.logdensity.dtype) for part in heat]))
        clipped = jax.tree.reduce(jnp.logical_or, jax.tree.map(lambda ok: ~jnp.all(ok), sound))
        info = FlatInfo(estimate.logdensity, temperature, largest_step(self.step_size), clipped)
        return SimplexLangevinState(position, new, memory), info

    def _change(self, key: Array, x: Array, a: Array, alpha: Array, h: Array) -> Array:
        """Return h mu + sqrt(2 h) S xi of one leaf."""
        xi = jax.random.normal(key, x.shape, x.dtype)
        return h * self.form.drift(x, a, alpha) + jnp.sqrt(2 * h) * self.form.noise(x, xi)

    def _displacement(self, x: Array, change: Array, sound: Array, h: Array) -> Array:
        """Return the mean squared change in units of 2 h D_ii, over the coordinates that move."""
        units = self.form.spread(x)
        moves = (units > 0) & sound
        squares = jnp.where(moves, change**2 / jnp.where(moves, units, 1), 0)
        return jnp.sum(squares) / (2 * h * jnp.maximum(jnp.sum(moves.astype(x.dtype)), 1))

    def _priors(self, position: Tree) -> Tree:
        target: ConjugatePosterior = self.gradient.target  # type: ignore[assignment]
        return target.priors(position)
