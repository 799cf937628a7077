"""Normals on lanes: the numbers of Box and Muller's formulas, from the words of the generator."""

from __future__ import annotations

import numpy as np
import scipy.stats

from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.streams import next_bits, seed_lane, stream_key, warm
from orthodrome.kernels.vectors.normals import fill_normals


def opened() -> np.ndarray:
    """The state of sixteen streams."""
    state = np.zeros((4, LANES), np.uint32)
    for lane in range(LANES):
        seed_lane(state, lane, np.uint64(stream_key(np.uint64(1), np.uint64(2), np.uint64(lane))))
    warm(state, np.zeros(LANES, np.uint32))
    return state


def by_formula(bits: np.ndarray, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two normals: u rounded to float32, an angle within an eighth of a turn, then swapped and signed by two bits."""
    whole = (bits >> np.uint32(1)).astype(np.float32).astype(np.float64)
    u = (whole * 2.0**-31 + 2.0**-32).astype(np.float32).astype(np.float64)
    angle = ((turn & np.uint32((1 << 30) - 1)) * 2.0**-30 - 0.5) * np.pi / 2
    cosine = np.cos(angle) * np.where(turn >> np.uint32(31), -1, 1)
    swap, radius = (turn >> np.uint32(30)) & np.uint32(1) == 1, np.sqrt(-2 * np.log(u))
    return radius * np.where(swap, np.sin(angle), cosine), radius * np.where(swap, cosine, np.sin(angle))


def test_normals_are_those_of_the_formula() -> None:
    found, state, ours = np.zeros((40, LANES), np.float32), opened(), opened()
    fill_normals(ours, found)
    for row in range(0, 40, 2):
        bits, turn = np.zeros(LANES, np.uint32), np.zeros(LANES, np.uint32)
        next_bits(state, bits)
        next_bits(state, turn)
        for line, exact in zip(found[row : row + 2], by_formula(bits, turn), strict=True):
            np.testing.assert_allclose(line, exact, rtol=1e-6, atol=3e-7)
    np.testing.assert_array_equal(ours, state)


def test_normals_have_their_law_in_the_tails() -> None:
    """A million numbers: the counts beyond 0 to 4 deviations, either side."""
    found = np.zeros((62_500, LANES), np.float32)
    fill_normals(opened(), found)
    assert np.isfinite(found).all()
    edges = np.concatenate([[-np.inf], np.arange(-4, 5), [np.inf]])
    counts = np.histogram(found, edges)[0]
    assert scipy.stats.chisquare(counts, found.size * np.diff(scipy.stats.norm.cdf(edges))).pvalue > 1e-3
    lagged = found[:-1] * found[1:]
    assert abs(lagged.mean()) < 4 / np.sqrt(lagged.size)
