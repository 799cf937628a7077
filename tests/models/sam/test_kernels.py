"""The kernels of the spherical admixture model: laws, letters, streams, gradients. All in float64 unless said."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numba
import numpy as np
import pytest
import scipy.sparse
import scipy.special
import scipy.stats

from orthodrome import special
from orthodrome.kernels.bessel import concentration_of, log_constant, mean_length
from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.sam.batch import empty_memory, look, slope, whole
from orthodrome.models.sam.documents import DocumentVectors, corpus_mean, read_documents
from orthodrome.models.sam.evaluation import annealed_gap, annealed_log_density, cosine, draw_around, log_perplexity
from orthodrome.models.sam.kernels.density import num_blocks, padded
from orthodrome.models.sam.kernels.topics import distinct_rows, flow, normals_like
from orthodrome.models.sam.law import AdmixtureLaw, unit_rows
from orthodrome.models.sam.proportions import Sweep, by_document, draw_proportions, first_guess, gram_of

ONE = np.uint64(1)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other are slow when tests run side by side."""
    with computing(1):
        yield


def corpus(num_documents: int, num_words: int, seed: int) -> DocumentVectors:
    rng = np.random.default_rng(seed)
    table = rng.random((num_documents, num_words)) * (rng.random((num_documents, num_words)) < 0.5)
    table[:, 0] += 0.1
    return read_documents(scipy.sparse.csr_matrix(table), "normalize", np.dtype("float64"))


def example(
    num_topics: int = 5, num_words: int = 12, num_documents: int = 19
) -> tuple[AdmixtureLaw, DocumentVectors, np.ndarray]:
    documents = corpus(num_documents, num_words, seed=1)
    topics = unit_rows(np.random.default_rng(2).standard_normal((num_topics, num_words)))
    return AdmixtureLaw(corpus_mean(documents), 20.0, 30.0, 50.0, 2.0), documents, topics


def blocked(theta: np.ndarray) -> np.ndarray:
    """(S, N, K) in the kernels' layout, (blocks, N, padded K, LANES); spare lanes repeat the last document."""
    count, kept, size = theta.shape
    found = np.zeros((num_blocks(count) * LANES, kept, padded(size)), theta.dtype)
    found[:, :, :size] = theta[np.minimum(np.arange(len(found)), count - 1)]
    return np.ascontiguousarray(found.reshape(-1, LANES, kept, padded(size)).transpose(0, 2, 3, 1))


@pytest.mark.parametrize("dimension", [3, 20, 5000])
def test_bessel_agrees_with_special(x64: None, dimension: int) -> None:
    for k in (0.1, 30.0, 1e4, 3e6):
        order = dimension / 2 - 1
        assert mean_length(dimension, k) == pytest.approx(float(special.bessel_ratio(order, k)), rel=1e-12)
        exact = order * math.log(k) - dimension / 2 * math.log(2 * math.pi) - float(special.log_bessel_i(order, k))
        assert log_constant(dimension, k) == pytest.approx(exact, rel=1e-10, abs=1e-9)


def test_published_values_of_the_constants() -> None:
    assert mean_length(5000, 1e4) == pytest.approx(0.7808051, abs=1e-7)
    assert log_constant(5000, 3e4) == pytest.approx(-8722.52, abs=0.01)


@pytest.mark.parametrize("dimension", [2, 20, 5000])
def test_concentration_of_a_length(dimension: int) -> None:
    for length in (0.02, 0.5, 0.9999):
        assert mean_length(dimension, concentration_of(dimension, length)) == pytest.approx(length, rel=1e-9)


def test_normals_are_normal() -> None:
    """200,000 numbers: a shift of 0.009 or a scale off by 0.7 % would be seen."""
    z = normals_like(np.zeros((20, 10_000), np.float64), ONE, ONE).ravel()
    assert scipy.stats.kstest(z, "norm").pvalue > 1e-3
    assert abs(np.mean(z[::2] * z[1::2])) < 4 / math.sqrt(z.size / 2)
    assert scipy.stats.kstest(1.02 * z, "norm").pvalue < 1e-3  # control


