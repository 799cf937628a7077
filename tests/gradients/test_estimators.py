"""Gradient estimators beyond the registry: the V they claim, rows that are exactly uniform, and what doors refuse."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy import stats

from orthodrome import sample
from orthodrome.doors import check_sampler
from orthodrome.errors import BadInput
from orthodrome.gradients import (
    SVRG,
    BatchGradient,
    ControlVariate,
    DiagonalForm,
    EmpiricalFisher,
    FullForm,
    FullGradient,
    GivenNoise,
    LatentGradient,
    LatentPosterior,
    LowRankForm,
    Minibatch,
    NoiseFunction,
    NoisyGradient,
    ScalarForm,
    TemperedGradient,
)
from orthodrome.gradients.rows import FEW_ROWS, draw_rows, upper_product
from orthodrome.linear import Dense, LinearStep, LowRank, Triangular, leaves, maps
from orthodrome.linear.noise import injected_noise
from orthodrome.manifolds import Euclidean, LogPositive, Sphere
from orthodrome.samplers import SGGMC, SGLD, Streamed
from orthodrome.targets import Posterior
from support.estimates import NUM_KEYS, THRESHOLD, estimates, z_scores
from support.quick import slow
from support.registry.estimators import (
    complete,
    draw_labels,
    groups,
    labelled,
    normal_prior,
    rate_likelihood,
    rate_prior,
    rates,
)

X = jnp.asarray([0.3, -0.2])


def test_without_n_over_n_it_is_biased() -> None:
    exact, _ = FullGradient(rates()).estimate(None, X)
    wrong = BatchGradient(Posterior(LogPositive(), rate_prior, rate_likelihood, rates().data[:3]), num_data=3)
    found, _ = wrong.estimate(None, X, None)
    assert np.max(np.abs(found.gradient - exact.gradient)) > 5


@pytest.mark.parametrize(
    "make", [lambda t: Minibatch(t, 12), lambda t: SVRG(t, 3), lambda t: ControlVariate(t, jnp.exp(X), 3)]
)
def test_exact_with_all_rows_or_at_the_anchor(make: Any) -> None:
    exact, _ = FullGradient(rates()).estimate(None, X)
    found = estimates(make(rates()), X, X, jax.random.key(2), 50)
    np.testing.assert_allclose(
        found.gradient, np.broadcast_to(exact.gradient, found.gradient.shape), rtol=2e-5, atol=2e-5
    )


def test_svrg_moves_its_anchor_every_period() -> None:
    estimator = SVRG(rates(), 3, period=4)

    def step(memory: Any, i: Array) -> Any:
        x = X + 0.1 * i.astype(X.dtype)
        _, memory = estimator.estimate(jax.random.fold_in(jax.random.key(0), i), x, memory)
        return memory, memory.anchor.position[0]

    run = lambda shift: jax.lax.scan(step, estimator.init(X + shift), jnp.arange(10))[1]
    anchors = jax.jit(jax.vmap(run))(jnp.zeros(2))
    np.testing.assert_allclose(anchors[0], 0.3 + 0.1 * np.array([0, 0, 0, 0, 4, 4, 4, 4, 8, 8]), rtol=1e-5)


# --- rows ------------------------------------------------------------------------------------------------------------


def subset_counts(rows: np.ndarray, num_rows: int) -> np.ndarray:
    sets = list(itertools.combinations(range(num_rows), rows.shape[1]))
    found = {s: 0 for s in sets}
    for row in np.sort(rows, axis=1):
        found[tuple(int(i) for i in row)] += 1
    return np.array(list(found.values()))


def test_row_numbers_are_products_with_random_bits() -> None:
    """The upper half of the product is NumPy's; every row is drawn equally often to 5 standard errors."""
    bits = np.random.default_rng(0).integers(0, 2**32, 10_000, dtype=np.uint64)
    bits[:3] = 0, 1, 2**32 - 1
    for factor in (1, 7, 65_535, 65_536, 65_537, FEW_ROWS):
        upper = np.asarray(upper_product(jnp.asarray(bits, jnp.uint32), factor))
        np.testing.assert_array_equal(upper, (bits * np.uint64(factor)) >> np.uint64(32))
    counts = np.bincount(np.asarray(draw_rows(jax.random.key(0), 7, 70_000, True)), minlength=7)
    np.testing.assert_allclose(counts, 10_000, atol=5 * np.sqrt(10_000 * 6 / 7))


