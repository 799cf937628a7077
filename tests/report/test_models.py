"""The pictures of fitted models: what they show is what the model found. Stand-ins with known answers are shown."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthodrome.report import Section, write_report
from orthodrome.report.pictures.directional import directional, in_hours
from orthodrome.report.pictures.mixture import ClusterTables, mixture
from orthodrome.storage.draws import dataset, datatree
from support.pages import parts_of
from support.small_draws import HOSTILE, unit

RNG = np.random.default_rng(0)


def stand_in(name: str, draws: dict[str, np.ndarray], dims: Any = None, coords: Any = None, **found: Any) -> Any:
    """An object of a class of this name with draws and what `fit` leaves."""
    stats = {"lp": RNG.normal(size=next(iter(draws.values())).shape[:2])}
    groups = {"posterior": dataset(draws, dims, coords), "sample_stats": dataset(stats)}
    tree = datatree(groups, {"sampler": "GeodesicHMC", "manifold": "Simplex"})
    return type(name, (), found | {"draws_": tree})()


def shown(model: Any, path: Path) -> dict[str, Any]:
    return {one["kind"]: one for one in parts_of(write_report(model, path)).content["sections"]}


def numbers(given: dict[str, Any]) -> np.ndarray:
    kind = {8: "u1", 16: "<u2"}[given["bits"]]
    codes = np.frombuffer(base64.b64decode(given["packed"]), kind).reshape(given["shape"])
    return np.where(codes == 2 ** given["bits"] - 1, np.nan, given["low"] + given["step"] * codes)


def test_strengths_are_ranked_and_duels_are_those_of_the_model(tmp_path: Path) -> None:
    strength = RNG.dirichlet([1.0, 9.0, 4.0], (2, 200))
    names = [HOSTILE[1], "Anna", "Ben"]
    model = stand_in("PairedComparison", {"strength": strength}, {"strength": ["player"]}, {"player": names})
    found = shown(model, tmp_path / "a.html")
    assert found["intervals"]["data"]["groups"][0]["names"] == ["Anna", "Ben", HOSTILE[1]]
    chance = numbers(found["heatmap"]["data"]["matrices"][0]["values"])
    assert chance[0, 1] == pytest.approx(np.mean(strength[..., 1] / (strength[..., 1] + strength[..., 2])), abs=1e-4)
    assert np.allclose(chance + chance.T, 1, atol=1e-4) and found["ternary"]["data"]["names"] == names


def network(count: int, **more: Any) -> Any:
    edges = np.triu(RNG.random((count, count)) < 0.3, 1).astype(float)
    edges += edges.T
    edges[0, 1] = edges[1, 0] = np.nan
    frame = np.linalg.qr(RNG.normal(size=(2, 20, count, 2)))[0]
    names = [HOSTILE[0], *(f"node {k}" for k in range(1, count))]
    fitted = {"nodes_": names, "edges_": edges, "edge_probability_": 0.1 + 0.8 * np.nan_to_num(edges, nan=0.5)}
    fitted |= {"frame_": frame[0, 0], "eigenvalues_": np.array([3.0, -2.0])} | more
    return stand_in("NetworkEigenmodel", {"frame": frame}, {"frame": ["node", "column"]}, {"node": names}, **fitted)


def test_a_network_shows_its_probabilities_and_what_was_not_observed(tmp_path: Path) -> None:
    model = network(12)
    found = shown(model, tmp_path / "a.html")
    data = found["network"]["data"]
    assert np.allclose(numbers(data["probability"]), model.edge_probability_, atol=0.01)
    assert np.isnan(numbers(data["observed"])[0, 1]) and len(numbers(data["links"])) == np.nansum(model.edges_) / 2
    assert [HOSTILE[0], "node 1", "not observed", 0.5] in found["network"]["table"]["rows"]
    order = np.argsort(model.frame_[:, 0])
    edges, fitted = (numbers(one["values"]) for one in found["heatmap"]["data"]["matrices"])
    off = ~np.eye(12, dtype=bool)
    assert np.all(np.isnan(fitted[~off]))  # a node and itself are no pair
    assert np.allclose(fitted[off], model.edge_probability_[np.ix_(order, order)][off], atol=0.01)
    assert np.array_equal(np.isnan(edges[off]), np.isnan(model.edges_[np.ix_(order, order)][off]))
    assert found["heatmap"]["data"]["names"][0] == model.nodes_[order[0]]


def test_of_a_large_network_the_nodes_with_most_edges_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import orthodrome.report.pictures.network as module

    monkeypatch.setattr(module, "MOST", 5)
    model = network(12)
    best = set(np.argsort(-np.nansum(model.edges_, axis=1), kind="stable")[:5])
    assert shown(model, tmp_path / "a.html")["network"]["data"]["nodes"] == [model.nodes_[k] for k in sorted(best)]


def test_a_network_given_by_its_pairs_is_the_same_network(tmp_path: Path) -> None:
    whole = network(12)
    known = np.nan_to_num(whole.edges_)
    fitted = {"frame_": whole.frame_, "eigenvalues_": whole.eigenvalues_, "edges_": np.argwhere(np.triu(known, 1) == 1)}
    where = {name: k for k, name in enumerate(whole.nodes_)}
    ask = lambda self, pairs: np.array([whole.edge_probability_[where[a], where[b]] for a, b in pairs])
    names = {"node": list(whole.nodes_)}
    draws = {"frame": np.asarray(whole.draws_["posterior"]["frame"])}
    found = {"nodes_": whole.nodes_, "predict_proba": ask} | fitted
    model = stand_in("NetworkEigenmodel", draws, {"frame": ["node", "column"]}, names, **found)
    data, same = (shown(one, tmp_path / "a.html")["network"]["data"] for one in (model, whole))
    off = ~np.eye(12, dtype=bool)
    assert np.allclose(numbers(data["probability"])[off], numbers(same["probability"])[off])
    assert np.array_equal(numbers(data["links"]), numbers(same["links"]))


@pytest.mark.parametrize("size, kind", [(3, "sphere"), (2, "circle")])
def test_directions_have_the_predictive_density(tmp_path: Path, size: int, kind: str) -> None:
    rows, towards = unit(RNG.normal(size=(40, size))), np.eye(size)[0]
    draws = {"mean": unit(towards + RNG.normal(0, 0.05, (2, 50, size)))}
    score = lambda self, points: 5.0 * points @ towards
    model = stand_in("Directional", draws, x_=rows, score_samples=score)
    found = shown(model, tmp_path / "a.html")[kind]
    assert [one["name"] for one in found["data"]["layers"]] == ["data", "mean directions"]
    assert found["data"]["density"]["name"] == "predictive density"
    density = found["data"]["density"]
    if kind == "sphere":  # the first axis is at the equator, in the middle of the grid
        assert np.unravel_index(np.argmax(numbers(density["grid"])), (60, 120))[0] in (29, 30)
    else:
        assert np.argmax(density["values"]) == 0
    assert found["table"]["rows"][1][2] == pytest.approx(1.0, abs=0.01)


def test_a_circle_has_both_ends_of_axes_and_may_be_a_clock(tmp_path: Path) -> None:
    rows, frames = unit(RNG.normal(size=(40, 2))), np.broadcast_to(np.eye(2), (2, 50, 2, 2))
    score = lambda self, points: points[:, 0] ** 2
    axial = stand_in("Directional", {"axes": frames}, x_=rows, score_samples=score)
    data = shown(axial, tmp_path / "a.html")["circle"]["data"]
    angles = numbers(data["layers"][0]["angles"])
    assert data["layers"][0]["name"] == "both ends of the data" and len(angles) == 80
    assert np.allclose(np.cos(angles[:40] - angles[40:]), -1, atol=1e-2)
    assert data["marks"] == ["0°", "90°", "180°", "270°"]
    clock, other = in_hours(directional(axial)), Section("plane", "", "", {})
    assert clock[0].data["marks"] == ("0 h", "6 h", "12 h", "18 h") and in_hours([other]) == [other]


def test_angles_on_a_torus_and_rotations(tmp_path: Path) -> None:
    angles = RNG.normal([1.0, 2.0], 0.3, (40, 2))
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    score = lambda self, points: np.cos(points[:, 0] - 1) + np.cos(points[:, 1] - 2)
    model = stand_in("Directional", {"mean": RNG.normal(size=(2, 20, 2, 2))}, x_=rows, score_samples=score)
    grid = numbers(shown(model, tmp_path / "a.html")["plane"]["data"]["density"]["grid"])
    assert np.all(np.abs(np.array(np.unravel_index(np.argmax(grid), grid.shape)) - 40) < 4)
    turns = np.linalg.qr(RNG.normal(size=(30, 3, 3)))[0]
    model = stand_in("Directional", {"mode": turns[None].repeat(2, axis=0)}, x_=turns)
    assert len(shown(model, tmp_path / "b.html")["sphere"]["data"]["layers"]) == 6


def test_topics_of_a_model_have_no_documents(tmp_path: Path) -> None:
    draws = RNG.dirichlet(np.ones(30), (1, 10, 4))
    words = {"word": [*HOSTILE, *(f"w{k}" for k in range(24))]}
    model = stand_in("LDA", {"topics": draws}, {"topics": ["topic", "word"]}, words, components_=draws[0].mean(axis=0))
    data = shown(model, tmp_path / "a.html")["topics"]["data"]
    assert data["documents"] == [] and "places" not in data and not data["absence"]


def test_a_mixture_is_judged_by_what_has_no_labels(tmp_path: Path) -> None:
    draws = {"weights": RNG.dirichlet(np.ones(3), (2, 60)), "concentration": RNG.gamma(2.0, size=(2, 60))}
    draws["num_clusters"] = RNG.poisson(3.0, (2, 60)).astype(float)
    found = shown(stand_in("DirichletProcessMixture", draws), tmp_path / "a.html")
    assert [row[0] for row in found["health"]["table"]["rows"]] == ["num_clusters", "concentration"]
    assert len(found["facts"]["data"]["variables"]) == 3


def test_clusters_and_who_is_together() -> None:
    labels, both = np.array([0, 0, 1]), np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    over = lambda shape: tuple(np.full(shape, value) for value in (0.5, 0.1, 0.4, 0.6))
    parts = ClusterTables(
        *(labels, np.array([0.8, 0.9, 1.0]), ["r0", HOSTILE[1], "r2"], over(2), over((2, 2)), np.zeros(2)),
        *(["height", "width"], [np.array([1, 0]), np.array([0, 1])], np.eye(2), np.arange(3), both),
    )
    clusters, pairs = (section.content() for section in mixture(parts))
    first = clusters["data"]["clusters"][0]
    assert first["members"] == [[HOSTILE[1], 0.9], ["r0", 0.8]] and first["entries"][0][0] == "width"
    assert np.allclose(numbers(pairs["data"]["matrices"][0]["values"]), both, atol=0.005)
    assert pairs["data"]["ends"] == [2]
