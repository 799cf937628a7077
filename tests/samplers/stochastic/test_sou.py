"""SOU: exact transitions to normal and lognormal conditionals, with the moments of their minibatch version."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy import stats

from orthodrome.checks import check_sde
from orthodrome.doors import check_sampler
from orthodrome.dynamics.ornstein_uhlenbeck import sou_mean, sou_variance
from orthodrome.errors import Unsupported
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.manifolds import Euclidean, LogPositive, Positive, Product
from orthodrome.samplers import SOU

CHAINS, THRESHOLD, SURE = 40_000, 4.4, 2.5
ROWS = np.array([0.5, -1.0, 2.0, 3.0])
PRIOR, PRECISION = 0.6, 5.0
"""A precision of 1 for each of the rows and for the prior, whose mean is 0.6."""
MEAN, SD = (PRIOR + ROWS.sum()) / PRECISION, PRECISION**-0.5


def rows_summed(key: Array, p: Any, rows: Array) -> Any:
    return {"n": jnp.sum(rows, keepdims=True), "l": jnp.sum(rows, keepdims=True)}


def sampler(batch: int, step_size: float) -> SOU:
    manifold = Product({"n": Euclidean(), "l": LogPositive()})
    data = jnp.asarray(ROWS, "float32")
    return SOU(
        ConjugateCounts(ConjugatePosterior(manifold, PRIOR, rows_summed, data, PRECISION), batch, True), step_size
    )


@partial(jax.jit, static_argnames="num_steps")
def run(kernel: Any, start: Any, num_steps: int) -> Any:
    def one(key: Array, p: Any) -> Any:
        state = kernel.init(kernel.manifold.from_user(p))
        step = lambda s, t: (kernel.step(jax.random.fold_in(key, t), s)[0], None)
        return kernel.manifold.to_user(jax.lax.scan(step, state, jnp.arange(num_steps))[0].position)

    return jax.vmap(lambda i, p: one(jax.random.fold_in(jax.random.key(3), i), p))(jnp.arange(CHAINS), start)


def exact_start() -> dict[str, Array]:
    normal = MEAN + SD * np.random.default_rng(0).normal(size=(2, CHAINS, 1))
    return {"n": jnp.asarray(normal[0], "float32"), "l": jnp.asarray(np.exp(normal[1]), "float32")}


def distances(end: Any) -> list[float]:
    laws = {"n": stats.norm(MEAN, SD), "l": stats.lognorm(SD, scale=np.exp(MEAN))}
    return [stats.kstest(np.asarray(end[k])[:, 0], law.cdf).statistic * CHAINS**0.5 for k, law in laws.items()]


@pytest.mark.parametrize("step_size", [0.1, 4.0])
def test_the_law_stays(step_size: float) -> None:
    """With all rows (a batch of all, not with replacement) at any step; see test_scir for what it can detect."""
    kernel = sampler(4, step_size)
    whole = SOU(ConjugateCounts(kernel.gradient.target, 4), step_size)
    assert max(distances(run(whole, exact_start(), 4))) < SURE


def test_noise_of_batches_is_seen() -> None:
    """The control: the same with batches of one row, whose variance is that of the next test."""
    assert min(distances(run(sampler(1, 2.0), exact_start(), 4))) > 2 * SURE


def test_minibatches_have_the_mean_and_the_variance_of_the_process() -> None:
    start = {"n": jnp.full((CHAINS, 1), -1.0), "l": jnp.full((CHAINS, 1), np.exp(-1.0), "float32")}
    end = run(sampler(1, 0.5), start, 3)
    noise = 4**2 * ROWS.var() / PRECISION**2
    mean, variance = float(sou_mean(-1.0, MEAN, 0.5, 3)), float(sou_variance(SD**2, 0.5, 3, noise))
    for x in (np.asarray(end["n"], float), np.log(np.asarray(end["l"], float))):
        assert abs(x.mean() - mean) < THRESHOLD * np.sqrt(variance / CHAINS)
        assert abs(x.var() / variance - 1) < THRESHOLD * np.sqrt(2 / CHAINS)


def test_geometric_brownian_motion_has_no_lognormal_law_and_the_exponential_process_has() -> None:
    """Erratum 001-11, by the Fokker-Planck equation: d theta = theta (m + s^2 - log theta) dt + sqrt 2 s theta dW."""
    m, s, points = 0.3, 0.8, np.array([[0.4], [1.3], [2.5]])
    logdensity = lambda t: jnp.sum(-((jnp.log(t) - m) ** 2) / (2 * s**2) - jnp.log(t))
    diffusion = lambda t: jnp.diag(s**2 * t**2)
    assert check_sde(lambda t: t * (m + s**2 - jnp.log(t)), diffusion, logdensity, points).ok
    assert not check_sde(lambda t: t * (m + s**2), diffusion, logdensity, points).ok


def test_other_spaces_are_refused_with_the_remedy() -> None:
    target = ConjugatePosterior(Positive(), 1.0, rows_summed, jnp.ones(3))
    with pytest.raises(Unsupported, match=r"a leaf lives on Positive.*SCIR"):
        check_sampler(SOU(ConjugateCounts(target, 2), 0.1), np.ones((1, 1), "float32"))
