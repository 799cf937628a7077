"""`summary` on spaces where a mean of numbers is not the mean: rotations of both orientations, axes; and labels."""

import json

import numpy as np
import pytest
import xarray

from orthodrome import Directional, PairedComparison, diagnose, summary


def made_up(kind, values, dims=(), coords=None):
    dims = ("chain", "draw", *(dims or [f"d{i}" for i in range(values.ndim - 2)]))
    tree = xarray.DataTree.from_dict(
        {
            "posterior": xarray.Dataset({"x": (dims, values)}, coords=coords or {}),
            "sample_stats": xarray.Dataset({"lp": (("chain", "draw"), np.zeros(values.shape[:2]))}),
        }
    )
    tree.attrs["manifolds"] = json.dumps({"x": kind})
    return tree


def near(rng, center, spread):
    """Orthogonal matrices about one, with its determinant."""
    u, _, vt = np.linalg.svd(center + spread * rng.normal(size=(2, 2000, 3, 3)))
    u[..., -1] *= (np.linalg.det(u @ vt) * np.linalg.det(center))[..., None]
    return u @ vt


def test_copies_of_opposite_determinants():
    """The orientation of the first copy used to be forced on all; of draws spread wide the mean was a rotation."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    mirror = turn * np.array([1, 1, -1])
    for spread in (0.1, 1.2):
        draws = np.stack([near(rng, turn, spread), near(rng, mirror, spread)], axis=2)
        found = summary(made_up("Rotation", draws))["x"]
        np.testing.assert_allclose(np.linalg.det(found["mean_rotation"]), [1, -1])
        np.testing.assert_allclose(found["mean_rotation"], [turn, mirror], atol=0.15)
        assert np.all(found["resultant_length"] > 0)


def test_axes_whose_signs_say_nothing():
    """Column by column the leading eigenvector, orthonormal together; element by element they average to nothing."""
    rng = np.random.default_rng(1)
    center = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    axes = near(rng, center, 0.1) * rng.choice([-1, 1], size=(2, 2000, 1, 3))
    tree = made_up("Axes", axes, ("axis", "rank"))
    found = summary(tree)["x"]
    mean = found["mean_axes"].values
    np.testing.assert_allclose(mean.T @ mean, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(mean * center, axis=0)), 1, atol=1e-3)
    assert found["mean_squared_cosine"].dims == ("rank",) and np.all(found["mean_squared_cosine"] > 0.9)
    assert found.attrs["rhat"] < 1.01
    assert diagnose(tree).variables["x"]["rhat_invariant"] < 1.01


@pytest.mark.slow
def test_axes_of_a_fit():
    """Lengths of columns used to be .81 to .93, "on Euclidean"."""
    x = np.random.default_rng(2).normal(size=(60, 3)) * [1.5, 1.0, 0.7]
    model = Directional("bingham", num_chains=2, num_warmup=150, num_draws=150)
    model.fit(x / np.linalg.norm(x, axis=1, keepdims=True))
    found = model.summary()["axes"]
    assert found.attrs["manifold"] == "Axes" and "axes on Axes" in repr(model.summary())
    for axes in (found["mean_axes"].values, model.estimate_["axes"]):
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-5)
    # draws_ hold no Euclidean leaf `shape` any more
    assert "shape" not in json.loads(model.draws_.attrs["manifolds"])


@pytest.mark.parametrize("kind, row", [("Euclidean", r"\[Anna\]"), ("Sphere", "Anna"), ("Stiefel", "Anna")])
def test_labels_are_kept_in_the_tables(kind, row):
    rng = np.random.default_rng(3)
    names = ["Anna", "Bert", "Clara", "a very long name"]
    x = np.linalg.qr(rng.normal(size=(2, 50, 4, 2)))[0]
    values = x if kind == "Stiefel" else x[..., 0]
    dims = ("player", "column") if kind == "Stiefel" else ("player",)
    text = repr(summary(made_up(kind, values, dims, {"player": names})))
    with pytest.raises(AssertionError, match=row):
        raise AssertionError(text)
    assert "a very long name" in text


@pytest.mark.slow
def test_labels_of_players_in_a_fit():
    table = [("Anna", "Bert"), ("Anna", "Clara"), ("Clara", "Bert")]
    model = PairedComparison(num_chains=2, num_warmup=50, num_draws=50).fit(table)
    text = repr(model.summary())
    assert "[Anna]" in text and "[Clara]" in text and "[0]" not in text
