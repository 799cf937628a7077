"""The stochastic Cox-Ingersoll-Ross process (Baker, Fearnhead, Fox & Nemeth 2018): no discretisation error.

Dirichlet(a) is the law of theta / sum(theta) with independent theta_j ~ Gamma(a_j, 1), and Gamma(a_j, 1) is the
stationary law of d theta = (a - theta) dt + sqrt(2 theta) dW, whose transition is known exactly:

    theta' | theta ~ (1 - e^-h) / 2  chi^2(2 a, 2 theta e^-h / (1 - e^-h)).                               (2.2)

Algorithm 1, with the erratum 001-5 (alpha_j, not alpha): in every step

    draw a batch S;  a_hat_j = alpha_j + (N/n) sum_{i in S} z_ij;  draw theta_j by (2.2) with a_hat_j;  normalise.

**Theorem 2.1.** U = 2 sqrt(theta) follows the Langevin diffusion dU = ((2 a - 1) / U - U / 2) dt + sqrt(2) dW of the
generalised Gamma density u^(2 a - 1) exp(-u^2 / 4). Its drift is linear in a, so SCIR is SGLD for U, with an unbiased
gradient and without a discretisation.

**Moments** (Corollary 3.2; `cir_mean`, `scir_variance`). E[theta_M] = theta_0 e^{-M h} + a (1 - e^{-M h}): the mean has
no bias at any h. The stationary variance is a + tanh(h / 2) Var[a_hat]: the noise of the minibatches inflates it, the
more the longer the step (erratum 001-4). With all rows in the batch SCIR is exact at any h.

The state carries log theta, which never underflows; no weight of the position is below the smallest normal number of
its dtype, so that the logarithm of a draw is finite. A start gives theta / sum(theta) alone, and its sum is set to
sum(a_hat). That leaves the law of p as it is: theta / sum(theta) is a Wright-Fisher diffusion whose clock, but nothing
else, depends on the sum (Warren & Yor 1998).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Memory, Setting, Tree
from orthodrome.dynamics.cir import VOLATILITY, draw_transition, scales
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear import leaves
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.positive import Positive
from orthodrome.manifolds.product import per_leaf
from orthodrome.manifolds.simplex import Simplex
from orthodrome.samplers.contract import DiffusionSampler
from orthodrome.samplers.stochastic import conjugate_leaves as shared

FEW = 10.0
"""Added to both sides of the temperature's ratio: it stays near 1 where all shapes are so small that moves are rare."""


class SCIRState(NamedTuple):
    """A position, the logarithms of the weights of the process, and the memory of the estimator."""

    position: Tree
    log_weights: Tree
    memory: Memory


