"""The network model finds the mode of a planted network by itself, in every chain."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from orthodrome import NetworkEigenmodel
from orthodrome.models.network.starts import spectrum


def planted(nodes: int, values: list[float], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A network of 0 and 1 from a random frame with these eigenvalues, and the frame."""
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(nodes, len(values))))[0]
    chance = ndtr((frame * np.array(values)) @ frame.T - 0.5)
    upper = np.triu(rng.uniform(size=(nodes, nodes)) < chance, 1)
    return (upper | upper.T).astype(float), frame


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_the_spectrum_is_near_the_planted_frame(link: str) -> None:
    edges, frame = planted(80, [60.0, -50.0], seed=0)
    found, values, intercept = spectrum(edges, 2, link)
    assert values[0] > 0 > values[1] and intercept < 0
    assert np.all(np.abs(np.sum(found * frame, axis=0)) > 0.7)


def test_missing_edges_do_not_count() -> None:
    edges, _ = planted(40, [30.0], seed=1)
    edges[3, 5] = edges[5, 3] = np.nan
    assert np.all(np.isfinite(np.concatenate([part.ravel() for part in spectrum(edges, 1, "probit")[:2]])))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_chains_find_the_planted_mode(seed: int) -> None:
    edges, frame = planted(60, [60.0, 45.0, -50.0], seed)
    model = NetworkEigenmodel(3, num_warmup=300, num_draws=300).fit(edges)
    span = np.linalg.svd(model.frame_.T @ frame, compute_uv=False)
    assert np.min(span) > 0.8
    by_chain = np.asarray(model.draws_["posterior"]["eigenvalues"].mean("draw"))
    assert np.all(np.abs(by_chain - by_chain.mean(0)) < 5)
    assert np.all(np.sign(by_chain) == np.array([1, 1, -1]))
