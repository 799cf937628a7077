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
    """Make `cls` a frozen dataclass and register it with JAX."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True, eq=False)(cls))


def replace(obj: T, **changes: Any) -> T:
    """A copy of a configured object with some fields changed."""
    return dataclasses.replace(obj, **changes)  # type: ignore[type-var]
