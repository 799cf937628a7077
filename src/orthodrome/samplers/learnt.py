"""What the warm-up tells a sampler: `Learnt` if it is exact, `Measured` if its gradients are stochastic.

With the curvature L and the gradient's noise V, both in units in which the distribution is about isotropic, a step must
be short for two reasons: the integrator has an error of some power of it, and the noise raises the temperature. For
second-order dynamics with the friction C (in these units; C = sqrt(L) unless set) the step a, and for first-order
dynamics the step b, are

    a = min( stable / sqrt(L'), stable / C, 2 s C / V ),          b = min( FIRST / L', 2 s / V ),

where L' is the curvature in the stiffest direction and s the rise of the mean temperature that is allowed. `stable` is
SECOND for symmetric words, whose bias is of order a^2, and EULER for the schemes of order a. In the stiffest direction
of a Gaussian Euler's first-order scheme has the variance 1 / (1 - b L' / 2), so FIRST keeps it within 2 %; EULER is a
few per cent of the friction's time, by half of which a thermostat is off.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Setting, Tree

SECOND, EULER, FIRST = 0.4, 0.05, 0.04
"""The steps in units of the curvature: `stable` of symmetric words, `stable` of Euler schemes, and that of b."""


class Learnt(NamedTuple):
    """What dual averaging and the measured trajectories have found.

    step_size: one number, or a tree of steps in the units of the leaves
    num_steps, jitter: for a sampler that learns the length of its trajectories; None: not learnt (yet)
    depth_limit, persistence, leaf_steps: for one that learns how deep its trees may grow, how straight, and how many
        steps apart their leaves are
    """

    step_size: Setting
    num_steps: Setting = None
    jitter: Setting = None
    depth_limit: Setting = None
    persistence: Setting = None
    leaf_steps: Setting = None


class Measured(NamedTuple):
    """What the warm-up has measured so far.

    units: the unit of each leaf, or of each element of a flat leaf
    most: the longest step of each leaf
    share: s, the relative rise of the temperature, averaged over directions, that the noise may cause
    curvature, noise: L and V in these units, or in those of the sampler's own metric
    raw_noise: V without units
    stretch: the largest diagonal entry of the inverse of that metric
    stiffest: L' / L
    """

    units: Tree
    most: Tree
    share: Array
    curvature: Array
    noise: Array
    raw_noise: Array
    stretch: Array
    stiffest: Any = 1.0

    @property
    def rate(self) -> Array:
        """The frequency sqrt(L), which is also the friction that goes with it."""
        return jnp.sqrt(self.curvature)

    def second_order(self, stable: float, weakest: Any = None, strongest: Any = None) -> Array:
        """Return the step a of second-order dynamics.

        stable: SECOND or EULER
        weakest, strongest: the range of frictions that are set, in the units of the measurement; None: sqrt(L)
        """
        weakest = self.rate if weakest is None else weakest
        strongest = self.rate if strongest is None else strongest
        by_noise = 2 * self.share * weakest / jnp.maximum(self.noise, 1e-30)
        by_curvature = stable / (self.rate * jnp.sqrt(self.stiffest))
        return jnp.minimum(jnp.minimum(by_curvature, stable / strongest), by_noise)

    def first_order(self) -> Array:
        """Return the step b of first-order dynamics."""
        by_curvature = FIRST / (self.curvature * self.stiffest)
        return jnp.minimum(by_curvature, 2 * self.share / jnp.maximum(self.noise, 1e-30))

    def in_units(self, step: Array) -> Tree:
        """Return the step of each leaf in its units, at most the longest."""
        bounded = lambda u, m: jnp.minimum(step.astype(u.dtype) * u, jnp.asarray(m, u.dtype))
        return jax.tree.map(bounded, self.units, self.most)

    def frictions(self) -> Tree:
        """Return the friction sqrt(L) in the units of each leaf."""
        return jax.tree.map(lambda u: self.rate.astype(u.dtype) / u, self.units)