def test_rows_are_distinct_and_uniform() -> None:
    counts = np.zeros(7)
    for step in range(3000):
        rows = distinct_rows(7, 3, ONE, np.uint64(step))
        assert len(set(rows)) == 3
        counts[rows] += 1
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


def log_joint(law: AdmixtureLaw, documents: DocumentVectors, topics: np.ndarray, theta: np.ndarray) -> float:
    """log p(beta) + kappa1 sum_d mean_n cos, from the definition; topics need not be of length one."""
    centres = theta @ topics
    centres /= np.linalg.norm(centres, axis=-1, keepdims=True)
    cosines = np.einsum("dv,dnv->dn", documents.table().toarray(), centres)
    return law.log_prior(topics) + law.document_concentration * cosines.mean(axis=1).sum()


def test_gradient_agrees_with_finite_differences() -> None:
    law, documents, topics = example()
    theta = np.random.default_rng(3).dirichlet(np.ones(5), (documents.count, 3))
    view = look(topics, documents, np.arange(documents.count))
    found = slope(law, view, blocked(theta), documents.count)
    gradient, h = whole(found, law, topics, documents, view), 1e-5
    for direction in np.random.default_rng(4).standard_normal((4, *topics.shape)):
        up, down = (log_joint(law, documents, topics + s * h * direction, theta) for s in (1, -1))
        assert np.sum(gradient * direction) == pytest.approx((up - down) / (2 * h), rel=1e-6)


def test_squared_gradients_and_memory() -> None:
    """The noise's squares are those of the documents' own gradients; with a memory of these draws there are none."""
    law, documents, topics = example()
    theta = np.random.default_rng(3).dirichlet(np.ones(5), (documents.count, 1))
    rows, draws = np.arange(documents.count), blocked(theta)
    view, prior = look(topics, documents, rows), law.prior_gradient(topics)
    plain = slope(law, view, draws, 4 * documents.count)
    each = []
    for d in rows:
        alone = look(topics, documents, rows[d : d + 1])
        one = slope(law, alone, blocked(theta[d : d + 1]), 1)
        each.append(np.sum((whole(one, law, topics, documents, alone) - prior) ** 2))
    factor = (4 * documents.count) ** 2 / documents.count * (1 - 1 / 4) / (5 * 11)
    assert plain.glance.noise == pytest.approx(factor * np.mean(each), rel=1e-9)
    memory = empty_memory(documents.count, topics)
    first = slope(law, view, draws, documents.count, memory)
    memory.learn(documents, rows, first)
    some = look(topics, documents, rows[:6])
    again = slope(law, some, blocked(theta[:6]), documents.count, memory)
    kept = law.document_concentration * memory.linear[: topics.shape[1], :5].T
    full = whole(first, law, topics, documents, view)
    np.testing.assert_allclose(whole(again, law, topics, documents, some) + kept, full, rtol=1e-9, atol=1e-9)
    # kappa^2 D^2 / S times squares of rounding
    assert again.glance.noise < 1e-12 * plain.glance.noise


@pytest.mark.parametrize("count", [1, 2, 5, 8, 11])
def test_gram_matrix(count: int) -> None:
    """Rows four and two at a time: every remainder, zeros in the padding, the same with two threads."""
    topics = np.random.default_rng(0).standard_normal((count, 37))
    found = gram_of(topics)
    np.testing.assert_allclose(found[:count, :count], topics @ topics.T, rtol=1e-12, atol=1e-12)
    assert found.shape == (padded(count), padded(count)) and not found[count:].any() and not found[:, count:].any()
    with computing(2):
        np.testing.assert_array_equal(gram_of(topics), found)


def three_topics() -> tuple[np.ndarray, np.ndarray, float]:
    """A gram matrix, b of one document and kappa for which the proportions are neither prior nor a point."""
    gram = np.array([[1.0, 0.3, -0.2], [0.3, 1.0, 0.1], [-0.2, 0.1, 1.0]])
    return gram, np.array([0.8, 0.3, 0.1]), 12.0


