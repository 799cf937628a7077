"""The synthetic experiment of Baker et al. (2018), sections 1.3 and 2.2, with the settings of the errata, section 1.1.

d = 10, N = 1000, alpha = 0.1; batches with replacement; 1000 iterations of burn-in and 1000 that count. Sparse: counts
(800, 100, 100, 0, ...), from a start near uniform. Dense: categories at random, from the posterior parameter itself.
Three methods, each with its grid of steps:

    SCIR             as in Algorithm 1
    SGRLD            the expanded-mean form, with the right drift alpha - theta + n_hat - p sum(n_hat)
    SGRLD, authors   their code's drift theta (alpha - theta + n_hat - p sum(n_hat)) + 1 (erratum (a)): the bracket has
                     the factor theta and the 1 already, and small components drift by 1 where alpha = 0.1 is right

The paper's step of SGRLD is h in drift h / 2 and noise sqrt(h theta); that of `SGRLD` is h / 2.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, replace
from orthodrome.core.types import Reals
from orthodrome.diagnostics.ks_distance import ks_distance
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.manifolds import Simplex
from orthodrome.metrics.inverse_metric import InverseMetric
from orthodrome.samplers.stochastic.expanded_mean import expanded_mean_sgrld, weights_themselves
from orthodrome.samplers.stochastic.scir import SCIR

DIMENSION, ROWS, ALPHA = 10, 1000, 0.1
NUM_BURN_IN, NUM_DRAWS = 1000, 1000
SCIR_STEPS = (1.0, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001)
AUTHORS_STEPS = (1e-3, 5e-4, 1e-4, 5e-5, 1e-5, 5e-6, 1e-6)
RIGHT_STEPS = (2e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4, 5e-5)
"""The authors' grid makes sense with their drift only; the right one has its best steps above it."""
GRIDS = {"SCIR": SCIR_STEPS, "SGRLD": RIGHT_STEPS, "SGRLD, authors' drift": AUTHORS_STEPS}


class Problem(NamedTuple):
    """One data set: the category of every row, the raw weights of the start, and the posterior's parameter."""

    rows: Reals
    start: Reals
    concentration: Reals


def problem(sparse: bool, seed: int) -> Problem:
    """Return the data of one seed."""
    rng = np.random.default_rng(seed)
    random = rng.integers(DIMENSION, size=ROWS)
    rows = np.repeat(np.arange(3), [800, 100, 100]) if sparse else random
    concentration = ALPHA + np.bincount(rows, minlength=DIMENSION)
    start = ALPHA + np.bincount(random, minlength=DIMENSION)
    return Problem(rows.astype(np.int32), start.astype(np.float32), concentration)


def counts(key: Array, p: Array, rows: Array) -> Array:
    """Return how many rows of a batch are in each category."""
    return jnp.sum(jax.nn.one_hot(rows, DIMENSION, dtype=p.dtype), axis=0)


@pytree
class AuthorsDrift(InverseMetric):
    """The metric diag(theta) with a correction that turns the right drift r = theta g + 1 into theta r + 1."""

    def inverse_divergence(self, key: Array, x: Any, estimate: Any = None) -> Any:
        right = x * estimate.gradient + 1
        return x * right + 1 - x * estimate.gradient


def sampler_of(method: str, rows: Array, batch_size: int, step_size: Any) -> Any:
    """Return the sampler of a method; `step_size` is the paper's."""
    target = ConjugatePosterior(Simplex(), jnp.asarray(ALPHA), counts, rows)
    gradient = ConjugateCounts(target, batch_size, replace=True)
    if method == "SCIR":
        return SCIR(gradient, step_size)
    right = expanded_mean_sgrld(gradient, step_size / 2)
    return right if method == "SGRLD" else replace(right, metric=AuthorsDrift(weights_themselves))


@partial(jax.jit, static_argnames=("method", "batch_size"))
def chains(method: str, batch_size: int, rows: Array, starts: Array, steps: Array, keys: Array) -> Array:
    """Return the draws of p, (seed, step, draw, d), of all seeds and all steps of the grid together."""

    def one(data: Array, start: Array, h: Array, key: Array) -> Array:
        sampler = sampler_of(method, data, batch_size, h)
        on_simplex = jnp.sqrt(start / jnp.sum(start))
        move = lambda state, t: kept(sampler.step(jax.random.fold_in(key, t), state)[0])
        first = on_simplex if method == "SCIR" else start
        state = sampler.init(first, jax.random.fold_in(key, NUM_BURN_IN + NUM_DRAWS))
        draws = jax.lax.scan(move, state, jnp.arange(NUM_BURN_IN + NUM_DRAWS))[1][NUM_BURN_IN:]
        weights = draws**2 if method == "SCIR" else draws
        return weights / jnp.sum(weights, axis=-1, keepdims=True)

    over_steps = jax.vmap(one, in_axes=(None, None, 0, 0))
    return jax.vmap(over_steps, in_axes=(0, 0, None, 0))(rows, starts, steps, keys)


def kept(state: Any) -> tuple[Any, Any]:
    """Return a state and what is kept of it."""
    return state, state.position


class Best(NamedTuple):
    """A method at one batch size with the step whose mean distance over seeds is the least."""

    method: str
    batch_size: int
    step_size: float
    distances: Reals
    draws: Reals


def best_of_grid(method: str, batch_size: int, problems: list[Problem], seed: int) -> tuple[Best, list[dict[str, Any]]]:
    """Run the grid of a method at one batch size; return the best step, and a row for every run."""
    steps = jnp.asarray(GRIDS[method], jnp.float32)
    key = jax.random.fold_in(jax.random.key(seed), batch_size * 10 + list(GRIDS).index(method))
    keys = jax.random.split(key, (len(problems), len(steps)))
    rows, starts = (jnp.stack([jnp.asarray(p[i]) for p in problems]) for i in (0, 1))
    draws = np.asarray(chains(method, batch_size, rows, starts, steps, keys))
    pairs = list(zip(draws, problems, strict=True))
    found = np.array([[finite_distance(d, p.concentration) for d in runs] for runs, p in pairs])
    index = int(np.argmin(found.mean(axis=0)))
    table = [
        {"method": method, "batch_size": batch_size, "step_size": h, "run": s, "distance": found[s, i]}
        for i, h in enumerate(GRIDS[method])
        for s in range(len(problems))
    ]
    return Best(method, batch_size, GRIDS[method][index], found[:, index], draws[:, index]), table


def finite_distance(draws: Reals, concentration: Reals) -> float:
    """Return the distance of a run, and 1, the largest there is, of one that became non-finite."""
    return ks_distance(draws, concentration) if np.all(np.isfinite(draws)) else 1.0


def exact_draws(problems: list[Problem], seed: int) -> list[Reals]:
    """Return as many independent exact draws for every data set."""
    rng = np.random.default_rng(seed)
    return [exact_dirichlet(rng, p.concentration) for p in problems]


def exact_dirichlet(rng: np.random.Generator, concentration: Reals) -> Reals:
    """Draw from the Dirichlet law by Gamma draws in the log, so that none underflows."""
    boosted = np.log(rng.gamma(concentration + 1, size=(NUM_DRAWS, DIMENSION)))
    logs = boosted + np.log(rng.random((NUM_DRAWS, DIMENSION))) / concentration
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
