"""The contract of a density: a log density and exact draws.

Each class names its reference measure; on curved spaces it is the surface (Hausdorff) measure of the embedding, which
is what the manifolds use. `logdensity` takes points along the last axes and gives one number per point. Where the
constant is not known in closed form the docstring says "unnormalised".

Laws without a direct generator are drawn by rejection: with an envelope g and a bound f <= M g, propose from g and
accept with probability f / (M g). How good the envelope is depends on the parameters; `acceptance_rate` tells, and
`sample` refuses below 1e-4 rather than spin. Inside compiled code, where nothing can be refused, it trusts the caller.
"""

from __future__ import annotations

import abc
import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import random
from orthodrome.errors import BadInput

SMALLEST_RATE = 1e-4


class Density(abc.ABC):
    """A law with a log density and exact independent draws."""

    @abc.abstractmethod
    def logdensity(self, x: Array) -> Array:
        """The log density at each point, with respect to the measure the class names."""

    @abc.abstractmethod
    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        """Exact independent draws; `shape` comes before the axes of one draw."""


class RejectionDensity(Density):
    """A density drawn by rejection."""

    @abc.abstractmethod
    def envelope(self) -> Any:
        """What the proposals need and is worth computing once (a tree of arrays)."""

    @abc.abstractmethod
    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        """`count` proposals and the logs of their acceptance probabilities."""

    def remedy(self) -> str:
        """What to do when the envelope is too far from this law."""
        return "use a Markov chain: sample(GeodesicNUTS(FullGradient(Target(manifold, density.logdensity))), ...)"

    def acceptance_rate(self, key: Array, num_proposals: int = 2048) -> Array:
        """An unbiased estimate of the probability that a proposal is accepted."""
        return _rate(self, key, num_proposals)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        pilot, draws = jax.random.split(key)
        if not _traced((self, key)):
            self._refuse_if_hopeless(pilot)
        return _draw(self, draws, shape)

    def _refuse_if_hopeless(self, key: Array) -> None:
        first, *more = jax.random.split(key, 32)
        rate = float(self.acceptance_rate(first))
        if not rate > 0.01:  # a few thousand proposals cannot tell 1e-3 from 1e-5
            rate = sum(float(self.acceptance_rate(k)) for k in more) / len(more)
        if not rate >= SMALLEST_RATE:
            raise BadInput(
                f"{type(self).__name__}: the rejection sampler accepts about {rate:.1e} of its proposals "
                f"(at least {SMALLEST_RATE:.0e} is required); {self.remedy()}"
            )


@partial(jax.jit, static_argnums=2)
def _rate(density: RejectionDensity, key: Array, num_proposals: int) -> Array:
    return jnp.mean(jnp.exp(density.propose(density.envelope(), key, num_proposals)[1]))


@partial(jax.jit, static_argnums=2)
def _draw(density: RejectionDensity, key: Array, shape: tuple[int, ...]) -> Array:
    envelope = density.envelope()
    draws = random.stream(key, lambda k, count: density.propose(envelope, k, count), math.prod(shape))
    return draws.reshape(*shape, *draws.shape[1:])


def _traced(tree: Any) -> bool:
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def spread(parameter: Array, shape: tuple[int, ...]) -> Array:
    """A parameter repeated over leading axes: one copy for each independent draw."""
    return jnp.broadcast_to(parameter, (*shape, *parameter.shape))
