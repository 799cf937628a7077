"""Where the exact Riemannian samplers work: flat coordinates without walls."""

from __future__ import annotations

import jax
import numpy as np

from orthodrome.core.types import Setting
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold


def smooth_and_flat(manifold: Manifold) -> str | None:
    """Return why a sampler with a local metric cannot work on a manifold, and what to use instead; None if it can."""
    kinds = jax.tree.leaves(manifold.factors, is_leaf=is_manifold) if isinstance(manifold, Product) else [manifold]
    for kind in kinds:
        if not kind.flat:
            return f"{type(kind).__name__} is not flat; use GeodesicHMC, which follows its geodesics, or a chart"
        if not kind.smooth:
            return f"{type(kind).__name__} has walls, and implicit steps cannot be reflected; use `LogPositive`"
    return None


def one_step_size(step_size: Setting) -> str | None:
    """Return why a step size is invalid beside a metric, which determines the units: it must be one number; else
    None."""
    if step_size is not None and np.ndim(step_size) != 0:
        return "step_size is one number: the metric has the units of the coordinates"
    return None
