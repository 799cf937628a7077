"""Columns of frames are turned to one side where their sign is arbitrary, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from orthodrome.report.pictures.frames import FRAME_TEXT, frame, one_side
from support.small_draws import unit


def column(concentration: float, signs: bool) -> np.ndarray:
    """Draws of a unit vector around the first axis of R^4, of either sign if `signs`."""
    rng = np.random.default_rng(0)
    mean = np.array([concentration, 0, 0, 0])
    draws = unit(mean + rng.standard_normal((800, 4)))
    return draws * rng.choice([-1.0, 1.0], (800, 1)) if signs else draws


def test_an_arbitrary_sign_is_that_of_the_last_draw() -> None:
    draws = column(10.0, signs=True)
    turned = draws * one_side(draws)[:, None]
    assert np.all(turned[:, 0] * draws[-1, 0] > 0)
    assert abs(abs(turned[:, 0].mean()) - column(10.0, signs=False)[:, 0].mean()) < 1e-12


@pytest.mark.parametrize("concentration", [0.0, 1.5, 10.0])
def test_a_law_that_knows_the_sign_is_left_alone(concentration: float) -> None:
    """Draws on the far side of a wide law belong to its lower tail."""
    draws = column(concentration, signs=False)
    assert concentration == 10.0 or np.any(draws @ draws[-1] < 0), "turning to the last draw would change them"
    assert np.all(one_side(draws) == 1.0)


def test_the_page_says_which_columns_are_turned() -> None:
    draws = np.stack([column(10.0, signs=True), column(1.5, signs=False)], axis=-1)
    values = xarray.DataArray(draws[None], dims=("chain", "draw", "row", "column"), name="frame")
    section = frame(values)
    assert (
        section.text
        == FRAME_TEXT + " Draws of column 0 point to two opposite sides, and are turned to that of the last draw."
    )
    assert frame(values[..., 1:]).text == FRAME_TEXT
    np.testing.assert_allclose(section.data["groups"][1]["mean"], draws[:, :, 1].mean(axis=0))
