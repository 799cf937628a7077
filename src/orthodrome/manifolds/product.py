"""A product of manifolds: any pytree of them; parameters are the same pytree (section 4.4 of Byrne & Girolami).

Each factor flows on its own with its own step; energies, dimensions and log measures add.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree
from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold


def is_manifold(node: Any) -> bool:
    """Return whether a node of a tree is a manifold, and so belongs to one leaf of the parameters."""
    return isinstance(node, Manifold)


@pytree
class Product(Manifold):
    """A product of manifolds, one for each leaf of the parameters.

    factors: a tree of manifolds like the parameters, such as {"topics": Sphere(), "scale": Positive()}
    """

    factors: Any

    def dimension(self, x: Tree) -> int:
        return sum(jax.tree.leaves(self.map(lambda m, a: m.dimension(a), x)))

    def project(self, x: Tree, u: Tree) -> Tree:
        return self.map(lambda m, a, b: m.project(a, b), x, u)

    def geodesic(self, x: Tree, v: Tree, t: Any) -> tuple[Tree, Tree]:
        pairs = self.map(lambda m, a, b, s: m.geodesic(a, b, s), x, v, t)
        first, second = (self.map(lambda m, pair, i=i: pair[i], pairs) for i in (0, 1))
        return first, second

    def retract(self, x: Tree) -> Tree:
        return self.map(lambda m, a: m.retract(a), x)

    def random_point(self, key: Array, like: Tree) -> Tree:
        keys = trees.split_like(key, self.factors, is_leaf=is_manifold)
        return self.map(lambda m, k, a: m.random_point(k, a), keys, like)

    def distance(self, x: Tree) -> Array:
        return jnp.max(jnp.stack(jax.tree.leaves(self.map(lambda m, a: m.distance(a), x))))

    def max_step(self, x: Tree) -> Any:
        return self.map(lambda m, a: m.max_step(a), x)

    def random_velocity(self, key: Array, x: Tree) -> Tree:
        keys = trees.split_like(key, self.factors, is_leaf=is_manifold)
        return self.map(lambda m, k, a: m.random_velocity(k, a), keys, x)

    def to_user(self, x: Tree) -> Tree:
        return self.map(lambda m, a: m.to_user(a), x)

    def user_logs(self, x: Tree) -> Tree:
        return self.map(lambda m, a: m.user_logs(a), x)

    def from_user(self, p: Tree) -> Tree:
        return self.map(lambda m, a: m.from_user(a), p)

    def walls(self, x: Tree) -> Tree:
        return self.map(lambda m, a: m.walls(a), x)

    def component(self, x: Tree) -> Array:
        rows = self.map(lambda m, a: m.component(a), x)
        return jnp.concatenate([jnp.zeros((0,), jnp.int32), *jax.tree.leaves(rows)])

    def into_component(self, x: Tree, other: Tree) -> Tree:
        return self.map(lambda m, a, b: m.into_component(a, b), x, other)

    def log_measure(self, x: Tree) -> Array | float:
        return sum(jax.tree.leaves(self.map(lambda m, a: m.log_measure(a), x)))

    def log_volume(self, like: Tree) -> float:
        return float(sum(jax.tree.leaves(self.map(lambda m, a: m.log_volume(a), like))))

    def map(self, function: Any, *rest: Tree) -> Tree:
        """Apply function(manifold, leaf, ...) to every factor and its leaves."""
        return jax.tree.map(function, self.factors, *rest, is_leaf=is_manifold)


def per_leaf(manifold: Manifold, function: Any, *rest: Tree) -> Tree:
    """Apply function(manifold of the leaf, leaf, ...) to every leaf, for a product or a single manifold."""
    return manifold.map(function, *rest) if isinstance(manifold, Product) else function(manifold, *rest)
