"""What SCIR, SWF, SOU and their rivals share: a report, the temperature, and what they say at the door."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.gradients.conjugate import ConjugateStatistics
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold


class DiffusionInfo(NamedTuple):
    """A report on one transition.

    lp: the estimated log density of the conditional law before the step
    temperature: the squared move over its mean in equilibrium with exact parameters; its mean is 1 + tanh(h/2) Var/Var,
        the inflation of the variance of the draws by the noise of the estimates
    clipped, floored: whether an estimated shape was not positive and had to be raised, and how many were
    """

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array
    floored: Array


def report(estimate: Estimate, temperature: Array, step_size: Setting) -> DiffusionInfo:
    """Return the report on a transition."""
    floored = estimate.statistics.floored
    return DiffusionInfo(estimate.logdensity, temperature, largest_step(step_size), floored > 0, floored)


def temperature_of(moved: Tree, expected: Tree, like: Array) -> Array:
    """Return the mean over leaves of squared moves over their means in equilibrium."""
    ratios = jax.tree.leaves(jax.tree.map(lambda m, e: (m / e).astype(like.dtype), moved, expected))
    return jnp.mean(jnp.stack(ratios))


def embedded_logs(log_p: Array) -> Array:
    """Return the embedded leaf sqrt(p) of log p, with no p below the smallest normal number."""
    least: Any = jnp.log(16 * jnp.finfo(log_p.dtype).tiny)  # 16: rounding of x must not take x^2 below it
    return jnp.exp(jnp.maximum(log_p, least) / 2)


def unsupported_leaf(manifold: Manifold, supported: tuple[type[Manifold], ...]) -> str | None:
    """Return the name of the first space that is none of the supported ones; None: all are."""
    leaves = jax.tree.leaves(manifold.factors, is_leaf=is_manifold) if isinstance(manifold, Product) else [manifold]
    return next((type(leaf).__name__ for leaf in leaves if type(leaf) not in supported), None)


def statistics_problem(gradient: GradientEstimator, position: Tree) -> str | None:
    """Return why an estimator gives no shapes for this position in the user's coordinates, or None."""
    x = jax.tree.map(jnp.asarray, position)
    ask = lambda key, p: gradient.estimate(key, (y := gradient.manifold.from_user(p)), gradient.init(y))[0].statistics
    try:
        found: Any = jax.eval_shape(ask, jax.random.key(0), x)
    except ValueError as error:
        return f"`counts` must return a tree like the parameters, summed over rows ({str(error).splitlines()[0]})"
    if not isinstance(found, ConjugateStatistics):
        return (
            f"{type(gradient).__name__} estimates no counts; give `ConjugateCounts(ConjugatePosterior(manifold, prior, "
            "counts, data), batch_size)`"
        )
    shapes = [leaf.shape for leaf in jax.tree.leaves(found.shapes)]
    wanted = [leaf.shape for leaf in jax.tree.leaves(x)]
    return None if shapes == wanted else f"`counts` returns the shapes {shapes} for parameters of the shapes {wanted}"
