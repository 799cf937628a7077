"""Figures from draws of known laws: what is drawn is where it should be; what cannot be drawn is refused by name."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray
from matplotlib.collections import PathCollection

from orthodrome.errors import BadInput
from orthodrome.plots import (
    plot_circle,
    plot_frames,
    plot_ks_distance,
    plot_ladder,
    plot_perplexity,
    plot_posterior,
    plot_ranks,
    plot_rotations,
    plot_simplex,
    plot_sphere,
    plot_torus,
    plot_traces,
)
from orthodrome.plots.drawn import thinned
from orthodrome.plots.spaces.circle import shortest_arc
from orthodrome.plots.spaces.rotation import angles, mean_rotation
from orthodrome.plots.spaces.simplex import CORNERS
from orthodrome.plots.traces import worst

RANDOM = np.random.default_rng(1)


def draws(space: str = "", stats: dict | None = None, coords: dict | None = None, **parameters) -> xarray.DataTree:
    """A tree as `sample` makes it, of given values (chain, draw, ...)."""

    def dataset(values: dict) -> xarray.Dataset:
        named = {
            name: (("chain", "draw", *(f"{name}_{i}" for i in range(np.ndim(v) - 2))), v) for name, v in values.items()
        }
        return xarray.Dataset(named, coords=coords if values is parameters else None)

    tree = xarray.DataTree.from_dict({"posterior": dataset(parameters), "sample_stats": dataset(stats or {})})
    tree.attrs["manifolds"] = json.dumps(dict.fromkeys(parameters, space)) if space else "{}"
    return tree


def unit(*shape: int) -> np.ndarray:
    x = RANDOM.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def rotations(count: int, spread: float) -> np.ndarray:
    """Rotations near one of a quarter turn about z, made by the exponential of small skew matrices."""
    from scipy.spatial.transform import Rotation

    near = Rotation.from_rotvec(spread * RANDOM.normal(size=(count, 3)))
    return (near * Rotation.from_euler("z", 90, degrees=True)).as_matrix().reshape(2, -1, 3, 3)


def drawn_points(figure) -> int:
    """The number of points in all scatter plots of a figure."""
    clouds = [c for axes in figure.axes for c in axes.collections if isinstance(c, PathCollection)]
    return sum(len(c.get_offsets()) for c in clouds)


def test_circle_marks_the_shortest_arc_also_across_zero() -> None:
    angle = 0.3 * RANDOM.normal(size=(2, 4000))  # around angle 0, where 2 pi begins anew
    low, high = shortest_arc(angle.ravel(), 0.9)
    assert high - low == pytest.approx(2 * 1.645 * 0.3, rel=0.06) and np.cos((low + high) / 2) > 0.999
    vectors = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    for tree in (draws(x=angle), draws(x=vectors)):
        lines = plot_circle(tree).axes[0].lines
        assert np.cos(lines[1].get_xdata()[0]) == pytest.approx(1, abs=1e-3)  # the mean direction


def test_sphere_shows_every_draw_on_one_of_two_globes() -> None:
    tree, data = draws(x=unit(2, 300, 3)), unit(40, 3)
    assert drawn_points(plot_sphere(tree)) == 600
    assert drawn_points(plot_sphere(tree, data=data)) == 640
    assert drawn_points(plot_sphere(draws(x=unit(2, 300, 4, 3)))) == 2400  # four copies


def test_torus_is_cut_opposite_to_the_means() -> None:
    angle = np.array([np.pi, 0.0]) + 0.2 * RANDOM.normal(size=(2, 500, 2))
    wrapped = np.angle(np.exp(1j * angle))  # the first angle jumps between -pi and pi
    x = np.stack([np.cos(wrapped), np.sin(wrapped)], axis=-1)
    for tree in (draws(x=wrapped), draws(x=x)):
        figure = plot_torus(tree)
        (cloud,) = (c for axes in figure.axes for c in axes.collections)
        assert np.ptp(cloud.get_offsets(), axis=0).max() < 2  # no cluster is cut in two


def test_simplex_puts_weights_where_they_belong() -> None:
    p = np.zeros((1, 3, 3)) + np.eye(3)
    (cloud,) = plot_simplex(draws(p=p)).axes[0].collections
    np.testing.assert_allclose(cloud.get_offsets(), CORNERS)
    many = RANDOM.dirichlet([1, 1, 1, 9, 9, 9], size=(2, 50))
    named = draws(p=many, coords={"p_0": list("abcdef")})
    assert {"d", "e", "f"} <= {text.get_text() for text in plot_simplex(named).axes[0].texts}
    assert {"a", "b", "f"} <= {text.get_text() for text in plot_simplex(named, components=(0, 1, 5)).axes[0].texts}
    with pytest.raises(BadInput, match="three different numbers from 0 to 5"):
        plot_simplex(named, components=(0, 0, 6))


def test_rotation_measures_angles_from_the_mean() -> None:
    found = rotations(2000, 0.1)
    flat = found.reshape(-1, 3, 3)
    mean = mean_rotation(flat)
    np.testing.assert_allclose(mean, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=0.02)
    assert np.mean(angles(flat, mean) ** 2) == pytest.approx(3 * 0.1**2, rel=0.1)  # a three-dimensional normal
    assert mean_rotation(-flat)[2, 2] < 0  # of determinant -1, the mean is, too
    assert drawn_points(plot_rotations(draws(x=found))) == 3 * 2000


def test_frames_have_a_panel_for_each_column() -> None:
    frames = np.linalg.qr(RANDOM.normal(size=(2, 30, 6, 2)))[0]
    assert [axes.get_ylabel() for axes in plot_frames(draws(x=frames)).axes] == ["column 0", "column 1"]


def test_traces_show_the_numbers_that_agree_least() -> None:
    values = RANDOM.normal(size=(4, 200, 9))
    values[0, :, 7] += 5  # one chain elsewhere
    tree = draws(x=values, y=RANDOM.normal(size=(4, 200)), stats={"lp": values[..., 0]})
    assert "x[7]" in [label for label, _ in worst(tree, None, 2)]
    assert [axes.get_ylabel() for axes in plot_traces(tree, ["lp"]).axes] == ["lp"]
    assert len(plot_traces(tree, most=4).axes) == 4
    with pytest.raises(BadInput, match="no 'z'"):
        plot_ranks(tree, ["z"])


def test_ranks_of_a_chain_elsewhere_leave_the_band() -> None:
    same = RANDOM.normal(size=(4, 2000))
    elsewhere = same + np.array([1.0, 0, 0, 0])[:, None]

    def highest(values: np.ndarray) -> float:
        (panel,) = plot_ranks(draws(x=values)).axes
        return max(patch.get_data().values.max() for patch in panel.patches if hasattr(patch, "get_data"))

    assert highest(same) < 100 + 4 * np.sqrt(95) < highest(elsewhere)


def test_ladder_needs_tempering() -> None:
    shape = (2, 40)
    stats = {
        "swap_rate": RANDOM.uniform(0.3, 0.9, (*shape, 2)),
        "exponent": np.broadcast_to([0.1, 0.3, 1.0], (*shape, 3)),
        "replica_lp": RANDOM.normal(size=(*shape, 3)),
        "walker": RANDOM.integers(0, 3, shape),
        "round_trips": np.broadcast_to(np.arange(40) // 8, shape),
    }
    figure = plot_ladder(draws(x=unit(*shape, 3), stats=stats))
    assert figure.axes[3].lines[0].get_ydata()[-1] == 4
    with pytest.raises(BadInput, match="no ladder"):
        plot_ladder(draws(x=unit(*shape, 3)))


def test_ks_distance_tells_exact_draws_from_others() -> None:
    concentration = np.array([0.5, 2.0, 3.0])
    tree = draws(p=RANDOM.dirichlet(concentration, size=(1, 2000)))

    def largest(law: np.ndarray) -> float:
        return max(np.abs(line.get_ydata()).max() for line in plot_ks_distance(tree, law).axes[0].lines)

    assert largest(concentration) < 2.2 / np.sqrt(2000) < 0.1 < largest(concentration + 1)
    with pytest.raises(BadInput, match="4 weights"):
        plot_ks_distance(tree, np.ones(4))


def test_perplexity_against_seconds() -> None:
    measured = np.array([[np.nan, 900.0, 900.0, 700.0]])
    tree = draws(x=np.zeros((1, 4)), stats={"perplexity": measured})
    tree.attrs |= {"warmup_time": 2.0, "sampling_time": 8.0}
    figure = plot_perplexity({"ours": tree, "theirs": (np.array([1.0, 2.0]), np.array([950.0, 800.0]))})
    ours, theirs = figure.axes[0].lines
    np.testing.assert_allclose(ours.get_xydata(), [[6, 900], [10, 700]])  # where it was measured anew
    assert len(theirs.get_xdata()) == 2
    with pytest.raises(BadInput, match="held_out"):
        plot_perplexity({"none": draws(x=np.zeros((1, 4)))})


@pytest.mark.parametrize(
    ("space", "shape", "panels"),
    [
        ("Sphere", (2,), 1),
        ("Sphere", (3,), 2),
        ("Sphere", (2, 2), 4),
        ("LogRatioSimplex", (4,), 1),
        ("Stiefel", (4, 2), 2),
        ("Euclidean", (3,), 3),
    ],
)
def test_the_manifold_chooses_the_figure(space: str, shape: tuple[int, ...], panels: int) -> None:
    values = np.abs(unit(2, 20, *shape)) if "Simplex" in space else unit(2, 20, *shape)
    assert len(plot_posterior(draws(space, x=values)).axes) == panels


def test_what_cannot_be_drawn_is_refused() -> None:
    two = draws("Sphere", x=unit(2, 20, 3), y=unit(2, 20, 3))
    with pytest.raises(BadInput, match="say which parameter"):
        plot_posterior(two)
    with pytest.raises(BadInput, match="no parameter 'z'; there are x, y"):
        plot_sphere(two, "z")
    with pytest.raises(BadInput, match="unit vectors in R"):
        plot_sphere(draws(x=unit(2, 20, 4)))
    with pytest.raises(BadInput, match="do not say on which manifold"):
        plot_posterior(draws(x=unit(2, 20, 3)))
    with pytest.raises(BadInput, match="give draws"):
        plot_sphere(np.zeros((3, 3)))


def test_clouds_are_bounded() -> None:
    assert len(thinned(np.zeros((100_000, 3)))) == 4000 and len(thinned(np.zeros((7, 3)))) == 7


def test_documents_of_one_topic_have_a_map() -> None:
    """A fit with one topic ended in an error of the map, after all draws were made."""
    from orthodrome.plots.topics import map_figure, positions

    places = positions(np.ones((6, 1)), seed=0)
    assert places.shape == (6, 2) and np.all(np.isfinite(places))
    assert map_figure(np.ones((6, 1)), ["one"]).axes
