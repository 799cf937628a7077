"""What the warm-up tells a sampler: `Learnt` if it is exact, `Measured` if its gradients are stochastic.

With the curvature L and the gradient's noise V, both in units in which the law is about round, a step must be short
for two reasons: the integrator errs by some power of it, and the noise heats. Of second-order dynamics with the
friction C (in these units; C = sqrt(L) unless set) the step a, and of first-order dynamics the step b, are

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


class Learnt(NamedTuple):
    """What dual averaging and the measured trajectories have found.

    step_size: one number, or a tree of steps in the units of the leaves
    num_steps, jitter: of a sampler that learns the length of its trajectories; None: not learnt (yet)
    """

    step_size: Setting
    num_steps: Setting = None
    jitter: Setting = None


class Measured(NamedTuple):
    """What the warm-up has measured so far.

    units: of each leaf, or element of a flat leaf; most: the longest step of each leaf
    share: s, by how much the noise may heat on average over the directions
    curvature, noise: L and V in these units, or in those of the sampler's own metric
    raw_noise: V without units; stretch: the largest diagonal entry of the inverse of that metric
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
        """sqrt(L): the frequency, and the friction that goes with it."""
        return jnp.sqrt(self.curvature)

    def second_order(self, stable: float, weakest: Any = None, strongest: Any = None) -> Array:
        """a, with frictions between the two (in the units of the measurement) if they are set."""
        weakest = self.rate if weakest is None else weakest
        strongest = self.rate if strongest is None else strongest
        by_noise = 2 * self.share * weakest / jnp.maximum(self.noise, 1e-30)
        by_curvature = stable / (self.rate * jnp.sqrt(self.stiffest))
        return jnp.minimum(jnp.minimum(by_curvature, stable / strongest), by_noise)

    def first_order(self) -> Array:
        """b."""
        by_curvature = FIRST / (self.curvature * self.stiffest)
        return jnp.minimum(by_curvature, 2 * self.share / jnp.maximum(self.noise, 1e-30))

    def in_units(self, step: Array) -> Tree:
        """The steps of the leaves, none beyond the longest."""
        bounded = lambda u, m: jnp.minimum(step.astype(u.dtype) * u, jnp.asarray(m, u.dtype))
        return jax.tree.map(bounded, self.units, self.most)

    def frictions(self) -> Tree:
        """sqrt(L) in the units of each leaf."""
        return jax.tree.map(lambda u: self.rate.astype(u.dtype) / u, self.units)
