"""The Dirichlet law, with draws that stay finite in the log at any concentration.

p = g / sum(g) with g_i ~ Gamma(concentration_i). Nearly all Gamma(1e-4) draws lie below the smallest number of float32,
so `sample_log` never leaves the log: log p = log g - logsumexp(log g). `sample` is its exponential, and may hold zeros.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import gammaln, logsumexp, xlogy

from orthodrome import random
from orthodrome.core.pytree import pytree
from orthodrome.densities.density import Density, spread


@pytree
class Dirichlet(Density):
    """The Dirichlet distribution of probability vectors along the last axis.

    Normalised, with respect to Lebesgue measure in all coordinates but one (the flat measure of the simplex).

    concentration: positive numbers along the last axis; leading axes are independent distributions
    """

    concentration: Array

    def logdensity(self, p: Array) -> Array:
        return jnp.sum(xlogy(self._like(p) - 1, p), axis=-1) + jnp.broadcast_to(self.log_normaliser(), p.shape[:-1])

    def logdensity_from_log(self, log_p: Array) -> Array:
        """Return `logdensity` at exp(log_p), where p itself may underflow."""
        constant = jnp.broadcast_to(self.log_normaliser(), log_p.shape[:-1])
        return jnp.sum((self._like(log_p) - 1) * log_p, axis=-1) + constant

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        return jnp.exp(self.sample_log(key, shape))

    def sample_log(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        """Draw the logs of exact draws, which are always finite."""
        log_g = random.log_gamma(key, spread(self.concentration, shape))
        return log_g - logsumexp(log_g, axis=-1, keepdims=True)

    def log_normaliser(self) -> Array:
        """Return log Gamma(sum a) - sum log Gamma(a), a being the concentration."""
        return gammaln(jnp.sum(self.concentration, axis=-1)) - jnp.sum(gammaln(self.concentration), axis=-1)

    def mean(self) -> Array:
        """Return the mean E[p]."""
        return self.concentration / jnp.sum(self.concentration, axis=-1, keepdims=True)

    def _like(self, p: Array) -> Array:
        return jnp.broadcast_to(self.concentration, p.shape)
