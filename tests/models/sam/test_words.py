"""Topics word by word: the layout, the products, and B O B A against the letters of `splitting`. In float64."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from orthodrome.dynamics import splitting
from orthodrome.kernels.threads.computing import computing
from orthodrome.manifolds import Sphere
from orthodrome.models.sam.batch import empty_memory, look, slope, whole
from orthodrome.models.sam.documents import DocumentVectors, corpus_mean, read_documents
from orthodrome.models.sam.flight import Flight, Letters
from orthodrome.models.sam.kernels.advance import advance
from orthodrome.models.sam.kernels.density import num_blocks, padded
from orthodrome.models.sam.kernels.kick import kick
from orthodrome.models.sam.kernels.turn import sums_of, turn
from orthodrome.models.sam.kernels.words import by_word, put_by_topic
from orthodrome.models.sam.law import AdmixtureLaw, unit_rows

ONE, SEVEN = np.uint64(1), np.uint64(7)
SIZES = [(1, 2), (5, 12), (8, 130), (20, 1300), (37, 90)]
"""Topics and words: less than a register, filled up, whole, several tiles and strips, and small tiles."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def example(num_topics: int, num_words: int) -> tuple[AdmixtureLaw, DocumentVectors, np.ndarray, np.ndarray]:
    """A law, documents, topics and a tangent velocity (K, V)."""
    rng = np.random.default_rng(1)
    table = rng.random((19, num_words)) * (rng.random((19, num_words)) < 0.5)
    table[:, 0] += 0.1
    documents = read_documents(scipy.sparse.csr_matrix(table), "normalize", np.dtype("float64"))
    topics = unit_rows(rng.standard_normal((num_topics, num_words)))
    velocity = rng.standard_normal(topics.shape)
    velocity -= topics * np.sum(topics * velocity, axis=1, keepdims=True)
    return AdmixtureLaw(corpus_mean(documents), 20.0, 30.0, 50.0, 2.0), documents, topics, velocity


def by_topic(words: np.ndarray, like: np.ndarray) -> np.ndarray:
    found = np.empty_like(like)
    put_by_topic(words, found)
    return found


def noise_like(topics: np.ndarray, seed: np.uint64 = ONE, step: np.uint64 = SEVEN) -> np.ndarray:
    """The normals of a step: a kick without anything else."""
    v, (size, num_words) = by_word(np.zeros_like(topics)), topics.shape
    width, still = v.shape[1], (np.zeros(v.shape[0]), np.zeros(v.shape[1]), v[:0], 0.0)
    deviations = np.where(np.arange(width) < size, 1.0, 0.0)
    kick(np.zeros_like(v), v, size, num_words, np.zeros((size, width)), *still, 1.0, deviations, seed, step)
    assert not v[num_words:].any() and not v[:, size:].any()
    return by_topic(v, topics)


def letters_of_splitting(
    topics: np.ndarray, velocity: np.ndarray, gradient: np.ndarray, noise: np.ndarray, friction: float, letters: Letters
) -> tuple[Any, Any, Any]:
    """B, O, B and A as `splitting` has them for `Sphere`; v.v before A."""
    sphere, x, v, half = Sphere(), jnp.asarray(topics), jnp.asarray(velocity), jnp.asarray(letters.step_size / 2)
    v = splitting.damp(sphere, x, v, jnp.asarray(friction), half)
    v = v + sphere.project(x, letters.step_size * jnp.asarray(gradient) + letters.deviation * jnp.asarray(noise))
    v = splitting.damp(sphere, x, v, jnp.asarray(friction), half)
    return jnp.sum(v * v, axis=1), *splitting.flow(sphere, x, v, jnp.asarray(letters.time))


