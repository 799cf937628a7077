"""The expanded-mean form of a simplex (Patterson & Teh 2013): weights theta > 0 with p = theta / sum(theta).

The prior theta_j ~ Gamma(alpha_j, 1) gives p the prior Dirichlet(alpha), and the likelihood sees p alone. With the
unbiased counts n_hat of a batch the gradient of the log density in theta is

    g_j = (alpha_j - 1 + n_hat_j) / theta_j - 1 - sum(n_hat) / sum(theta),

so that with G^-1 = diag(theta), whose divergence is 1, SGRLD moves by (erratum (a) of section 1.6, and 2.1)

    theta <- | theta + h (alpha - theta + n_hat - p sum(n_hat)) + sqrt(2 h theta) N(0, 1) |.

The sum of theta has the law Gamma(sum(alpha), 1), whatever the data, and may be near 0: SGRLD's natural step is far
smaller than that of SCIR, whose theta sums to about N.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace
from orthodrome.core.types import Key, Memory, Tree
from orthodrome.gradients.conjugate import ConjugatePosterior
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.positive import Positive

SPACE = Positive()
"""The space of theta."""


@pytree
class ExpandedMean:
    """The gradient in the weights theta, on `Positive`, from an estimator of counts on `Simplex`.

    gradient: `ConjugateCounts` or `CenteredCounts` of one leaf on `Simplex`
    """

    gradient: GradientEstimator

    @property
    def target(self) -> ConjugatePosterior:
        """The posterior of p = theta / sum theta, on the space of theta."""
        return replace(self.gradient.target, manifold=SPACE)  # type: ignore[return-value]

    @property
    def manifold(self) -> Manifold:
        """The space of theta."""
        return SPACE

    def init(self, x: Tree) -> Memory:
        """Return the memory of the inner estimator."""
        return self.gradient.init(embedded_weights(x))

    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return log density and gradient in theta, from the counts of the inner estimator at p."""
        inner, memory = self.gradient.estimate(key, embedded_weights(x), memory)
        prior = self.gradient.target.priors(x)  # type: ignore[attr-defined]
        counts = jax.lax.stop_gradient(trees.subtract(inner.statistics.shapes, prior))
        logdensity = lambda y: expanded_logdensity(y, prior, counts)
        return Estimate(*jax.value_and_grad(logdensity)(x), None, inner.statistics), memory


def embedded_weights(theta: Array) -> Array:
    """Return the embedded point sqrt(p) of `Simplex`."""
    return jnp.sqrt(theta / jnp.sum(theta, axis=-1, keepdims=True))


def expanded_logdensity(theta: Array, prior: Array, counts: Array) -> Array:
    """Return log Gamma(theta; prior, 1) + sum of counts log p, without constants."""
    total = jnp.sum(theta, axis=-1, keepdims=True)
    return jnp.sum((prior - 1) * jnp.log(theta) - theta + counts * jnp.log(theta / total))
