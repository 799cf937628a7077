"""The stochastic Wright-Fisher process: exact transitions on the simplex itself, with minibatch counts.

What SCIR does with d independent Gamma numbers, one diffusion does on the simplex: the Wright-Fisher diffusion, whose
stationary law is Dirichlet(a). In every step

    draw a batch;  a_hat = prior + (N/n) counts;  draw A ancestors over the time h at |a_hat|;
    L ~ Multinomial(A, p);  p' ~ Dirichlet(a_hat + L)                             (`dynamics.wright_fisher`).

With the counts of all rows the law is exact at any h. With batches, where |a_hat| is the same for all of them (as many
counts from every row), the mean of p has **no bias at any h**: SCIR has none in the mean of its Gamma numbers, but p
is their ratio. The variance is inflated by tanh(h / 2) Var[a_hat] / (a (1 - a / |a|)), nearly (`wright_fisher_variance`
is the exact formula). It is also SGRLD in the reduced-mean form of Patterson & Teh (2013) without the discretisation,
since that form's drift and noise are those of this diffusion.

The state carries log p, which never underflows.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Memory, Setting, Tree
from orthodrome.dynamics.wright_fisher import MANY, draw_wright_fisher, shortest_step
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear import leaves
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.simplex import Simplex
from orthodrome.samplers.contract import DiffusionSampler
from orthodrome.samplers.stochastic import conjugate_leaves as shared


class SWFState(NamedTuple):
    """A position, the logarithms of the weights, and the memory of the estimator."""

    position: Tree
    log_weights: Tree
    memory: Memory


@pytree
class SWF(DiffusionSampler):
    """Exact transitions of the Wright-Fisher diffusion with minibatch counts, on `Simplex`.

        a_hat = prior + (N/n) counts,     L ~ Multinomial(A, p),     p' ~ Dirichlet(a_hat + L),

    where the number of ancestors A has the law of the diffusion after the time h at |a_hat|. With all rows in the
    batch the draws are exactly Dirichlet at any h; with batches the mean has no bias if |a_hat| does not vary.

    gradient: `ConjugateCounts` or `CenteredCounts`, whose statistics are the unbiased shapes a_hat
    step_size: h, in units of the relaxation time of the mean; a number, or a tree with one per leaf; None: learnt in
        warm-up. It is how long a batch is used, not a resolution. Steps below log(1 + |a| / 65,536) are refused
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    step_size: Setting = None
    compiled: bool = static(default=True)

    def supports(self, manifold: Manifold) -> str | None:
        """Return why it cannot work on a space, and what to use instead; None if it can."""
        name = shared.unsupported_leaf(manifold, (Simplex,))
        if name is None:
            return None
        return (
            f"a leaf lives on {name}; the Wright-Fisher diffusion lives on `Simplex()`; use SCIR for weights and Gamma "
            "parameters together, SOU for normal and lognormal ones"
        )

    def problem_at(self, position: Tree) -> str | None:
        """Return why the estimator gives no shapes at a start, or why the step is too short for them, or None."""
        problem = shared.statistics_problem(self.gradient, position)
        if problem is not None or self.step_size is None:
            return problem
        short, total = jax.jit(SWF._shortness)(self, jax.tree.map(jnp.asarray, position))
        if not short:
            return None
        return (
            f"the shapes sum to {total:.6g}, and steps below log(1 + sum / {MANY:.0f}) = {shortest_step(total):.3g} "
            f"have too many ancestors to draw; take longer steps, or SCIR, which has no such limit"
        )

    def _shortness(self, position: Tree) -> tuple[Array, Array]:
        """Return whether a step is too short for shapes estimated at a start, and the largest sum of these."""
        x = self.manifold.from_user(position)
        estimate, _ = self.gradient.estimate(jax.random.key(0), x, self.gradient.init(x))
        shapes = estimate.statistics.shapes
        largest = jax.tree.reduce(jnp.maximum, jax.tree.map(lambda a: jnp.max(jnp.sum(a, axis=-1)), shapes))
        return too_short(shapes, leaves.spread(self.step_size, x)), largest

    def init(self, position: Tree, key: Array | None = None) -> SWFState:
        """Return the state at a position."""
        return SWFState(position, jax.tree.map(log_weights, position), self.gradient.init(position))

    def step(self, key: Array, state: SWFState) -> tuple[SWFState, shared.DiffusionInfo]:
        """Make the exact transition with the shapes of a new batch."""
        gradient_key, noise_key = jax.random.split(key)
        estimate, memory = self.gradient.estimate(gradient_key, state.position, state.memory)
        shapes = estimate.statistics.shapes
        keys, steps = trees.split_like(noise_key, state.position), leaves.spread(self.step_size, state.position)
        weights = jax.tree.map(draw_wright_fisher, keys, state.log_weights, shapes, steps)
        temperature = self._temperature(state.log_weights, weights, shapes, steps, estimate.logdensity)
        report = shared.report(estimate, temperature, self.step_size)
        state = SWFState(jax.tree.map(shared.embedded_logs, weights), weights, memory)
        return state, report._replace(clipped=report.clipped | too_short(shapes, steps))

    def noise_and_spread(self, one: Estimate, other: Estimate) -> tuple[Tree, Tree]:
        """Return Var[a_hat] and a (1 - a / |a|), summed over the elements of each leaf."""
        a, b = one.statistics.shapes, other.statistics.shapes
        variance = jax.tree.map(lambda x, y: jnp.sum((x - y) ** 2) / 2, a, b)
        return variance, jax.tree.map(lambda x, y: jnp.sum(spread((x + y) / 2)), a, b)

    def _temperature(self, before: Tree, after: Tree, shapes: Tree, steps: Tree, like: Array) -> Array:
        """Return |a| (p' - p)^2 / (1 - e^-h) over p (1 - p) + p' (1 - p'), both summed, and 1 added for each copy.

        In equilibrium the means of both are 2 |a| Var[p], with exact shapes.
        """

        def moved(old: Array, new: Array, a: Array, h: Array) -> Array:
            distance = jnp.sum((jnp.exp(new) - jnp.exp(old)) ** 2, axis=-1)
            return jnp.sum(1 - jnp.sum(a, axis=-1) * distance / jnp.expm1(-h))

        expected = lambda old, new: jnp.sum(3 - jnp.sum(jnp.exp(2 * old) + jnp.exp(2 * new), axis=-1))
        ratios = jax.tree.map(moved, before, after, shapes, steps)
        return shared.temperature_of(ratios, jax.tree.map(expected, before, after), like)


def too_short(shapes: Tree, steps: Tree) -> Array:
    """Return whether a step is shorter than what can be drawn; it is then as long as that, and reported as clipped."""
    short = jax.tree.map(lambda a, h: jnp.any(h < shortest_step(jnp.sum(a, axis=-1))), shapes, steps)
    return jax.tree.reduce(jnp.logical_or, short)


def spread(shapes: Array) -> Array:
    """Return a (1 - a / |a|)."""
    return shapes * (1 - shapes / jnp.sum(shapes, axis=-1, keepdims=True))


def log_weights(x: Array) -> Array:
    """Return log p at an embedded leaf."""
    return jnp.log(jnp.maximum(x * x, jnp.finfo(x.dtype).tiny))
