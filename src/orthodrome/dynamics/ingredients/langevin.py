"""The ingredients of first-order Langevin dynamics: z = x, H = U, Q = 0, and D constant (SGLD) or G^-1(x) (SGRLD)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.dynamics.ingredients.contract import Ingredients, over_leaves, relative_steps, stretched
from orthodrome.gradients.estimator import Estimate
from orthodrome.linear import leaves


def preconditioned(sampler: Any, x: Tree) -> Array:
    """Return D, the preconditioner."""
    return stretched(over_leaves(leaves.one_if_none(sampler.preconditioner), x), relative_steps(sampler.step_size, x))


def inverse_metric(sampler: Any, x: Tree) -> Array:
    """Return G^-1(x), where a metric made from the potential has that of all of the data."""
    return stretched(over_leaves(inverse_at(sampler, x), x), relative_steps(sampler.step_size, x))


def inverse_at(sampler: Any, x: Tree) -> Tree:
    """Return G^-1(x) with one entry per leaf."""
    alone = sampler.metric.inverse_alone(x)
    if alone is not None:
        return alone
    exact = sampler.gradient.target.embedded_logdensity(x)
    return sampler.metric.inverse(x, Estimate(jnp.asarray(exact), None, None))


LANGEVIN = Ingredients(None, preconditioned, None)
RIEMANNIAN_LANGEVIN = Ingredients(None, inverse_metric, None)
