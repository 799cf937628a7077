"""Target distributions: a log density, or a log prior with the log likelihood of one datum.

Both are functions of the user's coordinates, with respect to the measure that the manifold names. Inside, the samplers
see the density with respect to the surface measure of the embedding (Byrne & Girolami, section 3.1):

    log pi_H(x) = logdensity(to_user(x)) + log_measure(x).

A law is also an estimator of its own gradient, the exact one (`gradients.estimator`): wherever a sampler wants an
estimator, `GeodesicNUTS(target)` is `GeodesicNUTS(FullGradient(target))`.

Where the manifold knows the logs of the user's coordinates, logs in the user's function are taken from them
(`in_user`).

Functions are static: define them once, and pass arrays as `data` rather than close over them, so that a repeated
run finds its compiled program again.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import carried_logs, trees
from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree, static
from orthodrome.core.row_blocks import rows_of_block, summed_over_rows
from orthodrome.core.types import Noise, Tree
from orthodrome.manifolds.manifold import Manifold


def in_user(manifold: Manifold, function: Callable[[Tree], Array], x: Tree) -> Array:
    """Return function(to_user(x)), in which logs that the manifold knows are finite where the numbers underflow."""
    p, logs = manifold.to_user(x), manifold.user_logs(x)
    return carried_logs.evaluate(function, p, logs) if jax.tree.leaves(logs) else function(p)


class ManifoldLaw(Protocol):
    """A distribution on a manifold."""

    @property
    def manifold(self) -> Manifold:
        """The space of the distribution."""
        ...


class LawOfData(ManifoldLaw, Protocol):
    """A distribution that depends on rows of data, of which a minibatch takes some."""

    @property
    def data(self) -> Any:
        """A tree of arrays that share their first axis."""
        ...

    @property
    def num_data(self) -> int:
        """The number N of rows."""
        ...


@runtime_checkable
class EmbeddedLaw(ManifoldLaw, Protocol):
    """A distribution whose log density can be computed."""

    def embedded_logdensity(self, x: Tree) -> Array:
        """Return log pi_H(x), the log density with respect to the surface measure."""
        ...


class Estimate(NamedTuple):
    """An estimate of the log density and its gradient at one position.

    logdensity: (an estimate of) log pi_H(x)
    gradient: its ambient gradient, not projected
    noise: V(x), the covariance of the gradient's error, or None if the gradient is exact
    statistics: anything else a sampler may use (SCIR: unbiased counts), or None
    """

    logdensity: Array
    gradient: Tree
    noise: Noise = None
    statistics: Any = None


# The inner jit keeps the trace: warm-up, draws and doors that meet the same shapes share it.
@keeps_programs
@jax.jit
def value_and_gradient(law: EmbeddedLaw, x: Tree) -> tuple[Array, Tree]:
    """Return log pi_H(x) and its ambient gradient, by automatic differentiation.

    law: a `Target` or a `Posterior`
    x: an embedded position
    """
    return law.with_gradient(x) if isinstance(law, ExactLaw) else jax.value_and_grad(law.embedded_logdensity)(x)


class ExactLaw(abc.ABC):
    """A law that estimates its own gradient, exactly: no key, no memory, no noise."""

    @abc.abstractmethod
    def embedded_logdensity(self, x: Tree) -> Array:
        """log pi_H(x), with respect to the surface measure."""

    def with_gradient(self, x: Tree) -> tuple[Array, Tree]:
        """Return log pi_H(x) and its ambient gradient; a law that knows a better way than this has its own."""
        return jax.value_and_grad(self.embedded_logdensity)(x)

    @property
    def target(self) -> Self:
        """The law itself."""
        return self

    def init(self, x: Tree) -> None:
        """Return None: the exact gradient has no memory."""
        return

    def estimate(self, key: Array | None, x: Tree, memory: None = None) -> tuple[Estimate, None]:
        """Return the exact log density and gradient."""
        return Estimate(*value_and_gradient(self, x)), None


@pytree
class Target(ExactLaw):
    """A distribution on a manifold, given by its log density.

    manifold: the space of the parameters; a `Product` if they are a tree
    logdensity: `logdensity(parameters)`, or `logdensity(parameters, data)` if there are data; up to a constant
    data: a tree of arrays, or None
    """

    manifold: Manifold
    logdensity: Callable[..., Array] = static()
    data: Any = None

    def user_logdensity(self, p: Tree) -> Array:
        """Return the user's function at a point in the user's coordinates."""
        return self.logdensity(p) if self.data is None else self.logdensity(p, self.data)

    def embedded_logdensity(self, x: Tree) -> Array:
        """Return log pi_H(x), the log density with respect to the surface measure."""
        return in_user(self.manifold, self.user_logdensity, x) + self.manifold.log_measure(x)


@pytree
class Posterior(ExactLaw):
    """A posterior distribution: a prior times the likelihood of independent data.

    manifold: the space of the parameters; a `Product` if they are a tree
    logprior: `logprior(parameters)`, up to a constant
    loglikelihood: `loglikelihood(parameters, datum)` for ONE datum of `data`
    data: an array, or a tree of arrays that share their first axis, one row per datum
    """

    manifold: Manifold
    logprior: Callable[..., Array] = static()
    loglikelihood: Callable[..., Array] = static()
    data: Any = None

    @property
    def num_data(self) -> int:
        """The number N of rows."""
        return int(jax.tree.leaves(self.data)[0].shape[0])

    def pointwise(self, p: Tree, rows: Tree) -> Array:
        """Return the log likelihood of each of the given rows, in the user's coordinates."""
        each: Array = jax.vmap(self.loglikelihood, in_axes=(None, 0))(p, rows)
        return each

    def user_logdensity(self, p: Tree) -> Array:
        """Return the unnormalised log posterior at a point in the user's coordinates."""
        return self.logprior(p) + jnp.sum(self.pointwise(p, self.data))

    def embedded_prior(self, x: Tree) -> Array:
        """Return the log prior plus the log measure, the part that is not multiplied by N/n."""
        return in_user(self.manifold, self.logprior, x) + self.manifold.log_measure(x)

    def embedded_likelihood(self, x: Tree, rows: Tree) -> Array:
        """Return the sum of the log likelihoods of the given rows."""
        return in_user(self.manifold, lambda p: jnp.sum(self.pointwise(p, rows)), x)

    def embedded_logdensity(self, x: Tree) -> Array:
        """Return log pi_H(x), the log density with respect to the surface measure."""
        return self.embedded_prior(x) + self.embedded_likelihood(x, self.data)

    def with_gradient(self, x: Tree) -> tuple[Array, Tree]:
        """Return log pi_H(x) and its ambient gradient; of very many rows, block by block."""
        if rows_of_block(x, self.data) is None:
            return super().with_gradient(x)
        value, gradient = self.likelihood_with_gradient(x)
        prior, slope = jax.value_and_grad(self.embedded_prior)(x)
        return prior + value, trees.add(slope, gradient)

    def likelihood_with_gradient(self, x: Tree) -> tuple[Array, Tree]:
        """Return the sum of the log likelihoods of all rows and its ambient gradient."""
        return self.gradient_over_rows(x, self.data)

    def gradient_over_rows(self, x: Tree, rows: Tree) -> tuple[Array, Tree]:
        """Return the sum of the log likelihoods of the given rows and its ambient gradient; of very many, by blocks."""
        both = jax.value_and_grad(self.embedded_likelihood)
        block = rows_of_block(x, rows)
        return both(x, rows) if block is None else summed_over_rows(lambda some: both(x, some), rows, block)


@pytree
class TemperedTarget:
    """The distribution with density proportional to pi_H^exponent, for samplers without gradients.

    target: the distribution that is tempered
    exponent: the inverse temperature beta
    """

    target: EmbeddedLaw
    exponent: Any

    @property
    def manifold(self) -> Manifold:
        """The space of the distribution."""
        return self.target.manifold

    def embedded_logdensity(self, x: Tree) -> Array:
        """Return exponent * log pi_H(x)."""
        height = self.target.embedded_logdensity(x)
        return jnp.asarray(self.exponent, height.dtype) * height