def exact_moments(alpha: float) -> np.ndarray:
    """E theta and E theta^2 by quadrature on the triangle, and the log of the mean of exp(kappa cos) over the prior."""
    gram, b, kappa = three_topics()
    n = 600
    u, w = (np.stack(np.meshgrid(np.arange(n) + 0.5, np.arange(n) + 0.5)) / n).reshape(2, -1)
    theta = np.stack([u, (1 - u) * w, (1 - u) * (1 - w)], axis=1)
    corner = np.zeros((4, 4))
    corner[:3, :3] = gram
    prior = (alpha - 1) * np.log(theta).sum(axis=1) + np.log(1 - u)
    value = kappa * cosine(corner, np.broadcast_to(b, theta.shape), theta)
    weight = np.exp(prior + value - (prior + value).max())
    weight /= weight.sum()
    ratio = np.logaddexp.reduce(prior + value) - np.logaddexp.reduce(prior)
    return np.concatenate([weight @ theta, weight @ theta**2, [ratio]])


@pytest.mark.parametrize("flat", [False, True])
def test_proportions_have_their_law(flat: bool) -> None:
    """4,096 documents alike, 40 kept moves: 1 % of a standard deviation would be seen."""
    gram, b, kappa = three_topics()
    corner = np.zeros((4, 4))
    corner[:3, :3] = gram
    many = np.tile(b, (4096, 1))
    sweep, items = Sweep(40, 40, 8, flat), np.arange(4096, dtype=np.uint64)
    start = first_guess(corner, many)
    drawn = draw_proportions(corner, many, start, kappa, 2.0, 0.05 if flat else 0.12, sweep, 1, 1, items)
    assert 0.6 < drawn.acceptance.mean() < 0.999
    theta = by_document(drawn.draws, 4096, 3)
    np.testing.assert_allclose(theta.sum(axis=2), 1, atol=1e-9)
    moments = np.concatenate([theta.mean(axis=1), (theta**2).mean(axis=1)], axis=1)
    error = moments.std(axis=0) / 64
    assert np.all(np.abs(moments.mean(axis=0) - exact_moments(2.0)[:6]) < 4 * error)
    # control: the law that forgets the measure of the square-root map
    assert np.any(np.abs(moments.mean(axis=0) - exact_moments(2.5)[:6]) > 8 * error)


def sparse_moments(alpha: float, n: int = 400) -> np.ndarray:
    """E theta and E theta^2 by quadrature in the quantiles of the prior, where poles do no harm."""
    gram, b, kappa = three_topics()
    u, w = (np.stack(np.meshgrid(np.arange(n) + 0.5, np.arange(n) + 0.5)) / n).reshape(2, -1)
    first, second = scipy.special.betaincinv(alpha, 2 * alpha, u), scipy.special.betaincinv(alpha, alpha, w)
    theta = np.stack([first, (1 - first) * second, (1 - first) * (1 - second)], axis=1)
    corner = np.zeros((4, 4))
    corner[:3, :3] = gram
    value = kappa * cosine(corner, np.broadcast_to(b, theta.shape), theta)
    weight = np.exp(value - value.max())
    return np.concatenate([weight @ theta, weight @ theta**2]) / weight.sum()


