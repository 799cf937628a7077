"""Riemannian manifold Langevin dynamics (Girolami & Calderhead 2011), with and without the Metropolis test.

    x* = x + (h^2/2) [G^-1 g + Gamma] + h N(0, G^-1),      Gamma_i = sum_j d_j (G^-1)_ij,

the diffusion whose law is pi with respect to dx. (The drift printed in 2011 has the divergence of another measure;
Xifara et al. 2014 give the right one. With the test either is exact; without it only this one is right as h -> 0.) With
the test, x* is accepted with probability min(1, pi(x*) q(x | x*) / pi(x) q(x* | x)); a metric that is not positive
definite, here or there, is a rejected move. Gamma = -G^-1 c with c_i = sum_jk d_j G_ik (G^-1)_kj: one derivative of
the metric per coordinate, and none of its inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear.sweeps import Inverted, cholesky, invert, product
from orthodrome.metrics.local_metric import PointMetric
from orthodrome.samplers.exact.local_metric import RiemannianSampler, RiemannianState


class RiemannianLangevinInfo(NamedTuple):
    """What one transition did.

    lp: the log density
    acceptance_rate: the probability of acceptance; without the test, 1 if the move was made and 0 if it was not
        possible
    step_size: h
    not_definite: whether the metric was not positive definite; then, or if the proposal is non-finite, the chain stays
    """

    lp: Array
    acceptance_rate: Array
    step_size: Array
    not_definite: Array


class Proposal(NamedTuple):
    """A normal distribution by its mean, and its precision times h^2, which is G."""

    mean: Array
    metric: Inverted


@pytree
class RiemannianLangevin(RiemannianSampler):
    """Langevin dynamics with a metric that depends on the position, on flat coordinates.

    The proposal is a step of the diffusion that has the density pi (Girolami & Calderhead 2011, drift corrected as in
    Xifara et al. 2014),

        x* = x + (h^2/2) [G^-1 grad log pi + Gamma] + h N(0, G^-1),     Gamma_i = sum_j d_j (G^-1)_ij,

    and with the Metropolis test it is accepted with probability min(1, pi(x*) q(x | x*) / (pi(x) q(x* | x))).

    gradient: an exact estimator (`FullGradient`)
    metric: `LocalMetric(x -> G(x))`, or `FisherMetric(posterior)`
    step_size: h (epsilon in the paper), one number; None: learnt in warm-up, which needs the Metropolis test
    adjusted: whether there is a Metropolis test; without it the distribution is off by O(h^2)
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    metric: PointMetric
    step_size: Setting = None
    adjusted: bool = static(default=True)
    compiled: bool = static(default=True)

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if self.step_size is None and not self.adjusted:
            return "without the Metropolis test there is no acceptance rate to tune by; set step_size"
        return super().problem()

    def step(self, key: Array, state: RiemannianState) -> tuple[RiemannianState, RiemannianLangevinInfo]:
        """Propose by the diffusion; accept or stay."""
        noise_key, accept_key = jax.random.split(key)
        x, unravel = ravel_pytree(state.position)
        h = jnp.asarray(self.step_size, x.dtype)
        forward = self.proposal(x, state.gradient, unravel, h)
        noise = jax.random.normal(noise_key, x.shape, x.dtype)
        y = forward.mean + h * product(cholesky(forward.metric.inverse), noise)
        new = self.init(unravel(y))
        backward = self.proposal(y, new.gradient, unravel, h)
        change = new.logdensity - state.logdensity + log_normal(backward, x, h) - log_normal(forward, y, h)
        definite = jnp.isfinite(forward.metric.log_determinant) & jnp.isfinite(backward.metric.log_determinant)
        possible = definite & trees.all_finite(new)
        change = jnp.where(possible & ~jnp.isnan(change), change, -jnp.inf)
        taken = jnp.log(jax.random.uniform(accept_key, dtype=x.dtype)) < change if self.adjusted else possible
        kept = trees.where(taken, new, state)
        rate = jnp.exp(jnp.minimum(change, 0)) if self.adjusted else possible.astype(x.dtype)
        return kept, RiemannianLangevinInfo(kept.logdensity, rate, largest_step(self.step_size), ~definite)

    def proposal(self, x: Array, gradient: Tree, unravel: Callable[[Array], Tree], h: Array) -> Proposal:
        """Return the distribution of x* given the vector x; `unravel` turns vectors into positions."""
        metric_at: Callable[[Array], Array] = lambda y: self.metric.matrix(unravel(y))
        metric = invert(metric_at(x))
        drift = ravel_pytree(gradient)[0] - _contracted_slope(metric_at, x, metric.inverse)
        return Proposal(x + h * h / 2 * product(metric.inverse, drift), metric)


def _contracted_slope(metric_at: Callable[[Array], Array], x: Array, inverse: Array) -> Array:
    """Return c_i = sum_jk d_j G_ik(x) (G^-1)_kj."""
    columns = jnp.diag(inverse) if inverse.ndim == 1 else inverse

    def slope(j: Array, column: Array) -> Array:
        along: Array = jax.jvp(lambda y: product(metric_at(y), column), (x,), (j,))[1]
        return along

    return jnp.sum(jax.vmap(slope)(jnp.eye(x.size, dtype=x.dtype), columns.T), axis=0)


def log_normal(law: Proposal, y: Array, h: Array) -> Array:
    """Return log q(y), without its constant."""
    apart = y - law.mean
    square = jnp.sum(apart * product(law.metric.matrix, apart))
    return law.metric.log_determinant / 2 - square / (2 * h * h)
