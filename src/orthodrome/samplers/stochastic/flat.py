"""On which manifolds the samplers of flat space work."""

from __future__ import annotations

from typing import Any

import jax

from orthodrome.core.types import Setting
from orthodrome.linear import leaves
from orthodrome.linear.linear_map import is_map
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold
from orthodrome.samplers.contract import StochasticSampler


class FlatSampler(StochasticSampler):
    """A sampler of flat spaces, which reflects at walls."""

    @property
    def matrices(self) -> tuple[Any, ...]:
        """The settings that may hold matrices."""
        return ()

    def supports(self, manifold: Manifold) -> str | None:
        """Return why the sampler cannot work on a manifold, and what to use instead; None if it can."""
        return refusal(manifold, self.step_size, *self.matrices)


def refusal(manifold: Manifold, step_size: Setting = None, *settings: Any) -> str | None:
    """Return why a sampler of flat space cannot work on a manifold, and what to use instead; None if it can.

    settings: what may hold matrices (preconditioner, mass, friction), which mix coordinates and so cannot be reflected
    """
    kinds = jax.tree.leaves(manifold.factors, is_leaf=is_manifold) if isinstance(manifold, Product) else [manifold]
    curved = next((kind for kind in kinds if not kind.flat), None)
    if curved is not None:
        return (
            f"{type(curved).__name__} is not flat; use SGGMC or GSGNHT, which follow its geodesics, or a chart "
            "(`LogRatioSimplex`, `LogPositive`)"
        )
    if any(is_map(step) for step in jax.tree.leaves(step_size, is_leaf=is_map)):
        return (
            "its step size is one number, or one per leaf or element; a linear map is a preconditioner or mass matrix"
        )
    walls = any(not kind.smooth for kind in kinds)
    if walls and any(leaves.any_map(setting) for setting in settings):
        return "a matrix mixes the coordinates, and walls reflect one at a time; give a diagonal, or use `LogPositive`"
    return None
