"""Gamma numbers of small shapes: their law, also where bounds of exp(-G) decide, and a control."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from orthodrome.kernels.generator import source
from orthodrome.kernels.small_gammas import fill_log_gamma

NUM, LEAST = 100_000, 1e-4


def draws(shape: float, block: int) -> np.ndarray:
    found = np.empty(NUM)
    fill_log_gamma(source(3, 1, block), np.full(NUM, shape), found)
    return found


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.45, 0.75, 0.99])
def test_the_law_of_the_logarithm(shape: float) -> None:
    """The logarithm of a Gamma number has the law `loggamma`; a shape 4 % too large is seen at any of these."""
    law = stats.loggamma(shape)
    assert stats.kstest(draws(shape, 1), law.cdf).pvalue > LEAST
    assert stats.kstest(draws(shape * 1.04, 2), law.cdf).pvalue < LEAST


def test_the_upper_tail_and_what_the_bounds_leave_open() -> None:
    """Proposals above 1 are the method's tail; those near 1 are where the bounds are furthest apart."""
    for shape in (0.1, 0.45, 0.99):
        values, law = np.exp(draws(shape, 3)), stats.gamma(shape)
        for low, high in ((0.8, 1.0), (1.0, 1.2), (1.2, 3.0), (3.0, np.inf)):
            share = law.cdf(high) - law.cdf(low)
            found = int(np.sum((values > low) & (values <= high)))
            assert stats.binomtest(found, NUM, share).pvalue > LEAST
