"""R-hat, ESS and MCSE of ours are those of arviz-stats, number for number."""

from __future__ import annotations

import numpy as np
import pytest
from arviz_stats.base import array_stats

import orthodrome.diagnostics.convergence as convergence


def chains(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return chains (chain, draw, number): independent, slow, with ties, or antithetic; one number is constant."""
    x = np.random.default_rng(7).normal(size=shape)
    if kind == "slow":
        x = np.cumsum(x, axis=1)
    elif kind == "ties":
        x = np.round(x)
    elif kind == "antithetic":
        x[:, 1::2] *= -0.1
        x[:, 1::2] -= x[:, ::2][:, : x[:, 1::2].shape[1]]
    x[..., -1] = 2.0
    return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(4, 301, 3), (2, 4, 2), (3, 7, 3), (1, 40, 2)])
@pytest.mark.parametrize("kind", ["independent", "slow", "ties", "antithetic"])
def test_as_arviz_stats(kind: str, shape: tuple[int, ...]) -> None:
    x = chains(kind, shape)
    axes = {"chain_axis": 0, "draw_axis": 1}
    tail = array_stats.ess(x, method="tail", prob=(0.05, 0.95), **axes)
    np.testing.assert_allclose(convergence.rhat(x), array_stats.rhat(x, **axes), rtol=1e-10)
    np.testing.assert_allclose(convergence.ess(x), array_stats.ess(x, method="bulk", **axes), rtol=1e-10)
    np.testing.assert_allclose(convergence.ess(x, "tail"), tail, rtol=1e-10)
    np.testing.assert_allclose(convergence.mcse(x), array_stats.mcse(x, method="mean", **axes), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(convergence.bfmi(x[..., 0]), array_stats.bfmi(x[..., 0], **axes), rtol=1e-10)


def test_a_number_that_is_missing_makes_the_figures_missing() -> None:
    x = chains("independent", (4, 50, 2))
    x[1, 3, 0] = np.nan
    for figure in (convergence.rhat, convergence.ess, convergence.mcse):
        assert np.isnan(figure(x)[0])


def test_draws_of_any_shape_keep_it() -> None:
    """One number alone, of draws (chain, draw), and numbers in a matrix."""
    x = chains("slow", (4, 60, 5))[..., :4]
    for figure in (convergence.rhat, convergence.ess, convergence.mcse):
        assert np.shape(figure(x[..., 0])) == () and float(figure(x[..., 0])) == pytest.approx(figure(x)[0])
        np.testing.assert_allclose(figure(x.reshape(4, 60, 2, 2)), figure(x).reshape(2, 2))
