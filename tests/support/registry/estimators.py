"""ESTIMATORS: every gradient estimator, with the law whose gradient it estimates.

A new estimator is one entry here and inherits `tests/gradients/test_contract.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.gradients import (
    SVRG,
    BatchGradient,
    CenteredCounts,
    ConjugateCounts,
    ConjugatePosterior,
    ControlVariate,
    EmpiricalFisher,
    ExpandedMean,
    FullForm,
    FullGradient,
    LatentGradient,
    LatentPosterior,
    Minibatch,
    NoisyGradient,
    TemperedGradient,
)
from orthodrome.manifolds import Euclidean, LogPositive, Positive, Simplex
from orthodrome.targets import Posterior


def rate_prior(p: Array) -> Array:
    return jnp.sum(jnp.log(p) - p)


def rate_likelihood(p: Array, row: Array) -> Array:
    return jnp.sum(jnp.log(p) - p * row)


def rates(num_rows: int = 12, dtype: str = "float32") -> Posterior:
    """A chart with a log measure that must not be multiplied by N/n."""
    data = np.random.default_rng(0).exponential(size=(num_rows, 2))
    return Posterior(LogPositive(), rate_prior, rate_likelihood, jnp.asarray(data, dtype))


def normal_prior(p: Array) -> Array:
    return -0.5 * jnp.sum(p**2)


def two_groups(p: Array, row: Array) -> Array:
    """log of a mixture of N(p0, 1) and N(p1, 1), the label summed out."""
    return jax.scipy.special.logsumexp(-0.5 * (row - p) ** 2)


def group_rows(dtype: str = "float32") -> Array:
    rows = np.random.default_rng(0).normal(size=20) + np.repeat([0.0, 2.0], 10)
    return jnp.asarray(rows, dtype)


def groups(dtype: str = "float32") -> Posterior:
    return Posterior(Euclidean(), normal_prior, two_groups, group_rows(dtype))


def draw_labels(key: Array, p: Array, rows: Array, current: Any) -> tuple[Array, Any]:
    logits = -0.5 * (rows[:, None] - p[None, :]) ** 2
    labels = jax.random.categorical(key, logits, shape=(5, rows.shape[0]))
    return labels, (None if current is None else current + 1)


def complete(p: Array, rows: Array, labels: Array) -> Array:
    return jnp.sum(jnp.mean(-0.5 * (rows[None, :] - p[labels]) ** 2, axis=0))


def labelled(target: Posterior) -> LatentPosterior:
    """The same law with its labels."""
    return LatentPosterior(Euclidean(), normal_prior, draw_labels, complete, target.data)


CONCENTRATION = 1.5


def dirichlet_prior(p: Array) -> Array:
    return (CONCENTRATION - 1) * jnp.sum(jnp.log(p))


def component_likelihood(p: Array, row: Array) -> Array:
    """Of a mixture of two known components, whose densities at the datum are the row."""
    return jnp.log(jnp.sum(p * row))


def component_rows(dtype: str = "float32") -> Posterior:
    rows = np.random.default_rng(2).gamma(0.7, size=(12, 2))
    return Posterior(Simplex(), dirichlet_prior, component_likelihood, jnp.asarray(rows, dtype))


def categorical_likelihood(p: Array, row: Array) -> Array:
    return jnp.sum(row * jnp.log(p))


def categories(dtype: str = "float32") -> Posterior:
    rows = np.random.default_rng(1).multinomial(1, [0.7, 0.3], size=12)
    return Posterior(Simplex(), dirichlet_prior, categorical_likelihood, jnp.asarray(rows, dtype))


def expanded_prior(theta: Array) -> Array:
    return jnp.sum((CONCENTRATION - 1) * jnp.log(theta) - theta)


def expanded_likelihood(theta: Array, row: Array) -> Array:
    return jnp.sum(row * jnp.log(theta / jnp.sum(theta)))


def expanded_categories(dtype: str = "float32") -> Posterior:
    """The same law in the expanded-mean form."""
    return Posterior(Positive(), expanded_prior, expanded_likelihood, categories(dtype).data)


def summed_rows(key: Array, p: Array, rows: Array) -> Array:
    return jnp.sum(rows, axis=0)


def responsibilities(key: Array, p: Array, rows: Array) -> Array:
    joint = p[None, :] * rows
    return jnp.sum(joint / jnp.sum(joint, axis=1, keepdims=True), axis=0)


def drawn_components(key: Array, p: Array, rows: Array) -> Array:
    """A Gibbs step for the component of every row."""
    labels = jax.random.categorical(key, jnp.log(p[None, :] * rows))
    return jnp.sum(jax.nn.one_hot(labels, 2, dtype=rows.dtype), axis=0)


def conjugate(law: Posterior, counts: Any) -> ConjugatePosterior:
    return ConjugatePosterior(Simplex(), CONCENTRATION, counts, law.data)


@dataclass(frozen=True)
class EstimatorCase:
    """An estimator and its facts.

    kind: its class; make: the law -> the estimator
    law: dtype -> the law that it estimates
    exact: whether an estimate is the gradient itself
    share: the log density and the gradient that it estimates over the law's own
    at: the point of the tests
    height: whether `logdensity` is unbiased too (not where latents are drawn)
    """

    kind: type
    make: Callable[[Posterior], Any]
    law: Callable[..., Posterior] = lambda dtype="float32": rates(12, dtype)
    exact: bool = False
    share: float = 1.0
    height: bool = True
    at: tuple[float, float] = (0.3, -0.2)


def centre(target: Posterior) -> Array:
    return jnp.asarray([1.0, 1.0], target.data.dtype)


ESTIMATORS: dict[str, EstimatorCase] = {
    "FullGradient": EstimatorCase(FullGradient, FullGradient, exact=True),
    "BatchGradient": EstimatorCase(BatchGradient, lambda law: BatchGradient(law, num_data=12), exact=True),
    "Minibatch": EstimatorCase(Minibatch, lambda law: Minibatch(law, 3)),
    "Minibatch, with replacement": EstimatorCase(Minibatch, lambda law: Minibatch(law, 3, replace=True)),
    "Minibatch, most rows": EstimatorCase(Minibatch, lambda law: Minibatch(law, 9)),
    "Minibatch, Fisher": EstimatorCase(Minibatch, lambda law: Minibatch(law, 3, noise=EmpiricalFisher())),
    "ControlVariate": EstimatorCase(ControlVariate, lambda law: ControlVariate(law, centre(law), 3)),
    "ControlVariate, Fisher": EstimatorCase(
        ControlVariate, lambda law: ControlVariate(law, centre(law), 3, noise=EmpiricalFisher())
    ),
    "SVRG": EstimatorCase(SVRG, lambda law: SVRG(law, 3)),
    "LatentGradient": EstimatorCase(
        LatentGradient,
        lambda law: LatentGradient(labelled(law), 5, noise=EmpiricalFisher(FullForm())),
        law=groups,
        height=False,
    ),
    "ConjugateCounts": EstimatorCase(
        ConjugateCounts, lambda law: ConjugateCounts(conjugate(law, summed_rows), 3), law=categories
    ),
    "ConjugateCounts, latent": EstimatorCase(
        ConjugateCounts,
        lambda law: ConjugateCounts(conjugate(law, drawn_components), 3, replace=True),
        law=component_rows,
        height=False,
    ),
    "ExpandedMean": EstimatorCase(
        ExpandedMean,
        lambda law: ExpandedMean(ConjugateCounts(conjugate(law, summed_rows), 3)),
        law=expanded_categories,
        at=(0.3, 0.2),
    ),
    "CenteredCounts": EstimatorCase(
        CenteredCounts,
        lambda law: CenteredCounts(conjugate(law, summed_rows), jnp.full(2, 0.5), 3),
        law=categories,
        exact=True,
    ),
    "CenteredCounts, latent": EstimatorCase(
        CenteredCounts,
        lambda law: CenteredCounts(conjugate(law, responsibilities), jnp.full(2, 0.5), 6),
        law=component_rows,
        height=False,
    ),
    "NoisyGradient": EstimatorCase(NoisyGradient, lambda law: NoisyGradient(Minibatch(law, 3), 2.0)),
    "TemperedGradient": EstimatorCase(
        TemperedGradient, lambda law: TemperedGradient(Minibatch(law, 3), 2.0), share=0.5
    ),
}
