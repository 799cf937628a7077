"""The compiled loops of a batch: sets of rows, exchanges of places, sticks that are broken off, rows that move."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from orthodrome.kernels.generator import source
from orthodrome.models.mixture.compiled.places import draw_concentration, log_gamma, slice_batch, swap_places, weigh
from orthodrome.models.mixture.compiled.rows import change_labels, draw_rows


def test_all_sets_of_rows_are_equally_likely() -> None:
    sets = {rows: i for i, rows in enumerate(itertools.combinations(range(6), 3))}
    found = [sets[tuple(sorted(draw_rows(np.uint64(seed), 6, 3).tolist()))] for seed in range(4_000)]
    assert chisquare(np.bincount(found, minlength=20)).pvalue > 1e-3
    whole = draw_rows(np.uint64(1), 1_000_000, 1_000)
    assert len(set(whole.tolist())) == 1_000 and kstest(whole / 1e6, "uniform").pvalue > 1e-3


def test_rows_that_change_their_label_are_counted() -> None:
    labels, sizes, old = np.array([0, 0, 1, -1], np.int32), np.array([2, 1, 0]), np.empty(3, np.int32)
    empty = change_labels(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32), labels, sizes, old)
    np.testing.assert_array_equal(labels, [0, 0, 2, 2])
    np.testing.assert_array_equal(sizes, [2, 0, 2])
    np.testing.assert_array_equal(old, [0, 1, -1])
    np.testing.assert_array_equal(empty, [1])


def test_weights_are_those_of_the_sticks() -> None:
    v, weights = np.array([0.5, 0.2]), np.empty(2)
    rest = weigh(np.log(np.stack([v, 1 - v], axis=1)), 2, weights)
    np.testing.assert_allclose(np.exp(weights), [0.5, 0.1])
    assert np.exp(rest) == pytest.approx(0.4)


def test_gamma_numbers_and_the_concentration() -> None:
    stream = source(np.uint64(3), np.uint64(0), np.uint64(0))
    for shape in (0.3, 1.0, 4.5):
        drawn = np.exp([log_gamma(stream, shape) for _ in range(3_000)])
        assert kstest(drawn, "gamma", args=(shape,)).pvalue > 1e-3
    sticks = np.log([[1.0, 3.0], [2.0, 2.0]])  # 1 - v = 3/4, 1/2
    drawn = [draw_concentration(stream, sticks, 2, 1.5, 2.0) for _ in range(3_000)]
    assert kstest(drawn, "gamma", args=(3.5, 0, 1 / (2.0 - np.log(0.75 * 0.5)))).pvalue > 1e-3


def order_law(v: Any, sizes: Any) -> dict[tuple[Any, ...], float]:
    """Return the law of (order of clusters, order of sticks) ~ prod_j w_j^{m of the cluster in place j}."""
    found = {}
    for clusters in itertools.permutations(range(3)):
        for sticks in itertools.permutations(range(3)):
            own = v[list(sticks)]
            w = own * np.cumprod(np.append(1.0, 1 - own[:-1]))
            found[clusters, sticks] = float(np.prod(w ** sizes[list(clusters)]))
    total = sum(found.values())
    return {name: value / total for name, value in found.items()}


def test_exchanges_leave_the_law_of_the_order() -> None:
    """Start at exact draws, propose three exchanges of both kinds; a wrong sign in either is seen."""
    v, sizes = np.array([0.5, 0.3, 0.6]), np.array([3, 1, 2])
    law = order_law(v, sizes)
    names, rng, count = list(law), np.random.default_rng(0), 6_000
    place = {name: i for i, name in enumerate(names)}
    seen, moved = np.zeros(len(names)), 0
    for replicate, start in enumerate(rng.choice(len(names), count, p=list(law.values()))):
        clusters, of_stick = (np.array(part, np.int32) for part in names[start])
        sticks = np.log(np.stack([v, 1 - v], axis=1))[of_stick]
        stream = source(np.uint64(replicate), np.uint64(0), np.uint64(0))
        for _ in range(3):
            swap_places(stream, clusters, 3, sticks, sizes, np.empty(3))
        back = tuple(int(np.argmin(np.abs(np.exp(x) - v))) for x in sticks[:, 0])
        end = place[tuple(clusters.tolist()), back]
        seen[end] += 1
        moved += end != start
    assert moved > count / 2
    assert chisquare(seen, np.array(list(law.values())) * count).pvalue > 1e-3


def test_sticks_are_broken_until_every_slice_is_covered_or_slots_are_full() -> None:
    rows, labels, sizes = np.arange(50), np.zeros(50, np.int32), np.zeros(12, np.int64)
    sizes[0] = 50
    for slots, full in ((12, False), (2, True)):
        order, sticks, levels, weights = np.zeros(slots, np.int32), np.zeros((slots, 2)), np.empty(50), np.empty(slots)
        sticks[0] = np.log([2.0, 1.0])
        held, alpha, rest, lowest = slice_batch(
            7, rows, labels, order, 1, sticks, sizes[:slots], 0, 1.0, (0.0, 0.0), levels, weights
        )
        assert alpha == 1.0 and lowest == levels.min() and np.all(levels <= weights[0])
        assert (rest > lowest) == full and sorted(order[:held].tolist()) == list(range(held))
        assert np.exp(weights[:held]).sum() + np.exp(rest) == pytest.approx(1.0)
