"""What every gradient estimator promises, over the registry: no bias, dtypes and the shape of its memory kept."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core import trees
from orthodrome.gradients import FullGradient, GradientEstimator
from orthodrome.manifolds import Positive
from orthodrome.targets import Posterior, Target
from support.classes import classes_with
from support.estimates import NUM_KEYS, THRESHOLD, estimates, z_scores
from support.registry import ESTIMATORS, TARGETS

BEFORE = np.array([0.1, 0.2])
"""Where the memory began: an anchor that is not the point itself."""

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@every_estimator
def test_unbiased(name: str) -> None:
    """Detects 6.4 standard errors: 5 % of the gradient's own standard deviation. Half of the gradient is seen."""
    case = ESTIMATORS[name]
    law = case.law()
    exact, _ = FullGradient(law).estimate(None, jnp.asarray(case.at, "float32"))
    arguments = jnp.asarray(case.at, "float32"), jnp.asarray(BEFORE, "float32"), jax.random.key(1)
    found = estimates(case.make(law), *arguments, count=50 if case.exact else NUM_KEYS)
    if case.exact:
        every = np.broadcast_to(case.share * exact.gradient, found.gradient.shape)
        np.testing.assert_allclose(found.gradient, every, rtol=2e-5, atol=2e-5)
        return
    z = z_scores(found.gradient, case.share * exact.gradient)
    assert np.all(np.abs(z) < THRESHOLD), z
    assert np.max(np.abs(z_scores(0.5 * found.gradient, case.share * exact.gradient))) > 2 * THRESHOLD
    if case.height:
        assert np.abs(z_scores(found.logdensity, case.share * exact.logdensity)) < THRESHOLD


@every_estimator
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_estimate_keeps_dtypes_and_the_memory_its_shape(name: str, dtype: str) -> None:
    """Traced only; and a door finds nothing to refuse."""
    with jax.enable_x64(dtype == "float64"):
        case = ESTIMATORS[name]
        estimator = case.make(case.law(dtype))
        assert isinstance(estimator, GradientEstimator) and isinstance(estimator, case.kind)
        x = jnp.asarray(case.at, dtype)
        describe = lambda tree: jax.tree.map(lambda a: (a.shape, a.dtype), tree)
        memory = jax.eval_shape(estimator.init, x)
        estimate, after = jax.eval_shape(estimator.estimate, jax.random.key(0), x, memory)
        assert describe(memory) == describe(after)
        assert describe(estimate.gradient) == describe(x) and describe(estimate.logdensity) == ((), jnp.dtype(dtype))
        assert estimator.target.manifold == estimator.manifold


OF_ONE_LAW = {"PairGradient"}
"""Estimators of the law of one model, which no other law can be given to: they have their tests beside the model."""


def test_every_estimator_is_registered() -> None:
    assert classes_with("estimate") - OF_ONE_LAW == {case.kind.__name__ for case in ESTIMATORS.values()}


@pytest.mark.parametrize("name", ["product", "simplex", "log-ratio", "ball"])
def test_the_gradient_is_the_slope_of_the_log_density(name: str) -> None:
    """Central differences along random directions, 1e-6 relative in float64."""
    with jax.enable_x64(True):
        law = TARGETS[name]
        kernel = FullGradient(law.target())
        x = law.manifold().from_user(jax.tree.map(lambda a: jnp.asarray(a[0]), law.exact_draws(5, 3)))
        estimate, _ = kernel.estimate(None, x, kernel.init(x))
        u = trees.normal_like(jax.random.key(0), x)
        density = law.target().embedded_logdensity
        slope = (density(trees.axpy(1e-6, u, x)) - density(trees.axpy(-1e-6, u, x))) / 2e-6
        np.testing.assert_allclose(trees.dot(estimate.gradient, u), slope, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(estimate.logdensity, density(x), rtol=1e-14)


def test_a_posterior_is_its_density_written_out() -> None:
    """log prior + sum of log likelihoods + log measure, once."""
    with jax.enable_x64(True):
        data = jnp.asarray([0.3, 1.2, -0.4])
        logprior = lambda p: -jnp.sum(p)
        loglikelihood = lambda p, y: -0.5 * jnp.sum((y - p) ** 2)
        posterior = Posterior(Positive(), logprior, loglikelihood, data)
        whole = Target(Positive(), lambda p: -jnp.sum(p) - 0.5 * jnp.sum((data[:, None] - p[None]) ** 2))
        x = jnp.asarray([0.7, 0.2])
        np.testing.assert_allclose(posterior.embedded_logdensity(x), whole.embedded_logdensity(x), rtol=1e-14)
        assert posterior.num_data == 3
