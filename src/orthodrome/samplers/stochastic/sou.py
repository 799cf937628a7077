"""The stochastic Ornstein-Uhlenbeck process: exact transitions to normal and lognormal conditionals.

The idea of SCIR for other diffusions with known transitions (Baker et al. 2018, section 2.3). On `Euclidean` the
conditional is N(m, s^2), and the step

    x' = m_hat + (x - m_hat) e^-h + s sqrt(1 - e^{-2 h}) N(0, 1),      m_hat from a minibatch

is exact in h. On `LogPositive`, whose embedded position is the logarithm, the same step is the exponential of an
Ornstein-Uhlenbeck process, and its stationary law is lognormal (erratum 001-11). The mean of x has no bias at any h,
and the stationary variance is s^2 + tanh(h / 2) Var[m_hat].
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Memory, Setting, Tree
from orthodrome.dynamics.ornstein_uhlenbeck import draw_ornstein_uhlenbeck
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear import leaves
from orthodrome.manifolds.euclidean import Euclidean
from orthodrome.manifolds.log_positive import LogPositive
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.contract import DiffusionSampler
from orthodrome.samplers.stochastic import conjugate_leaves as shared


class SOUState(NamedTuple):
    """A position, and the memory of the estimator."""

    position: Tree
    memory: Memory


@pytree
class SOU(DiffusionSampler):
    """Exact transitions to normal and lognormal conditionals with minibatch sums, on `Euclidean` and `LogPositive`.

    The Ornstein-Uhlenbeck process with stationary law N(m, s^2), by its exact transition

        x' = m_hat + (x - m_hat) e^-h + s sqrt(1 - e^{-2 h}) N(0, 1),

    m_hat being the estimate of the mean m from a minibatch; on `LogPositive` x is the logarithm.

    gradient: `ConjugateCounts` or `CenteredCounts`; of its statistics a_hat / rate is the mean m_hat and 1 / rate the
        variance s^2 of the conditional law (of the logarithm on `LogPositive`)
    step_size: h, in units of the relaxation time; a number, or a tree with one per leaf; None: learnt in warm-up
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    step_size: Setting = None
    compiled: bool = static(default=True)

    def supports(self, manifold: Manifold) -> str | None:
        """Return why it cannot work on a space, and what to use instead; None if it can."""
        name = shared.unsupported_leaf(manifold, (Euclidean, LogPositive))
        if name is None:
            return None
        return (
            f"a leaf lives on {name}; normal parameters live on `Euclidean()`, lognormal ones on `LogPositive()`; for "
            "Dirichlet and Gamma conditionals use SCIR on `Simplex()` and `Positive()`"
        )

    def problem_at(self, position: Tree) -> str | None:
        """Return why the estimator gives no means at a start, or None."""
        return shared.statistics_problem(self.gradient, position)

    def init(self, position: Tree, key: Array | None = None) -> SOUState:
        """Return the state at a position."""
        return SOUState(position, self.gradient.init(position))

    def step(self, key: Array, state: SOUState) -> tuple[SOUState, shared.DiffusionInfo]:
        """Make the exact transition with the mean of a new batch."""
        gradient_key, noise_key = jax.random.split(key)
        x = state.position
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        shapes, rates, _ = estimate.statistics
        keys, steps = trees.split_like(noise_key, x), leaves.spread(self.step_size, x)
        move = lambda k, a, s, b, h: draw_ornstein_uhlenbeck(k, a, s / b, 1 / b, h)
        new = jax.tree.map(move, keys, x, shapes, rates, steps)
        moved = jax.tree.map(lambda a, b, r, h: -jnp.sum((a - b) ** 2 * r / (2 * jnp.expm1(-h))), new, x, rates, steps)
        sizes = jax.tree.map(lambda a: jnp.asarray(a.size, a.dtype), x)
        temperature = shared.temperature_of(moved, sizes, estimate.logdensity)
        return SOUState(new, memory), shared.report(estimate, temperature, self.step_size)

    def noise_and_spread(self, one: Estimate, other: Estimate) -> tuple[Tree, Tree]:
        """Return Var[m_hat] in units of s^2, and 1, summed over the elements of each leaf."""
        a, b, rates = one.statistics.shapes, other.statistics.shapes, one.statistics.rates
        variance = jax.tree.map(lambda x, y, r: jnp.sum((x - y) ** 2 / (2 * r)), a, b, rates)
        return variance, jax.tree.map(lambda x: jnp.asarray(x.size, x.dtype), a)
