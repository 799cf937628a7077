"""Whatever is wrong with a run is said before a folder is made or a transition drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.storage.draws import check_labels
from support.run_cases import NORTH, draws

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "labels of another length": ({"coords": {"x_dim_0": ["a", "b"]}}, "2 labels, but the axis has length 3"),
    "labels that are none": ({"coords": {"x_dim_0": 3}}, "must be a list of numbers"),
    "labels of all kinds": ({"coords": {"x_dim_0": ["a", None, {}]}}, "must be a list of numbers"),
    "too many names": ({"dims": {"x": ["a", "b"]}}, "names 2 axes, but x has 1"),
    "a name that is taken": ({"dims": {"x": ["draw"]}}, "beside chain and draw"),
    "no dictionary": ({"dims": ["a"]}, "dims must be a dictionary"),
    "no likelihood of one datum": ({"log_likelihood": True}, "needs a `Posterior`"),
    "an interval of letters": ({"checkpoint_every": "abc"}, "checkpoint_every is 'abc'"),
    "no interval": ({"checkpoint_every": float("nan")}, "checkpoint_every is nan"),
    "a negative interval": ({"checkpoint_every": -1}, "checkpoint_every is -1"),
    "a negative count": ({"num_draws": -1}, "num_draws is -1"),
    "a start off the sphere": ({"start": 2 * NORTH}, "is off"),
}


@pytest.mark.parametrize("case", WRONG)
def test_nothing_is_left_behind(tmp_path: Path, case: str) -> None:
    options, text = WRONG[case]
    with pytest.raises(BadInput, match=text):
        draws(checkpoint=tmp_path / "run", store=tmp_path / "draws.zarr", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [3, b"bytes", "", ["a"], True])
@pytest.mark.parametrize("where", ["checkpoint", "store"])
def test_what_is_no_path(where: str, path: Any) -> None:
    with pytest.raises(BadInput, match=f"{where} is .* it must be the path of a folder"):
        draws(**{where: path})


def test_names_that_cannot_be_in_a_tree() -> None:
    with pytest.raises(BadInput, match="'a/b' has a '/' in its name"):
        check_labels({"a/b": (3,)}, None, None)
    with pytest.raises(BadInput, match="names axes of length 3 and 4"):
        check_labels({"a": (3,), "b": (4,)}, {"a": ["axis"], "b": ["axis"]}, None)


def test_labels_that_fit_are_kept_on_disk(tmp_path: Path) -> None:
    tree = draws(store=tmp_path / "s", dims={"x": ["axis"]}, coords={"axis": [10, 20, 30]})
    np.testing.assert_array_equal(tree.posterior["axis"], [10, 20, 30])
