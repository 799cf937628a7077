"""Metrics G(x) over the whole position taken as one vector, for all Riemannian samplers.

`LocalMetric(function)` is the user's. `FisherMetric(posterior)` is the information of the data with the curvature of
the prior (Girolami & Calderhead 2011, section 3), in its empirical form:

    G(x) = sum_i s_i s_i' - d^2 log prior,     s_i = d log likelihood of datum i.

Its mean over data is the expected information, which only the model knows: where that has a closed form, give it as a
`LocalMetric`. With `num_rows` the sum is over so many rows of the data, evenly spread and always the same, times the
number that each stands for: a function of x as well, and cheap enough for minibatches.

A metric is a matrix (n x n) or its diagonal (n). The exact samplers keep their law with any metric that is positive
definite; a point where it is not is never accepted. SGRLD and SGRHMC have one matrix for each leaf of the position:
they take the inverse of each leaf's own block of G, which is a metric too, and the same one if there is one leaf.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.linear import Dense, sweeps
from orthodrome.metrics.divergence import Divergence, ExactDivergence
from orthodrome.metrics.inverse_metric import NOT_DEFINITE, REMEDY, DifferentiatedMetric
from orthodrome.targets import Posterior, in_user


class PointMetric(DifferentiatedMetric):
    """The contract of a metric that is given by G itself."""

    @abc.abstractmethod
    def matrix(self, x: Tree) -> Array:
        """Return G over the ravelled position: n x n, or its diagonal n."""

    def problem_at(self, x: Tree) -> str | None:
        """Return why G is not a metric at the start x, or None."""
        size = sum(leaf.size for leaf in jax.tree.leaves(x))
        return _wrong_matrix(np.asarray(self.matrix(x), float), size)

    def inverse(self, x: Tree, estimate: Estimate | None = None) -> Tree:
        """Return the inverse of each leaf's own block of G."""
        parts, structure = jax.tree.flatten(x)
        ends = np.cumsum([leaf.size for leaf in parts])
        matrix = self.matrix(x)
        blocks = [_inverse_block(matrix, end - leaf.size, end, leaf) for end, leaf in zip(ends, parts, strict=True)]
        return jax.tree.unflatten(structure, blocks)


SYMMETRIC = 1e-4
"""The largest |G - G'| relative to the largest |G|."""


def _wrong_matrix(g: np.ndarray, size: int) -> str | None:
    """Return why an array is not a metric over so many numbers, or None."""
    if g.shape not in ((size,), (size, size)):
        forms = f"({size}, {size}), or ({size},) for a diagonal"
        return f"the metric is an array of the shape {g.shape} for a position of {size} numbers; return one of {forms}"
    if not np.all(np.isfinite(g)):
        return f"{NOT_DEFINITE}: it has non-finite elements there; {REMEDY}"
    apart = np.abs(g - g.T).max(initial=0)
    if apart > SYMMETRIC * np.abs(g).max(initial=0):
        return f"the metric is not symmetric at the start: G - G' is up to {apart:.3g}; return (G + G') / 2"
    least = np.min(g if g.ndim == 1 else np.linalg.eigvalsh(g), initial=np.inf)
    return None if least > 0 else f"{NOT_DEFINITE}: its smallest eigenvalue is {least:.3g}; {REMEDY}"


def _inverse_block(matrix: Array, first: int, end: int, leaf: Array) -> Any:
    """Return the inverse of the block of G from `first` to `end`, as an entry of its leaf."""
    if matrix.ndim == 1:
        return (1 / matrix[first:end]).reshape(leaf.shape)
    return Dense(sweeps.invert(matrix[first:end, first:end]).inverse)


@pytree
class LocalMetric(PointMetric):
    """A metric given by a function of the position.

    function: x -> G(x), or (x, data) -> G(x) with `data`; n x n over the ravelled position, or its diagonal n
    divergence: how SGRLD and SGRHMC compute the divergence of G^-1
    """

    function: Callable[..., Any] = static()
    data: Any = None
    divergence: Divergence = ExactDivergence()

    def matrix(self, x: Tree) -> Array:
        return self.function(x) if self.data is None else self.function(x, self.data)


@pytree
class FisherMetric(PointMetric):
    """The empirical Fisher information of the data plus the curvature of the prior, of a `Posterior`.

    posterior: the `Posterior` whose data and prior these are
    num_rows: the number of rows of the data, evenly spread, that stand for all; None: all of them
    divergence: how SGRLD and SGRHMC compute the divergence of G^-1
    """

    posterior: Posterior
    num_rows: int | None = static(default=None)
    divergence: Divergence = ExactDivergence()

    def matrix(self, x: Tree) -> Array:
        flat, unravel = ravel_pytree(x)
        law = self.posterior
        rows, each = self._rows()
        one = lambda y, datum: in_user(law.manifold, lambda p: law.loglikelihood(p, datum), unravel(y))
        scores = jax.vmap(jax.grad(one), in_axes=(None, 0))(flat, rows)
        return each * (scores.T @ scores) - jax.hessian(lambda y: law.embedded_prior(unravel(y)))(flat)

    def _rows(self) -> tuple[Any, float]:
        """Return the rows, and how many of the data each stands for."""
        total = jax.tree.leaves(self.posterior.data)[0].shape[0]
        if self.num_rows is None or self.num_rows >= total:
            return self.posterior.data, 1.0
        chosen = np.linspace(0, total - 1, self.num_rows).round().astype(np.int32)
        return jax.tree.map(lambda leaf: leaf[chosen], self.posterior.data), total / self.num_rows
