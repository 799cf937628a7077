"""The Cox-Ingersoll-Ross transition: its law against SciPy's, numba against JAX, moments, threads, and controls.

A Kolmogorov-Smirnov test of 20,000 draws sees a distance of 0.014 between distribution functions in all but one of a
thousand cases, which is a shift of 3.5 % of a standard deviation for a normal law.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numba
import numpy as np
import pytest
from scipy import stats

from orthodrome.dynamics.cir import cir_mean, cir_variance
from orthodrome.errors import BadInput
from orthodrome.kernels.cir import advance_part
from orthodrome.kernels.transition import cir_transition, cir_transition_counts
from support.quick import quick, slow

NUM, LEAST = 20_000, 1e-3
SHAPES = [1e-4, 0.01, 0.3, 0.5, 0.8, 1.0, 1.3, 1.5, 3.0, 400.0]


def law(theta: float, shape: float, time: float) -> stats.rv_continuous:
    half = -np.expm1(-time) / 2
    return stats.ncx2(2 * shape, theta * np.exp(-time) / half, scale=half)


def p_value(log_draws: np.ndarray, theta: float, shape: float, time: float) -> float:
    """Of the draws above 1e-250, given that they are, and of how many are not."""
    exact, draws = law(theta, shape, time), np.exp(np.asarray(log_draws, np.float64))
    below = exact.cdf(1e-250)
    seen = draws[draws > 1e-250]
    few = stats.binomtest(draws.size - seen.size, draws.size, below).pvalue if below > 1e-12 else 1.0
    return min(few, stats.kstest((exact.cdf(seen) - below) / (1 - below), "uniform").pvalue)


@pytest.mark.parametrize("shape", quick(SHAPES, 1e-4, 0.3, 1.0, 1.5, 400.0))
@pytest.mark.parametrize("theta", [1e-6, 0.3, 5.0, 1000.0])
def test_numba_has_the_law_of_scipy(shape: float, theta: float) -> None:
    for time in (0.05, 1.0):
        draws = cir_transition(int(1e6 * shape + 7 * theta), np.full(NUM, np.log(theta)), shape, time)
        assert p_value(draws, theta, shape, time) > LEAST / 10


@pytest.mark.parametrize("shape", quick(SHAPES, 1e-4, 0.3, 3.0))
def test_jax_has_the_law_of_scipy(shape: float) -> None:
    for theta in (1e-6, 0.3, 5.0, 1000.0):
        draws = cir_transition(jax.random.key(3), jnp.full(NUM, jnp.log(theta)), shape, 0.3)
        assert p_value(np.asarray(draws), theta, shape, 0.3) > LEAST / 10


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.01, 0.7, 2.0])
def test_the_two_implementations_agree(shape: float) -> None:
    start = np.linspace(-3, 3, NUM).astype(np.float32)
    ours, theirs = cir_transition(5, start, shape, 0.2), cir_transition(5, jnp.asarray(start), shape, 0.2)
    assert stats.ks_2samp(ours, np.asarray(theirs)).pvalue > LEAST


def test_controls_are_caught() -> None:
    """A shape 4 % too large, a time 15 % too long, and an Euler step with reflection do not pass for the law."""
    start = np.full(NUM, np.log(5.0))
    assert p_value(cir_transition(1, start, 3.0 * 1.04, 1.0), 5.0, 3.0, 1.0) < LEAST
    assert p_value(cir_transition(1, start, 3.0, 1.15), 5.0, 3.0, 1.0) < LEAST
    noise = np.random.default_rng(0).standard_normal(NUM)
    euler = np.abs(5.0 + 0.2 * (0.3 - 5.0) + np.sqrt(2 * 0.2 * 5.0) * noise)
    assert p_value(np.log(euler), 5.0, 0.3, 0.2) < LEAST


@pytest.mark.parametrize("rate, volatility", [slow(1.0, np.sqrt(2)), (0.5, 1.7), slow(3.0, 0.4)])
@pytest.mark.parametrize("kind", ["numba", "jax"])
def test_moments_with_free_parameters(rate: float, volatility: float, kind: str) -> None:
    """Four standard errors of 400,000 draws are 0.6 % of a standard deviation, and about 1.5 % of the variance."""
    theta, shape, time, size = 2.0, 0.7, 0.4, 400_000
    start = np.full(size, np.log(theta)) if kind == "numba" else jnp.full(size, jnp.log(theta))
    draws = np.exp(np.asarray(cir_transition(11, start, shape, time, rate, volatility), np.float64))
    mean, variance = cir_mean(theta, shape, time, rate), cir_variance(theta, shape, time, rate, volatility)
    assert abs(draws.mean() - mean) < 4 * np.sqrt(variance / size)
    fourth = np.mean((draws - draws.mean()) ** 4)
    assert abs(draws.var() - variance) < 4 * np.sqrt((fourth - variance**2) / size)


@pytest.mark.parametrize(
    "kind, size", [("numba", 2_000_000), ("jax", 300_000), slow("numba", 20_000_000), slow("jax", 20_000_000)]
)
def test_tiny_shapes_in_float32(kind: str, size: int) -> None:
    """From the stationary law of shape 1e-4, one step: finite logarithms, and the mean within four standard errors.

    They are 9 % of the mean at 20 million draws, as one in 1,500 carries it.
    """
    shape = 1e-4
    like = np.zeros(size, np.float32) if kind == "numba" else jnp.zeros(size, jnp.float32)
    settled = cir_transition(1, like, shape, 60.0)
    moved = np.asarray(cir_transition(2, settled, shape, 0.5))
    assert moved.dtype == np.float32
    assert np.all(np.isfinite(moved)) and np.mean(moved < np.log(np.finfo(np.float32).tiny)) > 0.9
    assert abs(np.exp(moved).mean(dtype=np.float64) - shape) < 4 * np.sqrt(shape / size)
    low = moved[moved < -200][:NUM].astype(np.float64)
    assert stats.kstest(-shape * (low + 200), "expon").pvalue > LEAST


def test_draws_do_not_depend_on_the_number_of_threads() -> None:
    start, shapes = np.random.default_rng(0).normal(size=(7, 1500)), np.random.default_rng(1).gamma(0.5, size=(7, 1500))
    before, found = numba.get_num_threads(), []
    for threads in (1, before):
        numba.set_num_threads(threads)
        found.append(cir_transition(9, start, shapes, 0.1))
    numba.set_num_threads(before)
    assert before == 1 or np.array_equal(*found)
    assert not np.array_equal(found[0], cir_transition(10, start, shapes, 0.1))


def test_arrays_that_may_not_be_written_to_compile_nothing_more() -> None:
    """A shape for all weights is broadcast to an array that cannot be written to; compiling takes many seconds."""
    start, shapes = np.zeros(10), np.full(10, 0.3)
    drawn = cir_transition(1, start, 0.3, 0.1)
    compiled = len(advance_part.signatures)
    np.testing.assert_array_equal(drawn, cir_transition(1, start, shapes, 0.1))
    for array in (start, shapes):
        array.flags.writeable = False
    np.testing.assert_array_equal(drawn, cir_transition(1, start, shapes, 0.1))
    assert len(advance_part.signatures) == compiled


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_are_shapes(dtype: type) -> None:
    counts = np.random.default_rng(2).poisson(0.3, (20, 300)).astype(np.float32)
    start = np.random.default_rng(3).normal(size=(20, 300)).astype(dtype)
    direct = cir_transition(4, start, 0.01 + 2.5 * counts.astype(np.float64), 0.3)
    assert np.array_equal(direct, cir_transition_counts(4, start, 0.01, 2.5, counts, 0.3))


def test_the_transition_runs_inside_jit_and_vmap() -> None:
    move = jax.jit(jax.vmap(lambda key, x: cir_transition(key, x, 0.3, 0.1)))
    found = move(jax.random.split(jax.random.key(0), 3), jnp.zeros((3, 50)))
    assert found.shape == (3, 50) and bool(jnp.all(jnp.isfinite(found)))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(BadInput, match=r"shape must be positive, but its smallest value is 0"):
        cir_transition(1, np.zeros(3), np.array([1.0, 0.0, 2.0]), 0.1)
    with pytest.raises(BadInput, match="time must be positive"):
        cir_transition(1, np.zeros(3), 1.0, -0.1)
    with pytest.raises(BadInput, match="float32 or float64"):
        cir_transition(1, np.zeros(3, int), 1.0, 0.1)
    with pytest.raises(BadInput, match="the same"):
        cir_transition_counts(1, np.zeros((2, 3)), 1.0, 1.0, np.zeros((3, 2)), 0.1)
