"""What to draw from: a log density, or a prior with the likelihood of one datum.

Both are functions of the coordinates the user thinks in, with respect to the measure that the manifold names.
Inside, the samplers see the density with respect to the surface measure of the embedding (Byrne & Girolami, section
3.1):

    log pi_H(x) = logdensity(to_user(x)) + log_measure(x).

Where the manifold knows the logs of the user's coordinates, a log in the user's function is taken from them: `in_user`.

Functions are static: define them once, and pass arrays as `data` rather than close over them, so that a repeated
run finds its compiled program again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import carried_logs
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold


def in_user(manifold: Manifold, function: Callable[[Tree], Array], x: Tree) -> Array:
    """Return function(to_user(x)), in which logs that the manifold knows are finite where the numbers underflow."""
    p, logs = manifold.to_user(x), manifold.user_logs(x)
    return carried_logs.evaluate(function, p, logs) if jax.tree.leaves(logs) else function(p)


class ManifoldLaw(Protocol):
    """What everybody asks of a law: where it lives."""

    @property
    def manifold(self) -> Manifold:
        """The space of the law."""
        ...


class LawOfData(ManifoldLaw, Protocol):
    """A law of rows of data, some of which make a batch."""

    @property
    def data(self) -> Any:
        """A tree of arrays that share their first axis."""
        ...

    @property
    def num_data(self) -> int:
        """N, the number of rows."""
        ...


class EmbeddedLaw(ManifoldLaw, Protocol):
    """A law whose log density can be computed."""

    def embedded_logdensity(self, x: Tree) -> Array:
        """log pi_H(x), with respect to the surface measure."""
        ...


@pytree
class Target:
    """A law on a manifold by its log density: `logdensity(parameters)`, or `logdensity(parameters, data)` with data."""

    manifold: Manifold
    logdensity: Callable[..., Array] = static()
    data: Any = None

    def user_logdensity(self, p: Tree) -> Array:
        """The user's function at a point in the user's coordinates."""
        return self.logdensity(p) if self.data is None else self.logdensity(p, self.data)

    def embedded_logdensity(self, x: Tree) -> Array:
        """log pi_H(x), with respect to the surface measure."""
        return in_user(self.manifold, self.user_logdensity, x) + self.manifold.log_measure(x)


@pytree
class Posterior:
    """prior x likelihood: `logprior(parameters)` and `loglikelihood(parameters, datum)` for ONE datum of `data`.

    `data` is an array or a pytree of arrays that share their first axis, one row per datum.
    """

    manifold: Manifold
    logprior: Callable[..., Array] = static()
    loglikelihood: Callable[..., Array] = static()
    data: Any = None

    @property
    def num_data(self) -> int:
        """N, the number of rows."""
        return int(jax.tree.leaves(self.data)[0].shape[0])

    def pointwise(self, p: Tree, rows: Tree) -> Array:
        """The log likelihood of each of some rows, in the user's coordinates."""
        each: Array = jax.vmap(self.loglikelihood, in_axes=(None, 0))(p, rows)
        return each

    def user_logdensity(self, p: Tree) -> Array:
        """The unnormalised log posterior at a point in the user's coordinates."""
        return self.logprior(p) + jnp.sum(self.pointwise(p, self.data))

    def embedded_prior(self, x: Tree) -> Array:
        """The part that is not multiplied by N/n: log prior and log measure."""
        return in_user(self.manifold, self.logprior, x) + self.manifold.log_measure(x)

    def embedded_likelihood(self, x: Tree, rows: Tree) -> Array:
        """The summed log likelihood of some rows."""
        return in_user(self.manifold, lambda p: jnp.sum(self.pointwise(p, rows)), x)

    def embedded_logdensity(self, x: Tree) -> Array:
        """log pi_H(x), with respect to the surface measure."""
        return self.embedded_prior(x) + self.embedded_likelihood(x, self.data)


@pytree
class TemperedTarget:
    """pi_H to the power of an exponent, for samplers without gradients."""

    target: EmbeddedLaw
    exponent: Any

    @property
    def manifold(self) -> Manifold:
        """The manifold of the law."""
        return self.target.manifold

    def embedded_logdensity(self, x: Tree) -> Array:
        """exponent log pi_H(x)."""
        height = self.target.embedded_logdensity(x)
        return jnp.asarray(self.exponent, height.dtype) * height
