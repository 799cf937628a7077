"""Large networks by batches of pairs: readers, a table of pairs, unbiased gradients, the law of the full model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse

from orthodrome.errors import BadInput, NotConverged
from orthodrome.gradients.control_variate import Anchor
from orthodrome.models.network import NetworkEigenmodel
from orthodrome.models.network.adjacency import read_network
from orthodrome.models.network.all_pairs import gradient as whole_gradient
from orthodrome.models.network.all_pairs import rows_of, sums
from orthodrome.models.network.law import target
from orthodrome.models.network.listed import BITS_PER_PAIR, WORD, _bit, is_listed, listed
from orthodrome.models.network.pair_gradient import pair_gradient
from orthodrome.models.network.pairs import codes, each_once, read_pairs
from orthodrome.models.network.starts import spectrum
from orthodrome.models.network.stochastic import sparse_spectrum
from support.quick import quick

PAIRS = [(0, 1), (1, 2), (0, 4)]


def communities(m: int, seed: int = 0) -> np.ndarray:
    """A symmetric adjacency matrix of two communities."""
    side = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    draw = np.random.default_rng(seed).uniform(size=(m, m)) < np.where(np.outer(side, side) > 0, 0.5, 0.05)
    upper = np.triu(draw, 1)
    return (upper | upper.T).astype(float)


def test_every_kind_of_network(tmp_path: Path) -> None:
    """Matrices, sparse ones (both triangles or one), lists, tables and files give the same pairs."""
    matrix = np.zeros((5, 5))
    for i, j in PAIRS:
        matrix[i, j] = matrix[j, i] = 1
    (tmp_path / "edges.csv").write_text("i,j\n0,1\n2,1\n0,4\n")
    kinds: tuple[Any, ...] = (matrix, scipy.sparse.csr_array(matrix), scipy.sparse.coo_matrix(np.triu(matrix)))
    for edges in (*kinds, PAIRS, [*PAIRS, (1, 0)], np.array(PAIRS), tmp_path / "edges.csv"):
        found = read_pairs(edges)
        np.testing.assert_array_equal(found.edges, sorted(PAIRS))
        assert len(found.nodes) == 5 and len(found.unknown) == 0
    held_out = read_pairs(scipy.sparse.csr_array(matrix), missing=[(1, 0), (2, 3)])
    np.testing.assert_array_equal(held_out.edges, [(0, 4), (1, 2)])
    np.testing.assert_array_equal(held_out.unknown, [(0, 1), (2, 3)])
    unknown = matrix.copy()
    unknown[2, 3] = unknown[3, 2] = np.nan
    np.testing.assert_array_equal(read_pairs(unknown).unknown, [(2, 3)])
    assert read_pairs([("a", "b")]).nodes == ("a", "b")


BAD: dict[str, Any] = {
    "joined to itself": [(0, 1), (1, 1)],
    "not symmetric": scipy.sparse.csr_array(([1.0] * 3, ([0, 1, 0], [1, 0, 2])), shape=(3, 3)),
    "0 or 1": scipy.sparse.csr_array(([2.0], ([0], [1])), shape=(3, 3)),
    "needs a square": scipy.sparse.csr_array(([1.0], ([0], [1])), shape=(3, 4)),
    "negative": np.array([(0, 1), (-1, 2), (0, 2)]),
    "give a matrix": 5,
    "table of pairs": np.zeros((3, 4)),
}


@pytest.mark.parametrize("text", list(BAD))
def test_bad_networks_are_named(text: str) -> None:
    with pytest.raises(BadInput, match=text):
        read_pairs(BAD[text])


def test_strangers_and_settings_are_refused() -> None:
    with pytest.raises(BadInput, match="not a node"):
        read_pairs(PAIRS, missing=[(0, 9)])
    with pytest.raises(BadInput, match="does not join"):
        read_pairs([("a", "b"), ("a", "c")], nodes=["a", "b"])
    with pytest.raises(BadInput, match="nothing to learn"):
        NetworkEigenmodel(1, method="sggmc").fit(PAIRS, missing=PAIRS)
    with pytest.raises(BadInput, match="tempering"):
        NetworkEigenmodel(1, method="gsgnht", tempering=4).fit(PAIRS)
    with pytest.raises(BadInput, match="batch_size"):
        NetworkEigenmodel(1, method="gsgnht", batch_size=0).fit(PAIRS)


@pytest.mark.parametrize(("nodes", "share"), [(2, 1.0), (30, 0.5), (257, 0.02), (257, 0.0)])
def test_the_listed_pairs_are_found_and_no_others(nodes: int, share: float) -> None:
    """Every pair of nodes is asked for, among communities, few pairs, one pair and none."""
    i, j = np.triu_indices(nodes, 1)
    wanted = np.random.default_rng(0).uniform(size=len(i)) < share
    known = listed(np.stack([i, j], axis=1)[wanted].astype(np.int32), nodes)
    np.testing.assert_array_equal(is_listed(known, jnp.asarray(i), jnp.asarray(j)), wanted)


@pytest.mark.parametrize("nodes", [65_535, 65_536])
def test_short_and_long_numbers_of_nodes(nodes: int) -> None:
    """The last node included, on both sides of where numbers of 16 bits end; few other pairs pass the filter."""
    rng = np.random.default_rng(0)
    pairs = each_once(np.sort(np.concatenate([rng.integers(nodes, size=(3_000, 2)), [[5, nodes - 1]]]), axis=1), nodes)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    known = listed(pairs, nodes)
    assert known.table.dtype == (jnp.uint16 if nodes < 65_536 else jnp.int32)
    assert bool(jnp.all(is_listed(known, jnp.asarray(pairs[:, 0]), jnp.asarray(pairs[:, 1]))))
    others = each_once(np.sort(rng.integers(nodes, size=(20_000, 2)), axis=1), nodes)
    others = others[~np.isin(codes(others, nodes), codes(pairs, nodes)) & (others[:, 0] < others[:, 1])]
    i, j = (jnp.asarray(others[:, k], jnp.uint32) for k in (0, 1))
    assert not bool(jnp.any(is_listed(known, i, j)))
    bit = np.asarray(_bit(i, j, known.filter.size << WORD))
    words = np.asarray(known.filter)
    assert np.mean(words[bit >> WORD] >> (bit & 31) & 1) < 1 / BITS_PER_PAIR


def test_buckets_stay_small() -> None:
    """A hub, a ring and a grid, whose pairs have a pattern, fill no bucket with more than some ten pairs."""
    nodes = 4096
    every = np.arange(nodes - 64)
    for pairs in ([(0, k) for k in range(1, nodes)], np.stack([every, every + 1], 1), np.stack([every, every + 64], 1)):
        assert listed(each_once(np.asarray(pairs), nodes), nodes).table.shape[1] < 16


@pytest.mark.parametrize("anchored", quick([False, True], True))
def test_the_gradient_is_unbiased(anchored: bool) -> None:
    """The mean over batches is the gradient of all pairs, within 5 standard errors of each of 53 numbers."""
    with jax.enable_x64(True):
        edges = communities(25)
        matrix = edges.copy()
        matrix[0, 1] = matrix[1, 0] = matrix[3, 20] = matrix[20, 3] = np.nan
        rng = np.random.default_rng(1)
        x = {
            "frame": jnp.asarray(np.linalg.qr(rng.normal(size=(25, 2)))[0]),
            "eigenvalues": jnp.asarray([12.0, -5.0]),
            "intercept": jnp.asarray(-0.6),
        }
        value, wanted = jax.jit(jax.value_and_grad(target(matrix, "probit", "float64").embedded_logdensity))(x)
        network = read_pairs(matrix)
        near = x | {"eigenvalues": x["eigenvalues"] + 1.0, "intercept": jnp.asarray(-0.5)}
        anchor = Anchor(near, *whole_gradient(sums(rows_of(network), near, "probit"), near)) if anchored else None
        gradient = pair_gradient(network, "probit", 40, anchor)
        keys = jax.random.split(jax.random.key(0), 4000)
        found = jax.tree.map(np.asarray, jax.jit(jax.vmap(lambda key: gradient.estimate(key, x, None)[0]))(keys))
        value, wanted = jax.tree.map(np.asarray, (value, wanted))
    for exact, drawn in zip(
        jax.tree.leaves((value, wanted)), jax.tree.leaves((found.logdensity, found.gradient)), strict=True
    ):
        error = np.std(drawn, axis=0) / np.sqrt(len(keys))
        assert np.max(np.abs(np.mean(drawn, axis=0) - exact) / error) < 5
    if anchored:
        plain = pair_gradient(read_pairs(matrix), "probit", 40)
        with jax.enable_x64(True):
            every = jax.jit(jax.vmap(lambda key: plain.estimate(key, x, None)[0].gradient["frame"]))(
                jax.random.split(jax.random.key(1), 400)
            )
        # a tenth of the eigenvalues away from x, the anchor takes off most of the noise
        assert np.sum(np.var(found.gradient["frame"], axis=0)) < 0.2 * np.sum(np.var(np.asarray(every), axis=0))
        return
    control = 1.05 * np.mean(found.logdensity) - value  # a ratio that is wrong by 5 % would be seen
    assert abs(control) > 5 * np.std(found.logdensity) / np.sqrt(len(keys))


def test_the_sparse_spectrum_is_the_dense_one() -> None:
    matrix = communities(30)
    matrix[0, 1] = matrix[1, 0] = np.nan
    (frame, values, intercept), found = spectrum(matrix, 2, "probit"), sparse_spectrum(read_pairs(matrix), 2, "probit")
    np.testing.assert_allclose(found[1], values, rtol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(found[0] * frame, axis=0)), 1, atol=1e-8)
    assert found[2] == pytest.approx(intercept)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sggmc", "gsgnht"])
def test_batches_have_the_law_of_all_pairs(method: str) -> None:
    """Held-out probabilities and eigenvalues of a network of 40 nodes agree with those of the exact sampler."""
    matrix = communities(40)
    missing = [(0, 1), (0, 39), (5, 9), (2, 30)]
    settings: dict[str, Any] = {"num_chains": 2, "random_state": 0}
    exact = NetworkEigenmodel(1, num_warmup=300, num_draws=500, **settings).fit(matrix, missing=missing)
    short: dict[str, Any] = {"batch_size": 300, "num_steps": 10, "num_warmup": 1000, "num_draws": 2000}
    with warnings.catch_warnings():  # that the noise heats the chain by a few per cent along one direction
        warnings.simplefilter("ignore", NotConverged)
        found = NetworkEigenmodel(1, method=method, **short, **settings).fit(matrix, missing=missing)
    spread = float(exact.draws_["posterior"]["eigenvalues"].std())
    assert abs(found.eigenvalues_[0] - exact.eigenvalues_[0]) < 0.5 * spread
    assert np.max(np.abs(found.predict_proba(missing) - exact.predict_proba(missing))) < 0.05
    assert found.score(missing, [1, 0, 1, 0]) == 1.0 and not hasattr(found, "edge_probability_")
    assert read_network(matrix).nodes == found.nodes_
