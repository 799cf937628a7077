"""What the exact samplers with a metric that depends on the position share: flat coordinates without walls."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Setting, Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold
from orthodrome.metrics.local_metric import PointMetric
from orthodrome.samplers.contract import ExactGradientSampler


class RiemannianState(NamedTuple):
    """A position with its log density and gradient."""

    position: Tree
    logdensity: Array
    gradient: Tree


class RiemannianSampler(ExactGradientSampler):
    """An exact sampler on flat coordinates, with a metric that determines their units."""

    metric: PointMetric

    @property
    def learns(self) -> frozenset[str]:
        """One step size if it is not set: the metric determines the units."""
        return super().learns - {"units"}

    def supports(self, manifold: Manifold) -> str | None:
        """Return why the sampler cannot work on a manifold, and what to use instead; None if it can."""
        return smooth_and_flat(manifold)

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return one_step_size(self.step_size)

    def problem_at(self, position: Tree) -> str | None:
        """Return why the metric is not one at the start, or None."""
        return self.metric.problem_at(self.manifold.from_user(jax.tree.map(jnp.asarray, position)))

    def init(self, position: Tree, key: Array | None = None) -> RiemannianState:
        """Return the state at a position."""
        estimate, _ = self.gradient.estimate(None, position, None)
        return RiemannianState(position, estimate.logdensity, estimate.gradient)


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
