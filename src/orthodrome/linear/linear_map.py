"""The contract of a linear map on one leaf of the position.

A leaf of n numbers, of whatever shape, is taken as the vector that `ravel` makes of it; a map is an n x n matrix over
that vector, known by what it does. Wherever the package asks for a matrix over a leaf (a step size, the covariance of
the gradient's error, a friction, a mass, a preconditioner, a metric), it takes one of

    a number                a I
    an array                diag(a), with the shape of the leaf
    a `LinearMap`           one of the classes below

which come in two families. A positive map A is symmetric positive definite: a covariance, a mass, a friction. A root of
it is any S with S S' = A: what turns standard normals into draws of N(0, A), and what a change of units is.

                positive map A                      its root S
    number      a                                   sqrt(a)
    diagonal    diag(a)                             diag(sqrt(a))
    dense       `Dense(matrix)`                     `Triangular(matrix)`, Cholesky's factor
    low rank    `LowRank(factor, diagonal)`         `Stretched(scale, directions, stretch)`

The functions of `maps` take any of these forms; those of `leaves` take a tree of them, one entry per leaf.
"""

from __future__ import annotations

import abc
from typing import Any, TypeAlias

from jax import Array

Entry: TypeAlias = Any
"""The matrix of one leaf: a number, an array of the leaf's shape, or a `LinearMap`."""


class LinearMap(abc.ABC):
    """A linear map L on one leaf; vectors have the shape of the leaf."""

    @abc.abstractmethod
    def misfit(self, size: int) -> str | None:
        """Return why the map cannot act on a leaf of `size` numbers, or None if it can."""

    @abc.abstractmethod
    def apply(self, v: Array) -> Array:
        """Return L v."""

    @abc.abstractmethod
    def transposed(self, v: Array) -> Array:
        """Return L' v."""

    @abc.abstractmethod
    def solve(self, v: Array) -> Array:
        """Return L^-1 v."""

    @abc.abstractmethod
    def dense(self) -> Array:
        """Return L as an n x n array."""

    @abc.abstractmethod
    def scaled(self, by: Any) -> LinearMap:
        """Return `by` times L, for one positive number."""


class PositiveMap(LinearMap):
    """A symmetric positive definite map A."""

    @abc.abstractmethod
    def root(self) -> LinearMap:
        """Return a map S with S S' = A."""

    @abc.abstractmethod
    def inverse(self) -> PositiveMap:
        """Return A^-1 as a map; to apply it once, `solve` is cheaper."""

    @abc.abstractmethod
    def diagonal_entries(self) -> Array:
        """Return the diagonal of A, a vector of n numbers."""

    @abc.abstractmethod
    def budget(self, time: Array) -> PositiveMap:
        """Return 2 t^(1/2) A t^(1/2), for a vector t of n numbers, or of one that serves all elements."""


def wrong_shape(name: str, array: Array, wanted: tuple[int, ...]) -> str | None:
    """Return that an array does not have the wanted shape, or None if it has."""
    return None if array.shape == wanted else f"`{name}` has the shape {array.shape}, not {wanted}"


def is_map(node: Any) -> bool:
    """Return whether a node of a tree is a `LinearMap`; as `is_leaf` it keeps JAX from taking maps apart."""
    return isinstance(node, LinearMap)