@pytest.mark.parametrize("alpha", [0.9, 0.3, pytest.param(0.003, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_sparse_proportions_have_their_law(alpha: float, dtype: str) -> None:
    """4,096 documents alike, taken up 40 times after 30: a hundredth of a standard deviation would be seen."""
    gram, b, kappa = three_topics()
    corner = np.zeros((4, 4), dtype)
    corner[:3, :3] = gram
    many, items = np.tile(b, (4096, 1)).astype(dtype), np.arange(4096, dtype=np.uint64)
    theta, found = first_guess(corner, many), []
    for i in range(70):
        theta = draw_proportions(corner, many, theta, kappa, alpha, 0.1, Sweep(1, 0, 1, False), 1, i, items).last
        found += [np.concatenate([theta, theta**2], axis=1).astype(np.float64)] * (i >= 30)
    moments = np.mean(found, axis=0)
    error = moments.std(axis=0) / 64
    assert np.all(np.abs(moments.mean(axis=0) - sparse_moments(alpha)) < 4 * error)
    # control: a concentration that is off by a fifth
    assert np.any(np.abs(moments.mean(axis=0) - sparse_moments(1.2 * alpha)) > 6 * error)


@pytest.mark.parametrize("alpha", [2.0, 0.2])
def test_a_document_depends_on_its_own_stream_only(alpha: float) -> None:
    _, documents, topics = example(num_documents=40)
    view = look(topics, documents, np.arange(40))
    start, sweep = first_guess(view.gram, view.b), Sweep(2, 3, 4, False)

    def draw(rows: np.ndarray, threads: int) -> np.ndarray:
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        found = draw_proportions(
            view.gram, view.b[rows], start[rows], 50.0, alpha, 0.05, sweep, 1, 2, rows.astype(np.uint64)
        )
        numba.set_num_threads(before)
        return by_document(found.draws, len(rows), 5)

    everything, some = draw(np.arange(40), 2), np.array([31, 4, 17])
    np.testing.assert_array_equal(everything, draw(np.arange(40), 1))
    np.testing.assert_array_equal(everything[some], draw(some, 1))


def test_annealed_density_is_exact_and_the_published_one_is_biased() -> None:
    """One document, three topics: quadrature, annealing (an error of 0.02 nats) and 5 draws from the prior."""
    rng = np.random.default_rng(0)
    topics = unit_rows(rng.standard_normal((3, 6)))
    vector = unit_rows((np.array([0.8, 0.15, 0.05]) @ topics + 0.02 * rng.standard_normal(6))[None])
    documents = read_documents(np.repeat(vector, 256, axis=0), "unit", np.dtype("float64"))
    law = AdmixtureLaw(unit_rows(topics.sum(axis=0)[None])[0], 10.0, 10.0, 200.0, 2.0)
    n = 500
    u, w = (np.stack(np.meshgrid(np.arange(n) + 0.5, np.arange(n) + 0.5)) / n).reshape(2, -1)
    theta = np.stack([u, (1 - u) * w, (1 - u) * (1 - w)], axis=1)
    prior = np.log(theta).sum(axis=1) + np.log(1 - u)
    b = np.broadcast_to((topics @ vector[0]), theta.shape)
    value = 200.0 * cosine(gram_of(topics), b, theta)
    exact = np.logaddexp.reduce(prior + value) - np.logaddexp.reduce(prior) + law.log_document_constant()
    annealed = annealed_log_density(law, documents, topics[None], num_temperatures=300, num_particles=2)
    assert np.logaddexp.reduce(annealed) - math.log(256) == pytest.approx(exact, abs=0.08)
    assert exact - 0.25 < annealed.mean() < exact + 0.05  # a lower bound on average
    published = np.mean([-log_perplexity(law, documents, topics[None], 5, seed) for seed in range(20)])
    assert published < exact - 0.5


def test_the_gap_of_the_annealed_density_is_measured() -> None:
    """Bounds from both sides meet as the ladder grows."""
    topics = unit_rows(np.random.default_rng(0).standard_normal((3, 6)))
    law = AdmixtureLaw(unit_rows(topics.sum(axis=0)[None])[0], 10.0, 10.0, 200.0, 2.0)
    (coarse, _), (fine, error) = (annealed_gap(law, topics, num_temperatures=n) for n in (15, 300))
    assert -4 * error < fine < 0.5 < coarse


def test_draws_around_a_centre() -> None:
    """von Mises-Fisher: the mean of the cosine is the Bessel ratio."""
    centres = np.tile(np.eye(20)[:1], (20_000, 1))
    along = draw_around(centres, 30.0, np.random.default_rng(0))[:, 0]
    assert abs(along.mean() - mean_length(20, 30.0)) < 4 * along.std() / math.sqrt(20_000)


def test_flow_keeps_the_sphere_in_float32() -> None:
    rng = np.random.default_rng(0)
    x = unit_rows(rng.standard_normal((3, 50))).astype(np.float32)
    v = rng.standard_normal((3, 50)).astype(np.float32)
    for _ in range(2000):
        flow(x, v, 0.3)
    assert np.abs(np.linalg.norm(x, axis=1) - 1).max() < 1e-5
    assert np.abs(np.sum(x * v, axis=1)).max() < 1e-4
