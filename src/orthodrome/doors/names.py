"""How errors name things: a leaf as the user would write it, a manifold by its classes."""

from __future__ import annotations

from typing import Any

import jax

from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold


def factors(manifold: Manifold) -> Any:
    """Return the tree of manifolds of a product; a single manifold is a tree of one."""
    return manifold.factors if isinstance(manifold, Product) else manifold


def describe(manifold: Manifold) -> str:
    """Return a manifold in words: `Sphere`, or `Product(topics: Sphere, scale: Positive)`."""
    if not isinstance(manifold, Product):
        return type(manifold).__name__
    leaves = jax.tree_util.tree_leaves_with_path(manifold.factors, is_leaf=is_manifold)
    inside = ", ".join(
        f"{jax.tree_util.keystr(path, simple=True, separator='.')}: {type(m).__name__}" for path, m in leaves
    )
    return f"Product({inside})"


def kinds(manifold: Manifold) -> list[Manifold]:
    """Return the manifold of each leaf, in the order of the leaves."""
    return jax.tree.leaves(factors(manifold), is_leaf=is_manifold)


def leaf_name(name: str, path: Any) -> str:
    """Return how the user would write a leaf, such as `start['topics']`."""
    return name + jax.tree_util.keystr(path)


def path_list(paths: Any) -> str:
    """Return the paths of a tree in words, such as `['scale'], ['topics']`."""
    return ", ".join(jax.tree_util.keystr(path) or "(a single array)" for path in paths)


def same_structure(a: Any, b: Any) -> bool:
    """Return whether two trees have the same containers and leaves."""
    return bool(jax.tree.structure(a) == jax.tree.structure(b))  # type: ignore[operator]