@pytest.mark.parametrize(("num_rows", "count"), [(7, 3), (5, 3), (6, 1)])
def test_every_set_of_rows_is_equally_likely(num_rows: int, count: int) -> None:
    """Chi-square over all sets: sees one whose probability is off by 40 %."""
    draw = jax.jit(jax.vmap(lambda i: draw_rows(jax.random.fold_in(jax.random.key(0), i), num_rows, count, False)))
    counts = subset_counts(np.asarray(draw(jnp.arange(NUM_KEYS))), num_rows)
    assert stats.chisquare(counts).pvalue > 1e-4
    counts[0] = int(1.4 * counts[0])
    assert stats.chisquare(counts, counts.sum() / len(counts) * np.ones(len(counts))).pvalue < 1e-4


def test_large_batches_are_distinct() -> None:
    for num_rows, count in ((1000, 500), (1000, 501), (10**6, 1000)):
        rows = np.asarray(draw_rows(jax.random.key(3), num_rows, count, False))
        assert len(set(rows.tolist())) == count and rows.min() >= 0 and rows.max() < num_rows


# --- V ---------------------------------------------------------------------------------------------------------------


def line_likelihood(p: Array, row: dict[str, Array]) -> Array:
    return -0.5 * (row["y"] - row["x"] @ p) ** 2


def line(manifold: Any = None) -> Posterior:
    rng = np.random.default_rng(1)
    data = {"x": rng.normal(size=(40, 3)) * [1.0, 2.0, 0.5], "y": rng.normal(size=40)}
    return Posterior(
        manifold or Euclidean(),
        normal_prior,
        line_likelihood,
        jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), data),
    )


@pytest.mark.parametrize("replace", [False, slow(True)])
@pytest.mark.parametrize(
    "kind", [slow(ScalarForm()), slow(DiagonalForm()), LowRankForm(2), FullForm()], ids=lambda k: type(k).__name__
)
def test_empirical_fisher(kind: Any, replace: bool) -> None:
    """The average V against the covariance of the gradients, to 5 %; without 1 - S/D it would be off by 33 % of V."""
    x, size = jnp.asarray([0.3, -0.5, 1.0]), 10
    estimator = Minibatch(line(), size, replace, EmpiricalFisher(kind, decay=1.0))

    def step(memory: Any, i: Array) -> Any:
        estimate, memory = estimator.estimate(jax.random.fold_in(jax.random.key(5), i), x, memory)
        return memory, estimate

    _, found = jax.jit(lambda: jax.lax.scan(step, estimator.init(x), jnp.arange(NUM_KEYS)))()
    v = np.asarray(maps.dense(jax.tree.map(lambda a: a[-1], found.noise), x))
    true = np.cov(np.asarray(found.gradient, np.float64).T)
    if isinstance(kind, ScalarForm):
        assert np.trace(v) == pytest.approx(np.trace(true), rel=0.05)
    else:
        np.testing.assert_allclose(np.diag(v), np.diag(true), rtol=0.05)
    if isinstance(kind, FullForm):
        np.testing.assert_allclose(v, true, atol=0.05 * np.max(true))
    if isinstance(kind, LowRankForm):
        first = np.linalg.eigh(true)[1][:, -1]
        assert first @ v @ first == pytest.approx(first @ true @ first, rel=0.05)


def test_noise_on_the_sphere_is_of_the_projected_gradients() -> None:
    x = jnp.asarray([1.0, 0.0, 0.0])
    estimator = Minibatch(line(Sphere()), 10, noise=EmpiricalFisher(FullForm()))
    estimate, _ = estimator.estimate(jax.random.key(0), x, estimator.init(x))
    np.testing.assert_allclose(estimate.noise.matrix @ x, 0, atol=1e-4)