@pytest.mark.parametrize("shape", SIZES)
def test_flow_gram_and_products(x64: None, shape: tuple[int, int]) -> None:
    """A is that of `splitting`; the sums that come with it and the products with documents are plain ones."""
    law, documents, topics, velocity = example(*shape)
    flight = Flight(law, documents, topics, by_word(velocity))
    squares = flight.drift(0.3)
    x, v = splitting.flow(Sphere(), jnp.asarray(topics), jnp.asarray(velocity), jnp.asarray(0.3))
    np.testing.assert_allclose(squares, np.sum(velocity**2, axis=1), rtol=1e-11)
    moved = np.empty_like(topics)
    flight.land(moved)
    np.testing.assert_allclose(moved, x, atol=1e-12)
    np.testing.assert_allclose(by_topic(flight.v, topics), v, atol=1e-11)
    assert not flight.x[shape[1] :].any() and not flight.x[:, shape[0] :].any()
    np.testing.assert_allclose(flight.gram[: shape[0], : shape[0]], moved @ moved.T, atol=1e-12)
    assert not flight.gram[shape[0] :].any() and not flight.gram[:, shape[0] :].any()
    assert flight.total == pytest.approx((moved @ moved.T).sum(), abs=1e-10)
    assert flight.along == pytest.approx((moved @ law.mean).sum(), abs=1e-11)
    rows = np.array([3, 18, 0])
    np.testing.assert_allclose(flight.look(rows).b, documents.table()[rows] @ moved.T, atol=1e-12)


@pytest.mark.parametrize("friction", [3.0, 400.0])
@pytest.mark.parametrize("shape", SIZES)
def test_word_agrees_with_the_letters_of_splitting(x64: None, shape: tuple[int, int], friction: float) -> None:
    """B O B A in two passes equals the letters, given the same gradient in all its parts and the same noise."""
    law, documents, topics, velocity = example(*shape)
    rng, rows = np.random.default_rng(5), np.array([2, 11])
    moment, weights = rng.standard_normal((shape[0], shape[0])), rng.standard_normal((2, shape[0]))
    other, letters = rng.standard_normal(topics.shape), Letters(0.05, math.exp(-friction * 0.025), 0.4, 0.03)
    gradient = moment @ topics + 2.0 * weights.T @ documents.table()[rows].toarray() + 3.0 * law.mean + 1.5 * other
    squares, x, v = letters_of_splitting(topics, velocity, gradient, noise_like(topics), friction, letters)
    ours, going = by_word(topics), by_word(velocity)
    mean, sparse = by_word(law.mean[None])[:, 0].copy(), (documents.indptr, documents.indices, documents.values, rows)
    parts = (sparse, weights, 2.0, moment, mean, 3.0, by_word(other), 1.5)
    found = advance(ours, going, shape[1], *parts, *letters, ONE, SEVEN)
    np.testing.assert_allclose(found[0], squares, rtol=1e-10)
    np.testing.assert_allclose(by_topic(ours, topics), x, atol=1e-12)
    np.testing.assert_allclose(by_topic(going, topics), v, atol=1e-11)
    assert not going[shape[1] :].any() and not going[:, shape[0] :].any()


@pytest.mark.parametrize("remembers", [False, True])
def test_step_takes_the_gradient_of_the_batch(x64: None, remembers: bool) -> None:
    """With the prior and the memory: a step equals the letters with the gradient written out, and the memory learns."""
    law, documents, topics, velocity = example(5, 12)
    rng = np.random.default_rng(3)
    memory = empty_memory(documents.count * remembers, topics)
    flight = Flight(law, documents, topics, by_word(velocity))
    flight.drift(0.0)
    for rows in (np.arange(19), np.array([4, 9, 1, 17])):
        x, v = np.empty_like(topics), by_topic(flight.v, topics)
        flight.land(x)
        view, draws = look(x, documents, rows), blocked(rng.dirichlet(np.ones(5), (rows.size, 3)))
        found = slope(law, view, draws, 40, memory if remembers else None)
        gradient = whole(found, law, x, documents, view)
        if remembers:
            gradient += law.document_concentration * by_topic(memory.linear, topics)
        letters = Letters(0.01, 1.0, 0.0, 0.02)
        _, x, v = letters_of_splitting(x, v, gradient, np.zeros_like(topics), 0.0, letters)
        _, glance = flight.kick_and_drift(flight.look(rows), draws, memory, 40, letters, (1, 2))
        assert glance == pytest.approx(found.glance, rel=1e-9)
        np.testing.assert_allclose(by_topic(flight.x, topics), x, atol=1e-10)
        np.testing.assert_allclose(by_topic(flight.v, topics), v, atol=1e-8)
        if remembers:
            np.testing.assert_allclose(memory.table[rows], found.seen, rtol=1e-12)
    if remembers:
        weights, cosines = memory.table[:, :-1], memory.table[:, -1:]
        np.testing.assert_allclose(memory.square, (weights * cosines).T @ weights, atol=1e-12)
        np.testing.assert_allclose(by_topic(memory.linear, topics), weights.T @ documents.table(), atol=1e-12)


