"""The clusters of comets: claims hold for what is known and fail for what is not, and the figure shows both sides."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from orthodrome.errors import BadInput
from orthodrome.experiments import comets
from orthodrome.experiments.directional import PUBLISHED, direction
from orthodrome.experiments.support.contract import Context
from orthodrome.plots.mixture import globes_figure

KINDS = np.repeat(["PAR", "JFc", "COM"], [600, 100, 100])
LABELS = np.repeat([0, 1, 2], [600, 100, 100])


def fitted(poles: Any, labels: Any, clusters: int = 5) -> Any:
    """What the claims look at of a fitted mixture."""
    count = np.full((2, 4), clusters)
    tree = xarray.DataTree.from_dict({"posterior": xarray.Dataset({"num_clusters": (("chain", "draw"), count)})})
    parameters = {"mean_direction": np.array(poles), "log_kappa": np.log([200.0, 60.0, 1.0][: len(poles)])}
    weights = np.full(len(poles), 1 / len(poles))
    return types.SimpleNamespace(
        cluster_parameters_=parameters, labels_=labels, weights_=weights, n_clusters_=len(poles), draws_=tree
    )


def test_claims_on_groups_hold_and_fail() -> None:
    known = [comets.orbit_normal(*comets.KREUTZ), comets.ECLIPTIC, -comets.ECLIPTIC]
    assert all(claim.holds for claim in comets.group_claims(fitted(known, LABELS), KINDS))
    turned = [known[2], known[0], known[1]]
    assert not any(claim.holds for claim in comets.group_claims(fitted(turned, LABELS, 2), KINDS))
    rows = comets.table(fitted(known, LABELS), KINDS)
    assert rows[0]["inclination"] == pytest.approx(144) and rows[0]["node"] == pytest.approx(4)
    assert rows[1]["classes"] == "JFc:100"
    assert not comets.score_claims({"mixture": 1.0, "uniform": 0.5})[0].holds


def test_claims_on_polarities_hold_and_fail() -> None:
    poles = [direction(*PUBLISHED[p][:2]) for p in PUBLISHED]
    parts = [np.tile(pole, (3, 1)) for pole in poles]
    right = comets.polarity_claims(fitted(poles, np.repeat([0, 1], 3)), parts)
    wrong = comets.polarity_claims(fitted(poles, np.array([0, 0, 1, 1, 1, 1])), parts)
    assert right[0].holds and not wrong[0].holds


def test_the_figure_shows_both_sides() -> None:
    points = np.concatenate([np.eye(3), -np.eye(3)])
    figure = globes_figure(points, np.arange(6), points)
    shown = [sum(len(found.get_offsets()) for found in panel.collections) for panel in figure.axes]
    assert shown == [3, 3]  # each side has the points that face it
    assert next(text.get_text() for text in figure.legends[0].get_texts()) == "0  (17%)"


def test_missing_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not there"):
        comets.run(Context(comets.NAME, "quick", 0, tmp_path, tmp_path))