NOISES = {
    "none": None,
    "scalar": jnp.float32(3.0),
    "diagonal": jnp.asarray([[1.0, 2.0], [0.5, 0.0]]),
    "full": Dense(jnp.asarray(np.cov(np.random.default_rng(0).normal(size=(4, 9))), jnp.float32)),
    "low rank, minus": LowRank(jnp.full((4, 1), 0.3), jnp.ones(4), -1),
    "low rank": LowRank(jnp.asarray(np.random.default_rng(1).normal(size=(4, 2)), jnp.float32), jnp.ones(4)),
}
STEPS = {
    "number": 0.3,
    "elements": jnp.asarray([[0.1, 0.2], [0.3, 0.4]]),
    "map": LinearStep(jnp.float32(0.3), Triangular(jnp.tril(jnp.ones((4, 4))) / 2)),
}


COVERING = dict.fromkeys(zip(NOISES, ["number", "elements", "number", "map", "elements", "map"], strict=True))
"""Every noise and every step in the fast suite; all pairs of them in the slow one."""


@pytest.mark.parametrize(
    ("noise", "step"), [p if p in COVERING else slow(*p) for p in itertools.product(NOISES, STEPS)]
)
def test_injected_noise(noise: str, step: str) -> None:
    """Its covariance is 2 C t - h V h' within sampling error, for a number and a matrix C."""
    v, h, like = NOISES[noise], STEPS[step], jnp.zeros((2, 2))
    t = np.broadcast_to(np.asarray(h.size if step == "map" else h), (2, 2)).ravel()
    gain = 0.3 * np.asarray(h.units.matrix).T if step == "map" else np.diag(t)
    for friction in (2.0, Dense(jnp.diag(jnp.asarray([1.0, 2.0, 3.0, 4.0])))):
        c = 2 * np.eye(4) if friction == 2.0 else np.asarray(friction.matrix)
        wanted = 2 * np.sqrt(np.outer(t, t)) * c - (0 if v is None else gain @ np.asarray(maps.dense(v, like)) @ gain.T)
        draw = lambda i, friction=friction: injected_noise(
            jax.random.fold_in(jax.random.key(0), i), leaves.spread(h, like), friction, v, like
        )
        values, clipped = jax.jit(jax.vmap(draw))(jnp.arange(NUM_KEYS))
        if np.linalg.eigvalsh(wanted).min() > 0:
            found = np.cov(np.asarray(values).reshape(-1, 4).T)
            error = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / NUM_KEYS)
            assert np.all(np.abs(found - wanted) < THRESHOLD * error) and not np.any(clipped)
        else:
            assert np.all(clipped)


def test_given_noise_and_functions_of_x() -> None:
    for noise in (GivenNoise(2.0), NoiseFunction(lambda x: 2.0 + 0 * x[0])):
        estimate, _ = Minibatch(line(), 10, noise=noise).estimate(jax.random.key(0), jnp.ones(3), None)
        assert float(estimate.noise) == 2.0


def test_tempered() -> None:
    x = jnp.ones(3)
    plain, _ = NoisyGradient(FullGradient(line()), 4.0).estimate(jax.random.key(0), x, None)
    hot, _ = TemperedGradient(NoisyGradient(FullGradient(line()), 4.0), 2.0).estimate(jax.random.key(0), x, None)
    np.testing.assert_allclose(hot.gradient, plain.gradient / 2, rtol=1e-6)
    assert float(hot.noise) == 1.0 and float(hot.logdensity) == pytest.approx(float(plain.logdensity) / 2)


# --- latents ---------------------------------------------------------------------------------------------------------