def blocked(theta: np.ndarray) -> np.ndarray:
    """(S, N, K) in the kernels' layout, (blocks, N, padded K, LANES)."""
    count, kept, size = theta.shape
    found = np.zeros((num_blocks(count) * 16, kept, padded(size)))
    found[:, :, :size] = theta[np.minimum(np.arange(len(found)), count - 1)]
    return np.ascontiguousarray(found.reshape(-1, 16, kept, padded(size)).transpose(0, 2, 3, 1))


def test_noise_is_normal_and_new_in_every_strip_and_step() -> None:
    """100,000 numbers; no two words and no two steps have the same."""
    z = noise_like(np.zeros((20, 5000)))
    assert scipy.stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    assert np.unique(z[0]).size > 4990
    other = noise_like(np.zeros((20, 5000)), step=np.uint64(8))
    assert abs(np.mean(z * other)) < 4 / math.sqrt(z.size)
    assert abs(np.mean(z[:, 512:] * z[:, :-512])) < 4 / math.sqrt(z.size)
    assert scipy.stats.kstest(1.03 * z.ravel(), "norm").pvalue < 1e-3  # control


def test_threads_do_not_change_a_bit() -> None:
    law, documents, topics, velocity = example(20, 5000)
    sparse = (documents.indptr, documents.indices, documents.values.astype(np.float32), np.arange(3))
    found = []
    for threads in (1, 2):
        with computing(threads):
            x, v = by_word(topics.astype(np.float32)), by_word(velocity.astype(np.float32))
            mean = by_word(law.mean[None].astype(np.float32))[:, 0].copy()
            parts = (sparse, np.ones((3, 20), np.float32), 1.0, np.eye(20), mean, 1.0, v[:0], 0.0)
            found.append((x, v, *advance(x, v, 5000, *parts, 0.01, 0.99, 0.1, 0.01, ONE, SEVEN)))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_flow_keeps_the_sphere_in_float32() -> None:
    rng = np.random.default_rng(0)
    x = by_word(unit_rows(rng.standard_normal((3, 50))).astype(np.float32))
    v = by_word(rng.standard_normal((3, 50)).astype(np.float32))
    for _ in range(2000):
        turn(x, v, np.zeros(56, np.float32), sums_of(x, v, 3), 0.3)
    assert np.abs(np.linalg.norm(x[:, :3], axis=0) - 1).max() < 1e-5
    assert np.abs(np.sum(x * v, axis=0)).max() < 1e-4


def test_the_sampler_of_the_core_gives_the_same_path(x64: None) -> None:
    """SGGMC of the core on the same log density, without friction: ten words from the same point."""
    from orthodrome.gradients import FullGradient
    from orthodrome.samplers.stochastic.sggmc import SGGMC, SGGMCState
    from orthodrome.targets import Target

    pull = np.random.default_rng(1).standard_normal((3, 8))
    gradient = FullGradient(Target(Sphere(), _linear, jnp.asarray(pull)))
    sampler = SGGMC(gradient, step_size=0.1, friction=0.0, num_steps=10)
    _, documents, topics, velocity = example(3, 8)
    state: Any = SGGMCState(jnp.asarray(topics), jnp.asarray(velocity), sampler.gradient.init(jnp.asarray(topics)))
    end, _ = jax.jit(sampler.step)(jax.random.key(0), state)
    x, v = by_word(topics), by_word(velocity)
    sparse = (documents.indptr, documents.indices, documents.values, np.empty(0, np.int64))
    turn(x, v, np.zeros(8), sums_of(x, v, 3), 0.05)
    for i in range(10):
        parts = (sparse, np.empty((0, 3)), 1.0, np.zeros((3, 3)), np.zeros(8), 0.0, by_word(pull), 1.0)
        advance(x, v, 8, *parts, 0.1, 1.0, 0.0, 0.1 if i < 9 else 0.05, ONE, ONE)
    np.testing.assert_allclose(by_topic(x, topics), end.position, atol=1e-11)
    np.testing.assert_allclose(by_topic(v, topics), end.velocity, atol=1e-10)


def _linear(x: jax.Array, pull: jax.Array) -> jax.Array:
    return jnp.sum(x * pull)
