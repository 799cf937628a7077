"""Step sizes: a number, an array, a linear map, or a tree of these.

Different steps for different parts of the position are a change of units. With a step h_i per leaf (or per element
of a flat leaf) the geodesic flow and the kicks of that part both use h_i, and the kinetic energy stays |v|^2 / 2:

    x_i <- geodesic(x_i, v_i, h_i),      v_i <- v_i + h_i P(x_i) grad_i.

On flat leaves the change of units may be any linear map L (section 4.1 of Byrne & Girolami): x <- x + h L v and v
<- v + h L' grad; `Dense` and `LowRank` are such maps. L L' is the inverse mass matrix of the literature.
"""

from __future__ import annotations

import abc
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, replace


class LinearStep(abc.ABC):
    """A step size that is a linear map on the whole of one flat leaf, taken as a vector."""

    size: Any

    @abc.abstractmethod
    def forward(self, v: Array) -> Array:
        """size L v"""

    @abc.abstractmethod
    def transposed(self, g: Array) -> Array:
        """size L' g"""

    @abc.abstractmethod
    def inverse(self, x: Array) -> Array:
        """L^-1 x / size"""

    def resized(self, factor: Any) -> LinearStep:
        """The same map with its size multiplied."""
        return replace(self, size=_times(self.size, factor))


@pytree
class Dense(LinearStep):
    """L a lower-triangular matrix (a Cholesky factor of the covariance)."""

    size: Any
    matrix: Array

    def forward(self, v: Array) -> Array:
        return self.size * (self.matrix @ v.ravel()).reshape(v.shape)

    def transposed(self, g: Array) -> Array:
        return self.size * (self.matrix.T @ g.ravel()).reshape(g.shape)

    def inverse(self, x: Array) -> Array:
        solved = jax.scipy.linalg.solve_triangular(self.matrix, x.ravel(), lower=True)
        return solved.reshape(x.shape) / self.size


@pytree
class LowRank(LinearStep):
    """L = diag(scale) (I + U diag(stretch - 1) U'), U with few orthonormal columns."""

    size: Any
    scale: Array
    directions: Array
    stretch: Array

    def forward(self, v: Array) -> Array:
        return self.size * (self.scale * self._stretched(v.ravel(), self.stretch)).reshape(v.shape)

    def transposed(self, g: Array) -> Array:
        return self.size * self._stretched(self.scale * g.ravel(), self.stretch).reshape(g.shape)

    def inverse(self, x: Array) -> Array:
        return self._stretched(x.ravel() / self.scale, 1 / self.stretch).reshape(x.shape) / self.size

    def _stretched(self, v: Array, stretch: Array) -> Array:
        return v + self.directions @ ((stretch - 1) * (self.directions.T @ v))


def forward(h: Any, v: Array) -> Array:
    """The displacement of a flat leaf with velocity v."""
    return h.forward(v) if isinstance(h, LinearStep) else h * v


def transposed(h: Any, g: Array) -> Array:
    """The kick from the (projected) gradient g."""
    return h.transposed(g) if isinstance(h, LinearStep) else h * g


def inverse(h: Any, x: Array) -> Array:
    """The displacement x measured in the units of the step."""
    return h.inverse(x) if isinstance(h, LinearStep) else x / h


def is_step(node: Any) -> bool:
    """Whether a node of a tree of steps is a linear map."""
    return isinstance(node, LinearStep)


def scaled(h: Any, factor: Any) -> Any:
    """Every step of the tree multiplied by one number."""
    return jax.tree.map(lambda s: s.resized(factor) if is_step(s) else _times(s, factor), h, is_leaf=is_step)


def _times(s: Any, factor: Any) -> Any:
    return s * jnp.asarray(factor, jnp.result_type(s))


def per_leaf(h: Any, position: Any) -> Any:
    """The steps spread out to one per leaf of the position, in its dtype; one number serves all leaves."""
    steps, structure = jax.tree.flatten(h, is_leaf=is_step)
    if jax.tree_util.treedef_is_leaf(structure):
        steps = steps * len(jax.tree.leaves(position))
    cast = [s if is_step(s) else jnp.asarray(s, x.dtype) for s, x in zip(steps, jax.tree.leaves(position), strict=True)]
    return jax.tree.unflatten(jax.tree.structure(position), cast)
