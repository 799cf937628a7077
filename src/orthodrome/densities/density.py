"""The contract of a density: a log density and exact draws.

Each class names its reference measure; on curved spaces it is the surface (Hausdorff) measure of the embedding, which
is what the manifolds use. `logdensity` takes points along the last axes and gives one number per point. Where the
constant is not known in closed form the docstring says "unnormalised".

Laws without a direct generator are drawn by rejection: with an envelope g and a bound f <= M g, propose from g and
accept with probability f / (M g). How good the envelope is depends on the parameters; `acceptance_rate` estimates it,
and `sample` raises below 1e-4 instead of looping for hours. Compiled code cannot raise: there the draws that would have
taken too long are NaN.
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


class Density(abc.ABC):
    """The base class of distributions with a log density and exact independent draws."""

    @abc.abstractmethod
    def logdensity(self, x: Array) -> Array:
        """Return the log density at each point, with respect to the measure that the class names."""

    @abc.abstractmethod
    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        """Draw exactly and independently; `shape` comes before the axes of one draw."""


class RejectionDensity(Density):
    """The base class of distributions whose draws are made by rejection sampling."""

    @abc.abstractmethod
    def envelope(self) -> Any:
        """Return what all proposals share and is computed once, as a tree of arrays."""

    @abc.abstractmethod
    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        """Return `count` proposals and the logs of their acceptance probabilities."""

    def remedy(self) -> str:
        """Return what to do when the envelope accepts too few proposals."""
        return "use a Markov chain: sample(GeodesicNUTS(FullGradient(Target(manifold, density.logdensity))), ...)"

    def acceptance_rate(self, key: Array, num_proposals: int = 4096) -> Array:
        """Return an unbiased estimate of the acceptance rate of the rejection sampler."""
        return _rate(self, key, num_proposals)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        if traced((self, key)):
            return _draw(self, key, shape, 0)[0]
        draws, rate = _draw(self, key, shape, 4096)
        self._refuse_if_hopeless(float(rate))
        return draws

    def _refuse_if_hopeless(self, rate: float) -> None:
        if not rate >= random.SMALLEST_RATE:
            raise BadInput(
                f"{type(self).__name__}: the rejection sampler accepts about {rate:.1e} of its proposals "
                f"(at least {random.SMALLEST_RATE:.0e} is required); {self.remedy()}"
            )


@partial(jax.jit, static_argnums=2)
def _rate(density: RejectionDensity, key: Array, num_proposals: int) -> Array:
    return jnp.mean(jnp.exp(density.propose(density.envelope(), key, num_proposals)[1]))


@partial(jax.jit, static_argnums=(2, 3))
def _draw(density: RejectionDensity, key: Array, shape: tuple[int, ...], least: int) -> tuple[Array, Array]:
    envelope = density.envelope()
    draws, rate = random.stream(key, partial(density.propose, envelope), math.prod(shape), least)
    return draws.reshape(*shape, *draws.shape[1:]), rate


def traced(tree: Any) -> bool:
    """Return whether this runs inside a JAX transformation, where values are not known."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def spread(parameter: Array, shape: tuple[int, ...]) -> Array:
    """Repeat a parameter over new leading axes, one copy for each independent draw."""
    return jnp.broadcast_to(parameter, (*shape, *parameter.shape))