def test_fishers_identity() -> None:
    """V from the latents' draws is that of the gradients; with the papers' sign (000-1) the gradient would be minus
    that of the law."""
    target, x = groups(), jnp.asarray([0.2, 1.5])
    exact, _ = FullGradient(target).estimate(None, x)
    estimator = LatentGradient(labelled(target), 5, noise=EmpiricalFisher(FullForm()))
    found = estimates(estimator, x, x, jax.random.key(4))
    assert np.any(np.abs(z_scores(-found.gradient, exact.gradient)) > 10)
    v, true = np.mean(np.asarray(found.noise.matrix), axis=0), np.cov(np.asarray(found.gradient).T)
    assert np.all(np.diag(v) > 0.95 * np.diag(true)) and np.all(np.diag(v) < 1.5 * np.diag(true))


def test_latents_are_kept_between_visits() -> None:
    rows = jnp.zeros(20)
    target = LatentPosterior(Euclidean(), normal_prior, draw_labels, complete, rows, store=jnp.zeros(20))
    estimator = LatentGradient(target, 5)
    memory = estimator.init(jnp.ones(2))
    for i in range(3):
        _, memory = estimator.estimate(jax.random.key(i), jnp.ones(2), memory)
    assert float(jnp.sum(memory.store)) == 15


# --- streams and doors -----------------------------------------------------------------------------------------------


def test_a_stream_feeds_a_sampler_and_its_end_is_named() -> None:
    target = line()
    batches = [jax.tree.map(lambda a, i=i: a[5 * i : 5 * i + 5], target.data) for i in range(3)]
    inner = SGGMC(
        BatchGradient(Posterior(Euclidean(), normal_prior, line_likelihood, batches[0]), num_data=40), 0.1, 1.0
    )
    sampler = Streamed(inner, iter(batches))
    state = sampler.init(jnp.ones(3), jax.random.key(0))
    for i in range(3):
        state, _ = sampler.step(jax.random.key(i), state)
    assert np.all(np.isfinite(state.position))
    with pytest.raises(BadInput, match=r"ended at step 3.*cycle"):
        sampler.step(jax.random.key(9), state)
    again = Streamed(inner, lambda i: batches[i])
    other = again.init(jnp.ones(3), jax.random.key(0))
    for i in range(3):
        other, _ = again.step(jax.random.key(i), other)
    np.testing.assert_array_equal(other.position, state.position)


def test_a_stream_resumes_from_a_checkpoint_or_says_why_not(tmp_path: Path) -> None:
    """A function of the batch's number goes on to the same draws; an iterator, which would begin again, is refused."""
    target = line()
    batches = [jax.tree.map(lambda a, i=i: a[5 * i : 5 * i + 5], target.data) for i in range(8)]
    law = Posterior(Euclidean(), normal_prior, line_likelihood, batches[0])
    inner = SGLD(BatchGradient(law, num_data=40), 1e-6)
    numbered, short = Streamed(inner, lambda i: batches[i % 8]), {"seed": 0, "num_chains": 2, "num_warmup": 3}
    go = lambda sampler, count, **more: sample(sampler, jnp.ones(3), num_draws=count, progress=False, **short, **more)
    whole = go(numbered, 9)
    go(numbered, 4, checkpoint=tmp_path / "a")
    resumed = go(numbered, 9, checkpoint=tmp_path / "a")
    np.testing.assert_array_equal(resumed["posterior"]["x"], whole["posterior"]["x"])
    with pytest.raises(BadInput, match="an iterator cannot go back"):
        go(Streamed(inner, iter(batches)), 4, checkpoint=tmp_path / "b")


@pytest.mark.parametrize(
    ("estimator", "text"),
    [
        (lambda: Minibatch(line(), 41), "40 rows"),
        (lambda: Minibatch(line(), 0), "at least 1"),
        (lambda: Minibatch(line(), 1, noise=EmpiricalFisher()), "at least 2 rows"),
        (lambda: SVRG(line(), 4, period=0), "period"),
        (lambda: ControlVariate(line(), jnp.zeros(3), 50), "40 rows"),
        (lambda: BatchGradient(line(), num_data=10), "num_data"),
    ],
)
def test_the_door_refuses(estimator: Any, text: str) -> None:
    with pytest.raises(BadInput, match=text):
        check_sampler(SGGMC(estimator(), 0.1, 1.0), np.zeros((1, 3), np.float32))
