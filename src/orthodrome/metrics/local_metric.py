"""Metrics G(x) for the exact Riemannian samplers, over the whole position taken as one vector.

`LocalMetric(function)` is the user's. `FisherMetric(posterior)` is the information of the data with the curvature of
the prior (Girolami & Calderhead 2011, section 3), in its empirical form:

    G(x) = sum_i s_i s_i' - d^2 log prior,     s_i = d log likelihood of datum i.

Its mean over data is the expected information, which only the model knows: where that has a closed form, give it as a
`LocalMetric`. The samplers are exact with any metric that is positive definite; a point where it is not is never
accepted.

A metric is a matrix (n x n) or its diagonal (n).
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import jax
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.targets import Posterior, in_user


class PointMetric(abc.ABC):
    """The contract of a metric for the exact Riemannian samplers."""

    @abc.abstractmethod
    def matrix(self, x: Tree) -> Array:
        """Return G over the ravelled position: n x n, or its diagonal n."""


@pytree
class LocalMetric(PointMetric):
    """A metric given by a function of the position.

    function: x -> G(x), or (x, data) -> G(x) with `data`; n x n over the ravelled position, or its diagonal n
    """

    function: Callable[..., Any] = static()
    data: Any = None

    def matrix(self, x: Tree) -> Array:
        return self.function(x) if self.data is None else self.function(x, self.data)


@pytree
class FisherMetric(PointMetric):
    """The empirical Fisher information of the data plus the curvature of the prior, of a `Posterior`."""

    posterior: Posterior

    def matrix(self, x: Tree) -> Array:
        flat, unravel = ravel_pytree(x)
        law = self.posterior
        one = lambda y, datum: in_user(law.manifold, lambda p: law.loglikelihood(p, datum), unravel(y))
        scores = jax.vmap(jax.grad(one), in_axes=(None, 0))(flat, law.data)
        return scores.T @ scores - jax.hessian(lambda y: law.embedded_prior(unravel(y)))(flat)
