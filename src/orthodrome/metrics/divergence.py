"""The correction of a matrix that depends on the state: Gamma_i = sum_j d/dz_j A_ij(z), by automatic differentiation.

Column by column, Gamma = sum_j d/dz_j [A(z) e_j], which takes one derivative per coordinate (`ExactDivergence`).
For a large z,

    Gamma = E [ d/ds A(z + s w) w at s = 0 ],     w independent random signs,

is unbiased from one derivative (`ProbedDivergence`; Hutchinson's estimator of a trace, row by row). It is exact
where row i of A has one entry that depends on z, A_ii(z_i): a diagonal matrix, element by element. Elsewhere its
error is one more noise in the drift, of covariance h^2 Var over a step, which vanishes with the step as the
gradient's does.
"""

from __future__ import annotations

import abc
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static

MatrixVectorProduct = Callable[[Array, Array], Array]
"""A function (z, v) -> A(z) v on vectors."""


class Divergence(abc.ABC):
    """A way to compute the divergence Gamma of a matrix that depends on the state."""

    @abc.abstractmethod
    def __call__(self, apply: MatrixVectorProduct, z: Array, key: Array) -> Array:
        """Return Gamma at the vector z, of the matrix whose product with v is apply(z, v)."""


@pytree
class ExactDivergence(Divergence):
    """The exact divergence, from one derivative per coordinate."""

    def __call__(self, apply: MatrixVectorProduct, z: Array, key: Array | None = None) -> Array:
        return jnp.sum(_along(apply, z, jnp.eye(z.size, dtype=z.dtype)), axis=0)


@pytree
class ProbedDivergence(Divergence):
    """An unbiased estimate of the divergence from random signs (Hutchinson).

    num_probes: the number of derivatives that are averaged
    """

    num_probes: int = static(default=1)

    def __call__(self, apply: MatrixVectorProduct, z: Array, key: Array) -> Array:
        signs = jax.random.rademacher(key, (self.num_probes, z.size), z.dtype)
        return jnp.mean(_along(apply, z, signs), axis=0)


def _along(apply: MatrixVectorProduct, z: Array, directions: Array) -> Array:
    """Return d/ds A(z + s w) w at s = 0 for every row w."""
    return jax.vmap(lambda w: jax.jvp(lambda y: apply(y, w), (z,), (w,))[1])(directions)
