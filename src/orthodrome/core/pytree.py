"""Configured objects: frozen dataclasses that JAX sees through.

Everything a user configures (a manifold, a target, an estimator, a sampler) is one of these. Arrays are leaves, so
a new step size never recompiles and a sampler can be mapped, scheduled, sharded and saved; functions, strings,
flags and tuples are `static()`, part of the compiled program's identity. Two objects compare by identity
(`eq=False`): equality of arrays has no single truth value.

`__post_init__` would run again on every unflatten, with tracers in the fields; so these classes have none. Doors
check.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")

static = jax.tree.static


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(dataclasses.field, jax.tree.static))
def pytree(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass and register it with JAX, the class itself part of the structure.

    Under `jax.tree_util.register_dataclass` two classes with the same fields have equal tree structures with different
    hashes, and now and then, as hashes fall, a compiled function serves one with the program of the other.
    """
    made = dataclasses.dataclass(frozen=True, eq=False)(cls)
    fields = dataclasses.fields(made)  # type: ignore[arg-type]
    fixed = tuple(f.name for f in fields if f.metadata.get("static", False))
    leaves = tuple(f.name for f in fields if f.name not in fixed)
    keys = tuple(jax.tree_util.GetAttrKey(name) for name in leaves)

    def flatten(obj: T) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(getattr(obj, name) for name in leaves), (made, *(getattr(obj, name) for name in fixed))

    def flatten_with_keys(obj: T) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        values, identity = flatten(obj)
        return tuple(zip(keys, values, strict=True)), identity

    def unflatten(identity: tuple[Any, ...], values: Any) -> T:
        return made(**dict(zip((*fixed, *leaves), (*identity[1:], *values), strict=True)))

    jax.tree_util.register_pytree_with_keys(made, flatten_with_keys, unflatten, flatten)
    return made


def replace(obj: T, **changes: Any) -> T:
    """Return a copy of a configured object with some fields changed."""
    return dataclasses.replace(obj, **changes)  # type: ignore[type-var]
