"""`align` undoes arbitrary signs, orders and labels, and nothing else."""

import numpy as np
import pytest
import xarray

from orthodrome import BadInput, align


def scrambled(seed=0, chains=2, draws=40):
    """Frames near one, eigenvalues and weights, with columns permuted and turned at random in every draw."""
    rng = np.random.default_rng(seed)
    true = np.linalg.qr(rng.normal(size=(6, 3)))[0]
    values = np.array([5.0, 2.0, -3.0])
    frame = true + 0.02 * rng.normal(size=(chains, draws, 6, 3))
    scale = values + 0.1 * rng.normal(size=(chains, draws, 3))
    kept = frame.copy(), scale.copy()
    for index in np.ndindex(chains, draws):
        order, sign = rng.permutation(3), rng.choice([-1, 1], 3)
        frame[index], scale[index] = frame[index][:, order] * sign, scale[index][order]
    variables = {
        "frame": (("chain", "draw", "node", "column"), frame),
        "scale": (("chain", "draw", "column"), scale),
        "other": (("chain", "draw"), rng.normal(size=(chains, draws))),
    }
    stats = xarray.Dataset({"lp": (("chain", "draw"), rng.normal(size=(chains, draws)))})
    return xarray.DataTree.from_dict({"posterior": xarray.Dataset(variables), "sample_stats": stats}), kept


def test_signs_and_order():
    tree, (frame, scale) = scrambled()
    before = tree["posterior"]["frame"].values.copy()
    found = align(tree, "column", by="frame", signs=("frame",), sort_by="scale")["posterior"]
    falling = np.argsort(-scale.mean((0, 1)))
    np.testing.assert_allclose(found["scale"], scale[..., falling])
    ratio = np.sum(found["frame"].values * frame[..., falling], axis=-2)
    assert np.all(np.abs(ratio) > 0.7)
    assert np.all(np.sign(ratio) == np.sign(ratio[:1, :1]))  # one sign for each column, over all draws
    np.testing.assert_array_equal(found["other"], tree["posterior"]["other"])
    np.testing.assert_array_equal(tree["posterior"]["frame"], before)  # the draws given are left alone


def test_signs_alone_and_labels_by_a_function():
    tree, (_, scale) = scrambled(1)
    signs = align(tree, "column", by="frame", signs=("frame",), permute=False)["posterior"]
    np.testing.assert_array_equal(signs["scale"], tree["posterior"]["scale"])
    near = lambda one: np.eye(3)[np.argsort(np.argsort(-one["scale"]))]
    labels = align(tree, "column", by=near, sort_by="scale")["posterior"]
    np.testing.assert_allclose(labels["scale"], -np.sort(-scale))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"axis": "component", "by": "frame"}, "column"),
        ({"axis": "column", "by": "other"}, "other"),
        ({"axis": "column", "by": "frame", "sort_by": "frame"}, "one number"),
    ],
)
def test_what_cannot_be_aligned_is_refused(options, words):
    axis = options.pop("axis")
    with pytest.raises(BadInput, match=words):
        align(scrambled()[0], axis, **options)
