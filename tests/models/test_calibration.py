"""Are the models calibrated? 90 % intervals cover 90 % of the truths that generated the data.

Parameters are drawn from the model's own prior and data from its likelihood; the central 90 % interval of the
posterior then covers each function of the parameters with the probability 0.9 exactly, also among those data that a
condition on the data alone keeps. Of REPLICATIONS = 100 the number covered is binomial with the standard deviation 3:
81 to 99 is three of them, and 1 of 300 right functions fails by chance; the seeds are fixed. A posterior that is too
narrow by a third (sd 0.67 of the right one) covers 73, and one that is too wide by half covers 98.6.

Functions do not depend on what the model does not identify: signs, order and labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import vonmises_fisher

from orthodrome import SAM, Directional, NetworkEigenmodel, PairedComparison
from orthodrome.errors import OrthodromeWarning

REPLICATIONS, TOLERANCE = 100, 9
Functions = dict[str, np.ndarray]
"""Functions by name: of the truth, a number; of the draws, one number for each."""


def covered(pairs: Iterator[tuple[Functions, Functions]]) -> dict[str, int]:
    """Return how many of the truths lie in the central 90 % of their draws, by function."""
    hits: dict[str, int] = {}
    for truth, draws in pairs:
        for name, values in draws.items():
            low, high = np.quantile(values, [0.05, 0.95])
            hits[name] = hits.get(name, 0) + int(low <= truth[name] <= high)
    return hits


def flat(model: Any, name: str) -> np.ndarray:
    """Return the draws of all chains, one after the other."""
    values = np.asarray(model.draws_["posterior"][name], float)
    return values.reshape(-1, *values.shape[2:])


def fisher(rng: np.random.Generator, mean: np.ndarray, kappa: Any, count: int) -> np.ndarray:
    """Draw von Mises-Fisher rows, with a sampler that is not ours."""
    return vonmises_fisher(mean, kappa).rvs(count, random_state=rng)


def direction(rng: np.random.Generator, size: int) -> np.ndarray:
    x = rng.normal(size=size)
    return x / np.linalg.norm(x)


def directional() -> Iterator[tuple[Functions, Functions]]:
    """A mean direction in three dimensions and a concentration with an exponential prior, from 15 rows."""
    functions = lambda mean, kappa: {"concentration": kappa, "first": mean[..., 0], "last": mean[..., 2]}
    for number in range(REPLICATIONS):
        rng = np.random.default_rng(number)
        mean, kappa = direction(rng, 3), rng.exponential(10.0)
        model = Directional(scale=10.0, num_warmup=300, num_draws=200, random_state=number)
        model.fit(fisher(rng, mean, kappa, 15))
        yield functions(mean, kappa), functions(flat(model, "mean"), flat(model, "concentration"))


def comparison() -> Iterator[tuple[Functions, Functions]]:
    """Four players with a uniform prior, who meet four times each."""
    players = ["a", "b", "c", "d"]
    functions = lambda p: {name: p[..., i] for i, name in enumerate(players)} | {"best": p.max(-1)}
    for number in range(REPLICATIONS):
        rng = np.random.default_rng(number)
        p = rng.dirichlet(np.ones(4))
        games = [(i, j) for i in range(4) for j in range(i) for _ in range(4)]
        won = [(i, j) if rng.random() < p[i] / (p[i] + p[j]) else (j, i) for i, j in games]
        model = PairedComparison(num_warmup=300, num_draws=200, random_state=number)
        model.fit([(players[i], players[j]) for i, j in won], players=players)
        yield functions(p), functions(flat(model, "strength"))


def network() -> Iterator[tuple[Functions, Functions]]:
    """One eigenvalue of a network of 12 nodes of whose pairs a quarter to three quarters are joined."""
    functions = lambda u, v, c: {
        "eigenvalue": v[..., 0],
        "intercept": c,
        "share of the first node": u[..., 0, 0] ** 2,
        "first pair": v[..., 0] * u[..., 0, 0] * u[..., 1, 0] + c,
    }
    nodes, number = 12, 0
    rng = np.random.default_rng(0)
    while number < REPLICATIONS:
        u, v, c = direction(rng, nodes)[:, None], rng.normal(size=1) * nodes**0.5, np.asarray(rng.normal() * 10)
        upper = np.triu(rng.random((nodes, nodes)) < ndtr((u * v) @ u.T + c), 1)
        if not 0.25 <= upper.sum() / (nodes * (nodes - 1) / 2) <= 0.75:
            continue
        number += 1
        model = NetworkEigenmodel(1, num_steps=8, num_warmup=250, num_draws=250, random_state=number)
        model.fit((upper | upper.T).astype(float))
        yield functions(u, v, c), functions(flat(model, "frame"), flat(model, "eigenvalues"), flat(model, "intercept"))


def admixture(method: str) -> Iterator[tuple[Functions, Functions]]:
    """Two topics of five words from 30 documents, with a corpus mean that is nearly uniform."""
    functions = lambda b: {"cosine": (b[..., 0, :] * b[..., 1, :]).sum(-1), "largest": b.max((-1, -2))}
    settings: dict[str, Any] = {"corpus_concentration": 0.01, "topic_concentration": 5.0, "doc_topic_prior": 1.0}
    settings |= {"document_concentration": 30.0, "method": method, "num_chains": 2, "dtype": "float64"}
    settings |= {"num_warmup": 300, "num_draws": 200, "thin": 5, "batch_size": 10, "n_jobs": 1}
    for number in range(REPLICATIONS):
        rng = np.random.default_rng(number)
        mean = direction(rng, 5)
        topics = fisher(rng, mean, settings["topic_concentration"], 2)
        means = rng.dirichlet(np.ones(2), size=30) @ topics
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        rows = np.concatenate([fisher(rng, m, settings["document_concentration"], 1) for m in means])
        model = SAM(2, random_state=number, **settings).fit(rows / np.linalg.norm(rows, axis=1, keepdims=True))
        yield functions(topics), functions(flat(model, "topics"))


MODELS: dict[str, Callable[[], Iterator[tuple[Functions, Functions]]]] = {
    "Directional": directional,
    "PairedComparison": comparison,
    "NetworkEigenmodel": network,
    "SAM, Gibbs": lambda: admixture("gmc-bgibbs"),
    "SAM, thermostat": lambda: admixture("gsgnht"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_intervals_cover_what_they_say(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrthodromeWarning)  # short runs, and truths far out in the prior
        hits = covered(MODELS[name]())
    assert all(abs(number - 0.9 * REPLICATIONS) <= TOLERANCE for number in hits.values()), hits


def test_intervals_that_are_too_narrow_are_seen() -> None:
    """The control: a posterior with two thirds of the right standard deviation."""
    rng = np.random.default_rng(0)
    truths, errors = rng.normal(size=(2, REPLICATIONS))
    for width, seen in ((1.0, False), (0.6, True)):
        draws = (truths + errors)[:, None] / 2 + width * rng.normal(size=(REPLICATIONS, 400)) / 2**0.5
        hits = covered(({"x": t}, {"x": d}) for t, d in zip(truths, draws, strict=True))["x"]
        assert (abs(hits - 0.9 * REPLICATIONS) > TOLERANCE) == seen
