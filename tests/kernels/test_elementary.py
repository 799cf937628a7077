"""The vectorisable functions and the words of the generator against NumPy and their own laws."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import stats

from orthodrome.kernels import elementary
from orthodrome.kernels.generator import fill, source, uniform, word


@njit
def apply(function, values, found):  # type: ignore[no-untyped-def]
    for i in range(values.shape[0]):
        found[i] = function(values[i])
    return found


def worst(function, exact, values: np.ndarray) -> float:  # type: ignore[no-untyped-def]
    return float(np.max(np.abs(apply(function, values, np.empty_like(values)) / exact(values) - 1)))


def test_functions_agree_with_numpy() -> None:
    rng = np.random.default_rng(0)
    assert worst(elementary.log, np.log, np.exp(rng.normal(size=5000) * 100)) < 5e-16
    assert worst(elementary.log, np.log, 1 + rng.normal(size=5000) * 0.01) < 5e-16
    small = np.exp(-40 * rng.random(5000))
    assert worst(elementary.log_complement, lambda v: np.log1p(-v), small) < 1e-15
    assert worst(elementary.exp, np.exp, rng.uniform(-700, 700, 5000)) < 5e-16
    assert np.array_equal(apply(elementary.exp, np.array([-800.0, 0.0]), np.empty(2)), [0.0, 1.0])


def test_directions_are_uniform_on_the_circle() -> None:
    stream, words = source(1, 2, 3), np.empty(50_000, np.uint64)
    fill(stream, words)
    pairs = apply_pairs(words, np.empty((words.size, 2)))
    angles = np.arctan2(pairs[:, 1], pairs[:, 0]) / (2 * np.pi) + 0.5
    assert np.allclose(np.sum(pairs**2, axis=1), 1, atol=1e-15)
    assert stats.kstest(angles, "uniform").pvalue > 1e-3


@njit
def apply_pairs(words, found):  # type: ignore[no-untyped-def]
    for i in range(words.shape[0]):
        found[i, 0], found[i, 1] = elementary.direction(words[i])
    return found


def test_words_one_by_one_are_those_filled() -> None:
    ours, theirs, words = source(7, 8, 9), source(7, 8, 9), np.empty(10, np.uint64)
    fill(ours, words)
    assert np.array_equal(words, [word(theirs) for _ in range(10)])
    assert not np.isin(source(7, 8, 10)[:2], ours).any() and not np.isin(source(7, 9, 9)[:2], ours).any()


def test_uniform_words() -> None:
    """Marginal, and of neighbours in one stream and in neighbouring streams."""
    words = np.empty((200, 500), np.uint64)
    for block in range(200):
        fill(source(0, 0, block), words[block])
    values = apply(uniform, words.ravel(), np.empty(words.size)).reshape(words.shape)
    assert stats.kstest(values.ravel(), "uniform").pvalue > 1e-3
    for pair in (values[:, :-1].ravel(), values[:, 1:].ravel()), (values[:-1].ravel(), values[1:].ravel()):
        assert abs(np.corrcoef(*pair)[0, 1]) < 4 / np.sqrt(pair[0].size)
