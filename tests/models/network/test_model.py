"""The network eigenmodel: its density and links against scipy, networks of every kind, bad ones, and a planted one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_expit, log_ndtr

from orthodrome.diagnostics.alignment import match
from orthodrome.errors import BadInput
from orthodrome.models.network import NetworkEigenmodel
from orthodrome.models.network.adjacency import read_network
from orthodrome.models.network.gibbs import log_posterior, signs
from orthodrome.models.network.law import target
from orthodrome.models.network.links import log_cdf
from support.quick import quick


def planted(m: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two communities: U L U' with one positive eigenvalue; edges and their probabilities."""
    side = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    probability = np.where(np.outer(side, side) > 0, 0.75, 0.1)
    draw = np.triu(np.random.default_rng(seed).uniform(size=(m, m)) < probability, 1)
    return (draw | draw.T).astype(float), probability


@pytest.mark.parametrize(("link", "reference"), [("probit", log_ndtr), ("logit", log_expit)])
def test_links_are_stable_at_any_argument(link: str, reference: Any) -> None:
    """Value and slope against scipy, -1e4 to 1e4, 1e-9 relative (1e-15 where it is nearly 0)."""
    with jax.enable_x64(True):
        z = np.concatenate([np.linspace(-40, 10, 301), [-1e4, -300, 50, 1e4]])
        value, slope = jax.vmap(jax.value_and_grad(lambda x: log_cdf(link, x)))(jnp.asarray(z))
        np.testing.assert_allclose(value, reference(z), rtol=1e-9, atol=1e-15)
        step = 1e-6 * (1 + np.abs(z))
        rough = (reference(z + step) - reference(z - step)) / (2 * step)
        np.testing.assert_allclose(slope, rough, rtol=1e-4, atol=1e-8)
    single = jax.vmap(jax.value_and_grad(lambda x: log_cdf(link, x)))(jnp.asarray(z[:300], jnp.float32))
    np.testing.assert_allclose(single[0], reference(z[:300]), rtol=3e-5, atol=1e-7)


@pytest.mark.parametrize("m", quick([5, 41], 41))
def test_the_density_is_the_sum_over_pairs(m: int) -> None:
    """Blocks, padding, missing pairs and prior, against the double loop written out."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        edges = planted(m)[0]
        edges[0, 3] = edges[3, 0] = np.nan
        frame, values, c = np.linalg.qr(rng.normal(size=(m, 2)))[0], rng.normal(size=2) * 10, -0.7
        eta = (frame * values) @ frame.T + c
        pairs = [(i, j) for i in range(m) for j in range(i) if np.isfinite(edges[i, j])]
        likelihood = sum(log_ndtr(eta[i, j] if edges[i, j] else -eta[i, j]) for i, j in pairs)
        x = {"frame": jnp.asarray(frame), "eigenvalues": jnp.asarray(values), "intercept": jnp.asarray(c)}
        found = target(edges, "probit", "float64").embedded_logdensity(x)
        np.testing.assert_allclose(found, likelihood - np.sum(values**2) / (2 * m) - c**2 / 200, rtol=1e-12)
        np.testing.assert_allclose(log_posterior(signs(edges), frame, values, c), found, rtol=1e-12)


def test_every_kind_of_network(tmp_path: Path) -> None:
    import networkx

    pairs = [(0, 1), (1, 2), (0, 4)]
    matrix = np.zeros((5, 5))
    for i, j in pairs:
        matrix[i, j] = matrix[j, i] = 1
    path = tmp_path / "edges.csv"
    path.write_text("i,j\n0,1\n1,2\n0,4\n")
    graph = networkx.Graph(pairs)
    graph.add_node(3)
    for edges in (matrix, pairs, np.array(pairs), path, str(path)):
        np.testing.assert_array_equal(read_network(edges).edges, matrix)
    network = read_network(graph)
    order = [network.nodes.index(i) for i in range(5)]
    np.testing.assert_array_equal(network.edges[np.ix_(order, order)], matrix)
    held_out = read_network(matrix, missing=[(0, 1)]).edges
    assert np.isnan(held_out[0, 1]) and np.isnan(held_out[1, 0])
    assert read_network([("a", "b")]).nodes == ("a", "b")


def bad_matrix(i: int, j: int, value: float) -> np.ndarray:
    matrix = np.zeros((4, 4))
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (bad_matrix(0, 1, 1), r"not symmetric: \[0, 1\]"),
        (bad_matrix(2, 2, 1), "self-loop"),
        (bad_matrix(2, 1, 2) + bad_matrix(1, 2, 2), "0, 1 or NaN"),
        ([(0, 1), (2, 2)], "itself"),
        (np.zeros((3, 4)), "square matrix"),
        ("nowhere.csv", "cannot read"),
    ],
)
def test_bad_networks(edges: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_network(edges)


def test_bad_settings() -> None:
    edges = planted(6)[0]
    with pytest.raises(BadInput, match="6 nodes"):
        NetworkEigenmodel(7).fit(edges)
    with pytest.raises(BadInput, match="probit, logit"):
        NetworkEigenmodel(2, link="cauchit").fit(edges)
    with pytest.raises(BadInput, match="not a node"):
        NetworkEigenmodel(2).fit(edges, missing=[(0, 99)])


def test_columns_are_matched_up_to_order_and_sign() -> None:
    reference = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 3)))[0]
    turned = reference[:, [2, 0, 1]] * np.array([1, -1, -1])
    order, sign = match(turned.T, reference.T, either_sign=True)
    np.testing.assert_allclose(turned[:, order] * sign, reference)


def test_a_planted_network_is_found() -> None:
    """Two communities with 75 % and 10 % of edges: held-out pairs are told apart almost as well as by the truth."""
    edges, probability = planted()
    rng = np.random.default_rng(3)
    i, j = np.triu_indices(40, 1)
    held = rng.choice(i.size, 120, replace=False)
    pairs = list(zip(i[held].tolist(), j[held].tolist(), strict=True))
    settings: dict[str, Any] = {"num_steps": 6, "num_chains": 2, "num_warmup": 300, "num_draws": 150}
    model = NetworkEigenmodel(1, restarts=0, tempering=None, random_state=1, **settings)
    model.fit(edges, missing=pairs)
    from sklearn.metrics import roc_auc_score

    labels = edges[i[held], j[held]]
    truth = roc_auc_score(labels, probability[i[held], j[held]])
    assert model.score(pairs, labels) > truth - 0.03
    assert np.corrcoef(model.edge_probability_[i, j], probability[i, j])[0, 1] > 0.93
    assert model.eigenvalues_[0] > 10
    side = np.sign(model.frame_[:, 0])
    assert np.all(side[:20] == side[0]) and np.all(side[20:] == -side[0])
    assert "eigenvalues" in repr(model.summary())
