"""A macro step of WALNUTS under way: its micro steps, the levels that are tried for it, and its way back."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Setting
from orthodrome.dynamics.leapfrog import Point


class Macro(NamedTuple):
    """A macro step under way.

    origin, end: where it begins and, on the way back, ended
    at: the state that the micro steps have reached, after `taken` of them
    lowest, highest: of both energies so far, H and that of the softened forces
    level: of these micro steps
    back: whether this is the way back, to see whether a lower level passes
    """

    origin: Point
    end: Point
    at: Point
    lowest: Array
    highest: Array
    level: Array
    taken: Array
    back: Array

    def anew(self, start: Point, level: Array) -> Macro:
        """Return the macro step with micro steps of a level that begin anew at a state."""
        nothing = jnp.full_like(self.lowest, jnp.inf)
        return self._replace(at=start, lowest=nothing, highest=-nothing, level=level, taken=jnp.zeros_like(self.taken))

    def seen(self, energies: Array) -> Macro:
        """Return the macro step with both energies of a state."""
        lowest, highest = jnp.minimum(self.lowest, energies), jnp.maximum(self.highest, energies)
        return self._replace(lowest=lowest, highest=highest)

    def varies(self, most: Setting) -> Array:
        """Return whether both energies have varied by more than this so far, or are not finite."""
        return jnp.all(~(self.highest - self.lowest <= most))


def first(origin: Point, old: Macro) -> Macro:
    """Return a macro step that begins at a state, at level 0."""
    return old._replace(origin=origin, back=jnp.zeros_like(old.back)).anew(origin, jnp.zeros_like(old.level))


def following(m: Macro, arrived: Array, over: Array) -> Macro:
    """Return what the next micro step belongs to.

    arrived: whether this level is the one of the step: the way back begins at the level below
    over: whether it is not, because of the energy: the next level is finer, or coarser on the way back
    """
    lower = m.level - 1  # of level 0 there is no way back
    begun = m._replace(end=m.at, back=jnp.ones_like(m.back)).anew(m.at, lower)
    another = trees.where(m.back, m.anew(m.end, lower), m.anew(m.origin, m.level + 1))
    return trees.where(arrived, begun, trees.where(over, another, m))
