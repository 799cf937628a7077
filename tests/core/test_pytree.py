"""Configured objects as JAX sees them."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp

from orthodrome.core.pytree import pytree, replace, static
from orthodrome.manifolds import Euclidean, Positive, Sphere, Stiefel


@pytree
class Walk:
    size: float
    name: str = static(default="walk")


@pytree
class Run:
    size: float
    name: str = static(default="walk")


def test_the_class_is_part_of_the_structure() -> None:
    """With equal structures a compiled function may serve one class with the program of another."""
    for one, other in itertools.combinations([Euclidean(), Positive(), Sphere(), Stiefel(), Walk(1.0), Run(1.0)], 2):
        assert jax.tree.structure(one) != jax.tree.structure(other)


def test_leaves_and_fixed_parts() -> None:
    walk = Walk(2.0, name="far")
    leaves, structure = jax.tree.flatten(walk)
    assert leaves == [2.0]
    again = jax.tree.unflatten(structure, [3.0])
    assert isinstance(again, Walk) and (again.size, again.name) == (3.0, "far")
    assert jax.tree.structure(replace(walk, name="near")) != structure
    assert [str(key) for (key,), _ in jax.tree_util.tree_leaves_with_path(walk)] == [".size"]


def test_a_new_leaf_does_not_compile_again_and_a_new_class_does() -> None:
    traced = []
    double = jax.jit(lambda w: traced.append(type(w)) or 2 * jnp.asarray(w.size))
    for walk in (Walk(1.0), Walk(2.0), Run(1.0), Run(2.0), Walk(3.0)):
        double(walk)
    assert traced == [Walk, Run]