@pytree
class SCIR(DiffusionSampler):
    """Exact transitions to Dirichlet and Gamma conditionals with minibatch counts, on `Simplex` and `Positive`.

    Every weight follows the Cox-Ingersoll-Ross process d theta = (a - theta) dt + sqrt(2 theta) dW, whose stationary
    law is Gamma(a, 1), by its exact transition

        theta' ~ (1 - e^-h) / 2  chi^2(2 a_hat, 2 theta e^-h / (1 - e^-h)),

    a_hat being the estimate of the shape a from a minibatch; on `Simplex` the weights are normalised (Baker,
    Fearnhead, Fox & Nemeth 2018, Algorithm 1). The means of theta have no bias at any h.

    gradient: `ConjugateCounts` or `CenteredCounts`, whose statistics are the unbiased shapes a_hat
    step_size: h, in units of the relaxation time; a number, or a tree with one per leaf; None: learnt in warm-up. It is
        how long a batch is used, not a resolution: long steps inflate the variance, and bias no mean
    rate, volatility: b and sigma of d theta = b (a - theta) dt + sigma sqrt(theta) dW. They change the units of time
        and of theta and nothing else, as the paper remarks: with b the law of the draws is that at b = 1 and step b h
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    step_size: Setting = None
    rate: Setting = 1.0
    volatility: Setting = VOLATILITY
    compiled: bool = static(default=True)

    def supports(self, manifold: Manifold) -> str | None:
        """Return why it cannot work on a space, and what to use instead; None if it can."""
        name = shared.unsupported_leaf(manifold, (Simplex, Positive))
        if name is None:
            return None
        return (
            f"a leaf lives on {name}, which has no Cox-Ingersoll-Ross process; declare weights as `Simplex()` and "
            "Gamma parameters as `Positive()`, use SOU for normal and lognormal ones, and SGGMC with the same "
            "estimator for a product of both"
        )

    def problem_at(self, position: Tree) -> str | None:
        """Return why the estimator gives no shapes at a start, or None."""
        return shared.statistics_problem(self.gradient, position)

    def init(self, position: Tree, key: Array | None = None) -> SCIRState:
        """Return the state at a position, with weights whose sums are those of estimated shapes."""
        key, memory = jax.random.key(0) if key is None else key, self.gradient.init(position)
        estimate, _ = self.gradient.estimate(key, position, memory)
        shapes, rates, _ = estimate.statistics
        weights = per_leaf(self.manifold, log_weights, position, shapes, rates)
        return SCIRState(position, jax.tree.map(lambda w: w + self._log_unit(w), weights), memory)

    def step(self, key: Array, state: SCIRState) -> tuple[SCIRState, shared.DiffusionInfo]:
        """Make the exact transition of Eq. (2.3) with the shapes of a new batch."""
        gradient_key, noise_key = jax.random.split(key)
        estimate, memory = self.gradient.estimate(gradient_key, state.position, state.memory)
        shapes, rates, _ = estimate.statistics
        keys, steps = trees.split_like(noise_key, state.position), leaves.spread(self.step_size, state.position)
        weights = jax.tree.map(self._transition, keys, state.log_weights, shapes, steps)
        plain = jax.tree.map(lambda w: w - self._log_unit(w), weights)
        position = per_leaf(self.manifold, embedded, plain, rates)
        temperature = self._temperature(state.log_weights, weights, steps, estimate.logdensity)
        return SCIRState(position, weights, memory), shared.report(estimate, temperature, self.step_size)

    def noise_and_spread(self, one: Estimate, other: Estimate) -> tuple[Tree, Tree]:
        """Return Var[a_hat] and a, summed over the elements of each leaf."""
        a, b = one.statistics.shapes, other.statistics.shapes
        variance = jax.tree.map(lambda x, y: jnp.sum((x - y) ** 2) / 2, a, b)
        return variance, jax.tree.map(lambda x, y: jnp.sum(x + y) / 2, a, b)

    def _transition(self, key: Array, weights: Array, shape: Array, h: Array) -> Array:
        """Draw log theta' of one leaf."""
        _, log_factor, log_scale = scales(h, *self._parameters(weights))
        drawn: Array = draw_transition(key, weights, shape, log_factor, log_scale)
        return drawn

    def _parameters(self, like: Array) -> tuple[Array, Array]:
        """Return b and sigma in the dtype of a leaf."""
        return jnp.asarray(self.rate, like.dtype), jnp.asarray(self.volatility, like.dtype)

    def _log_unit(self, like: Array) -> Array:
        """Return log sigma^2 / 2 b, the unit of theta in which its stationary law is Gamma(a, 1)."""
        b, sigma = self._parameters(like)
        return jnp.log(sigma**2 / (2 * b))

    def _temperature(self, before: Tree, after: Tree, steps: Tree, like: Array) -> Array:
        """Return the sum of (theta' - theta)^2 / (1 - e^{-b h}) over that of theta + theta'.

        In equilibrium the means of both are twice the sum of the shapes, with exact ones.
        """
        old = jax.tree.map(lambda w: jnp.exp(w - self._log_unit(w)), before)
        new = jax.tree.map(lambda w: jnp.exp(w - self._log_unit(w)), after)
        lost = jax.tree.map(lambda h, x: -jnp.expm1(-h * self._parameters(x)[0]), steps, old)
        moved = jax.tree.map(lambda x, y, part: FEW + jnp.sum((y - x) ** 2 / part), old, new, lost)
        expected = jax.tree.map(lambda x, y: FEW + jnp.sum(x + y), old, new)
        return shared.temperature_of(moved, expected, like)


def log_weights(manifold: Manifold, x: Array, shape: Array, rate: Array) -> Array:
    """Return log theta at an embedded leaf: of weights their logs, with the sum of the shapes as their total."""
    least = jnp.finfo(x.dtype).tiny
    if type(manifold) is Positive:
        return jnp.log(jnp.maximum(x, least)) + jnp.log(rate)
    return jnp.log(jnp.maximum(x * x, least)) + jnp.log(jnp.sum(shape, axis=-1, keepdims=True))


def embedded(manifold: Manifold, weights: Array, rate: Array) -> Array:
    """Return the embedded leaf of log theta, with no element below the smallest normal number (of p = x^2 either)."""
    least: Any = jnp.log(16 * jnp.finfo(weights.dtype).tiny)  # 16: rounding of x must not take x^2 below it
    if type(manifold) is Positive:
        return jnp.exp(jnp.maximum(weights - jnp.log(rate), least))
    below = weights - jnp.max(weights, axis=-1, keepdims=True)  # exact where it matters, however small all weights are
    return jnp.exp(jnp.maximum(below - jnp.log(jnp.sum(jnp.exp(below), axis=-1, keepdims=True)), least) / 2)
