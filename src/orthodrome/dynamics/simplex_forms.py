"""Langevin dynamics for Dirichlet(a) in five coordinate systems: what each one's drift and noise are.

Patterson & Teh (2013) compare parametrisations of the simplex for SGRLD, a step of which is

    x <- x + h mu(x) + sqrt(2 h) S(x) xi,     S S' = D = G^-1,     mu = D g + div D,

with the Fisher metric G of each form. With |a| = sum a, p the weights, and theta = e^x where that is used:

    form               x                         mu                                     D
    expanded mean      theta, p = theta/theta.   alpha - theta + n - p n.               diag(theta)     (`ExpandedMean`)
    expanded natural   log theta                 (alpha - 1 + n - p n.) / theta - 1     diag(1 / theta)
    reduced mean       p_i, i < d                a_i - |a| p_i                          diag(p) - p p'
    reduced natural    log p_i / p_d, i < d      (a_i - 1) / p_i - (a_d - 1) / p_d      diag(1 / p) + 1 1' / p_d
    mirrored           log p_i / p_d, i < d      a_i - |a| p_i                          1

**Reduced mean.** With the density prod p^(a - 1), g_i = (a_i - 1) / p_i - (a_d - 1) / p_d, so
D g = a_i - 1 - p_i (|a| - d), and div D = 1 - d p_i: the drift of the Wright-Fisher diffusion (at twice its speed),
whose exact transition is `SWF`. Here all d weights are moved by S = diag(sqrt p) - p sqrt(p)', which keeps their sum.

**Reduced natural.** In the log ratios the density is prod p^a, so g_i = a_i - |a| p_i, D g = a_i / p_i - a_d / p_d and
div D = 1 / p_d - 1 / p_i. It is the law of the differences x_i - x_d of d numbers with the drifts (a_i - 1) / p_i and
the noises xi_i / sqrt(p_i), which is how it is moved here.

**Expanded natural.** The prior theta ~ Gamma(alpha, 1) has the density e^(alpha x - theta) in x; div D = -1 / theta.

**Mirrored Langevin** (Hsieh, Kavis, Rolland & Cevher 2018) is plain Langevin dynamics in the dual of the entropic
mirror map, which are the log ratios: no metric, no wall, and a drift that is Lipschitz with the constant |a|, hence
stable for h < 2 / |a|, and slow where weights are small.

Drifts are linear in a (and n), so counts of minibatches are enough. What leaves the simplex is reflected by its
absolute value and normalised.
"""

from __future__ import annotations

import abc

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree


class SimplexForm(abc.ABC):
    """Coordinates x (..., d) of weights p, and a Langevin diffusion in them whose law is Dirichlet(a).

    a: estimated shapes, alpha: those of the prior, both (..., d)
    """

    @abc.abstractmethod
    def start(self, p: Array, alpha: Array) -> Array:
        """Return coordinates of the weights p."""

    @abc.abstractmethod
    def weights(self, x: Array) -> Array:
        """Return the logarithms of the weights."""

    @abc.abstractmethod
    def drift(self, x: Array, a: Array, alpha: Array) -> Array:
        """Return mu."""

    @abc.abstractmethod
    def noise(self, x: Array, xi: Array) -> Array:
        """Return S xi."""

    @abc.abstractmethod
    def spread(self, x: Array) -> Array:
        """Return the diagonal of D."""

    def fold(self, x: Array) -> Array:
        """Return x where it may be after a step."""
        return x


class LogCoordinates(SimplexForm):
    """What the forms in logarithms share: p = softmax(x)."""

    def start(self, p: Array, alpha: Array) -> Array:
        return jnp.log(jnp.maximum(p, jnp.finfo(p.dtype).tiny))

    def weights(self, x: Array) -> Array:
        return jax.nn.log_softmax(x, axis=-1)


@pytree
class ReducedMean(SimplexForm):
    """The weights themselves, with the metric of the multinomial: an Euler scheme of the Wright-Fisher diffusion."""

    def start(self, p: Array, alpha: Array) -> Array:
        return p

    def weights(self, x: Array) -> Array:
        return jnp.log(jnp.maximum(x, jnp.finfo(x.dtype).tiny))

    def drift(self, x: Array, a: Array, alpha: Array) -> Array:
        return a - x * jnp.sum(a, axis=-1, keepdims=True)

    def noise(self, x: Array, xi: Array) -> Array:
        root = jnp.sqrt(x) * xi
        return root - x * jnp.sum(root, axis=-1, keepdims=True)

    def spread(self, x: Array) -> Array:
        return x * (1 - x)

    def fold(self, x: Array) -> Array:
        inside = jnp.maximum(jnp.abs(x), jnp.finfo(x.dtype).tiny)
        return inside / jnp.sum(inside, axis=-1, keepdims=True)


@pytree
class ReducedNatural(LogCoordinates):
    """Log ratios with the metric of the multinomial."""

    def drift(self, x: Array, a: Array, alpha: Array) -> Array:
        return (a - 1) / jax.nn.softmax(x, axis=-1)

    def noise(self, x: Array, xi: Array) -> Array:
        return xi / jnp.sqrt(jax.nn.softmax(x, axis=-1))

    def spread(self, x: Array) -> Array:
        return 1 / jax.nn.softmax(x, axis=-1)

    def fold(self, x: Array) -> Array:
        return jax.nn.log_softmax(x, axis=-1)


@pytree
class ExpandedNatural(LogCoordinates):
    """Logarithms of Gamma weights theta, with the metric theta."""

    def start(self, p: Array, alpha: Array) -> Array:
        return super().start(p, alpha) + jnp.log(jnp.sum(alpha, axis=-1, keepdims=True))

    def drift(self, x: Array, a: Array, alpha: Array) -> Array:
        counts = a - alpha
        residual = counts - jax.nn.softmax(x, axis=-1) * jnp.sum(counts, axis=-1, keepdims=True)
        return (alpha - 1 + residual) * jnp.exp(-x) - 1

    def noise(self, x: Array, xi: Array) -> Array:
        return xi * jnp.exp(-x / 2)

    def spread(self, x: Array) -> Array:
        return jnp.exp(-x)


@pytree
class Mirrored(LogCoordinates):
    """Log ratios to the last weight, without a metric: the mirrored Langevin dynamics of the entropic mirror map."""

    def start(self, p: Array, alpha: Array) -> Array:
        logs = super().start(p, alpha)
        return logs - logs[..., -1:]

    def drift(self, x: Array, a: Array, alpha: Array) -> Array:
        return _without_last(a - jax.nn.softmax(x, axis=-1) * jnp.sum(a, axis=-1, keepdims=True))

    def noise(self, x: Array, xi: Array) -> Array:
        return _without_last(xi)

    def spread(self, x: Array) -> Array:
        return _without_last(jnp.ones_like(x))


def _without_last(x: Array) -> Array:
    """Return x with its last element 0."""
    return x.at[..., -1].set(0)
