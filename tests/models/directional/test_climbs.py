"""Chains of laws on the torus start at the tops of the posterior that count, however far these are from the means."""

from __future__ import annotations

import numpy as np

from orthodrome.models.directional.climbs import candidates, climbed, curved, distinct, heights, near_tops
from orthodrome.models.directional.model import FAMILIES
from support.angles import grouped_angles

COSINE = FAMILIES["cosine"]


def test_the_highest_top_is_found_where_all_climbs_from_the_means_end_on_a_lower_one() -> None:
    x = COSINE.read(grouped_angles("hidden"))
    data = COSINE.target(x, 100.0, 1.0, "float32").data
    starts = [COSINE.start(x, np.random.default_rng(chain), 1) for chain in range(4)]
    tried = candidates(starts, np.random.default_rng(0))
    levels, places = climbed(COSINE, data, tried)
    near_means, best = levels[::2], levels.max()
    assert near_means.max() < best - 20  # what every chain would agree on
    assert np.sort(levels)[-3] > best - 0.01  # found more than once
    slopes = np.asarray(heights(COSINE, places, data)[1])
    assert np.abs(slopes[levels > best - 0.01]).max() < 0.5  # of some 150 rows: a top
    found = near_tops(COSINE, data, starts, seed=0)
    angle = lambda one: np.arctan2(one["mean"][:, 1], one["mean"][:, 0])
    top = places[levels.argmax()][:2]
    assert max(np.abs(np.angle(np.exp(1j * (angle(one) - top)))).max() for one in found) < 0.3
    again = near_tops(COSINE, data, starts, seed=0)  # a run that is resumed starts at the same points
    assert all(np.array_equal(one[name], two[name]) for one, two in zip(found, again, strict=True) for name in one)


def test_tops_of_about_equal_height_are_taken_in_turns() -> None:
    top, other = np.array([3.1, 0.0, 1.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0, -2.0])
    around = np.array([3.1 - 2 * np.pi, 0.01, 1.0, 1.0, 2.0])
    levels = np.array([-7.0, -5.0, np.nan, -5.01, -30.0])
    places = np.array([other, top, top, around, other + 1])
    assert np.array_equal(distinct(levels, places), [top, other])
    assert distinct(np.array([np.nan]), places[:1]) == []


def test_curvature_is_learnt_from_steps_that_agree_with_a_top() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    hessian, inverse = root @ root.T + np.eye(5), np.eye(5)[None]
    for step in np.eye(5):
        inverse = curved(inverse, step[None], (hessian @ step)[None])
        np.testing.assert_allclose(inverse[0] @ hessian @ step, step, atol=1e-8)  # the secant equation
    np.testing.assert_array_equal(curved(inverse, np.eye(5)[:1], -np.eye(5)[:1]), inverse)
