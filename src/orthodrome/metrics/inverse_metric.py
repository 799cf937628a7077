"""Metrics that depend on the position, for SGRLD and SGRHMC: G^-1(x), a root of it, and their divergences.

A root is any S with S S' = G^-1: the elementwise square root, or Cholesky's factor. The divergences are

    div G^-1:  sum_j d_j (G^-1)_ij,         div S':  sum_j d_j S_ji.

`InverseMetric(f)` differentiates the user's function. `PotentialMetric` is the metric of section F.1 of Ma, Chen &
Fox (2015), made from the minibatch's own potential U~ = -log density, whose derivative is the gradient that is
there anyway:

    G^-1 = scale sqrt|U~ + offset| I.

U is known up to a constant only, so `offset` is a choice; it must keep U + offset above 0 everywhere, or the metric
has walls where it vanishes, which the exact dynamics never crosses (erratum 004-11: C = 0.5 for the double well,
whose U reaches -1). As U~ is noisy and correlated with the gradient there is a bias that does not vanish with the
step as fast as that of a metric of x alone; with little noise beside U + offset it is small.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.linear import leaves, maps
from orthodrome.linear.linear_map import Entry, is_map
from orthodrome.metrics.divergence import Divergence, ExactDivergence

NOT_DEFINITE, REMEDY = "the metric is not positive definite at the start", "give one that is, or another start"


class PositionMetric(abc.ABC):
    """The contract of a metric for SGRLD and SGRHMC; matrices are trees with one entry per leaf (see `linear_map`)."""

    @abc.abstractmethod
    def inverse(self, x: Tree, estimate: Estimate) -> Tree:
        """Return G^-1 at x."""

    @abc.abstractmethod
    def inverse_divergence(self, key: Array, x: Tree, estimate: Estimate) -> Tree:
        """Return the divergence of G^-1 at x."""

    @abc.abstractmethod
    def root_divergence(self, key: Array, x: Tree, estimate: Estimate) -> Tree:
        """Return the divergence of S' at x."""

    def inverse_alone(self, x: Tree) -> Tree | None:
        """Return G^-1 at x if the position alone determines it, otherwise None."""
        return None

    def problem_at(self, x: Tree) -> str | None:
        """Return why this is not a metric at the start x, or None; also None if more than the position determines
        it."""
        inverse = self.inverse_alone(x)
        if inverse is None:
            return None
        pairs = zip(leaves.entries(inverse, x), jax.tree.leaves(x), strict=True)
        misfits = [problem for entry, leaf in pairs if (problem := _misfit(entry, leaf)) is not None]
        if misfits:
            return misfits[0]
        return f"{NOT_DEFINITE}; {REMEDY}" if bool(leaves.indefinite(inverse)) else None

    def root(self, x: Tree, estimate: Estimate) -> Tree:
        """Return the root S of G^-1 at x."""
        return leaves.over(maps.smooth_root, self.inverse(x, estimate))


def _misfit(entry: Entry, leaf: Array) -> str | None:
    """Return why an inverse metric does not fit a leaf of the position, or None."""
    if is_map(entry):
        problem = entry.misfit(leaf.size)
        return problem and f"the inverse metric does not fit a leaf of {leaf.size} numbers: {problem}"
    if entry.ndim == 0 or entry.shape == leaf.shape:
        return None
    return (
        f"the inverse metric is an array of the shape {entry.shape} for a leaf of the shape {leaf.shape}; return one "
        "number, an array of the leaf's shape (a diagonal), or `Dense(matrix)`"
    )


class DifferentiatedMetric(PositionMetric):
    """A metric that the position alone determines, and whose divergences come from automatic differentiation.

    divergence: how to compute them
    """

    divergence: Divergence

    @abc.abstractmethod
    def inverse(self, x: Tree, estimate: Estimate | None = None) -> Tree:
        """Return G^-1 at x."""

    def inverse_alone(self, x: Tree) -> Tree:
        return self.inverse(x)

    def inverse_divergence(self, key: Array, x: Tree, estimate: Estimate | None = None) -> Tree:
        return self._divergence(key, x, lambda y: self.inverse(y), maps.apply)

    def root_divergence(self, key: Array, x: Tree, estimate: Estimate | None = None) -> Tree:
        root = lambda y: leaves.over(maps.smooth_root, self.inverse(y))
        return self._divergence(key, x, root, maps.transposed)

    def _divergence(self, key: Array, x: Tree, matrix: Any, times: Any) -> Tree:
        flat, unravel = ravel_pytree(x)
        apply = lambda y, v: ravel_pytree(leaves.over(times, matrix(unravel(y)), unravel(v)))[0]
        return unravel(self.divergence(apply, flat, key))


@pytree
class InverseMetric(DifferentiatedMetric):
    """A metric given by a function of the position that returns its inverse G^-1.

    function: x -> G^-1(x) (or with `data` (x, data)): one per leaf, or one for all: a number, an array of the
        leaf's shape (a diagonal), `Dense` or `LowRank`
    divergence: `ExactDivergence()`, or `ProbedDivergence()` for many parameters; one probe is exact if the metric
        is diagonal and each entry depends on its own coordinate only
    """

    function: Callable[..., Any] = static()
    data: Any = None
    divergence: Divergence = ExactDivergence()

    def inverse(self, x: Tree, estimate: Estimate | None = None) -> Tree:
        value = self.function(x) if self.data is None else self.function(x, self.data)
        return leaves.spread(value, x)


@pytree
class PotentialMetric(PositionMetric):
    """The metric G^-1 = scale sqrt|U~ + offset| I, from the estimate of the potential itself.

    scale: D of section F.1 of Ma et al. (the default is theirs)
    offset: C of the same section; U~ + C must be positive everywhere
    """

    scale: Any = 1.5
    offset: Any = 0.5

    def inverse(self, x: Tree, estimate: Estimate) -> Tree:
        return leaves.spread(self._power(estimate, 0.5)[0] * self.scale, x)

    def inverse_divergence(self, key: Array, x: Tree, estimate: Estimate) -> Tree:
        return jax.tree.map(lambda g: -self.scale * self._power(estimate, 0.5)[1] * g, estimate.gradient)

    def root_divergence(self, key: Array, x: Tree, estimate: Estimate) -> Tree:
        slope = jnp.sqrt(jnp.asarray(self.scale, estimate.logdensity.dtype)) * self._power(estimate, 0.25)[1]
        return jax.tree.map(lambda g: -slope * g, estimate.gradient)

    def _power(self, estimate: Estimate, power: float) -> tuple[Array, Array]:
        """Return |U + C|^power and its derivative with respect to U."""
        u = self.offset - estimate.logdensity
        return jnp.abs(u) ** power, power * jnp.abs(u) ** (power - 1) * jnp.sign(u)
