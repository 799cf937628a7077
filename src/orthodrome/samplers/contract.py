"""The contract of every sampler: BlackJAX's `init` and `step`.

A sampler is a configured object (see `pytree`) and an argument of the compiled loop. `State` is a NamedTuple with a
field `position` (embedded); `Info` is a NamedTuple of a few numbers of fixed shape, with ArviZ's names where it has
one. The key is never stored in a state; `step` splits it once, at its top, into named keys.

`tuned(...)` is how `Adapted` sets what it has learnt; a sampler says in `tunes` what it wants to have learnt.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from jax import Array

from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold


@runtime_checkable
class Sampler(Protocol):
    """init and step; compiled says whether `step` may be traced by JAX."""

    compiled: bool

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        ...

    def init(self, position: Tree, key: Array | None = None) -> Any:
        """The state at an embedded position."""
        ...

    def step(self, key: Array, state: Any) -> tuple[Any, Any]:
        """One transition."""
        ...
