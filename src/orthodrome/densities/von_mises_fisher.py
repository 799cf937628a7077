"""The von Mises-Fisher law: exp(kappa mean'x) on the unit sphere.

With d the dimension of the space and L = log 0F1(d / 2; kappa^2 / 4), the log of the mean of exp(kappa u_1) over the
uniform law,

    log density = kappa (mean'x - 1) - [L(kappa) - kappa] - log area(S^{d-1}),

written with mean'x - 1 = -|x - mean|^2 / 2, so that neither the exponent nor the constant is large at kappa = 1e6. The
mean resultant length is A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa). Draws: Wood (1994), see `random.cosine_gap`.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from orthodrome import random, special
from orthodrome.core.pytree import pytree
from orthodrome.densities.density import Density, spread


@pytree
class VonMisesFisher(Density):
    """The von Mises-Fisher distribution of unit vectors, in any dimension >= 2.

    Normalised, with respect to the surface measure of the sphere.

    mean: unit vectors along the last axis; leading axes are independent distributions
    concentration: kappa >= 0, one number or one for each mean
    """

    mean: Array
    concentration: Any

    def logdensity(self, x: Array) -> Array:
        apart = x - jnp.broadcast_to(self.mean, x.shape)
        kappa, constant = (jnp.broadcast_to(a, x.shape[:-1]) for a in (self._kappa(), self.log_normaliser()))
        return constant - kappa * jnp.sum(apart**2, axis=-1) / 2

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        kappa = jnp.broadcast_to(self._kappa(), self.mean.shape[:-1])
        return random.von_mises_fisher(key, spread(self.mean, shape), spread(kappa, shape))

    def log_normaliser(self) -> Array:
        """Return the log density at the mean."""
        d = self.mean.shape[-1]
        return -special.log_sphere_mgf_scaled(d / 2 - 1, self._kappa()) - special.log_sphere_area(d, self.mean.dtype)

    def mean_resultant(self) -> Array:
        """Return the mean resultant length A_d(kappa) = |E[x]|."""
        return special.bessel_ratio(self.mean.shape[-1] / 2 - 1, self._kappa())

    def _kappa(self) -> Array:
        return jnp.asarray(self.concentration, self.mean.dtype)
