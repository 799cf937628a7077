"""Directional data: each family's likelihood is the law written out, the circle's posteriors are those of quadrature,
calibration by simulation, planted mixtures, labels, pictures, and data that is none.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.models.directional import Directional
from orthodrome.models.directional.fisher import MixtureFamily, aligned
from orthodrome.models.directional.model import FAMILIES
from orthodrome.models.directional.quadratic import basis
from support import exact_draws as exact

CIRCLE = np.random.default_rng(3).vonmises(0.5, 2.0, 25)
"""Angles to fit on the circle, where posteriors can be integrated."""


def circle(angles: Any) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def densities(law: str, p: dict[str, np.ndarray], points: np.ndarray) -> np.ndarray:
    """exp(rows) of a family at rows of unit vectors."""
    with jax.enable_x64(True):
        parameters = {name: jnp.asarray(value, float) for name, value in p.items()}
        rows = jax.jit(FAMILIES[law].rows)(parameters, jnp.asarray(points))
    return np.exp(np.asarray(rows))


SHAPE = np.random.default_rng(0).normal(size=5) * 4
SPHERE_LAWS: dict[str, tuple[dict[str, Any], Any]] = {
    "von-mises-fisher": ({"mean": [0.6, 0, 0.8], "concentration": 7.0}, lambda x: 7 * x @ np.array([0.6, 0, 0.8])),
    "bingham": ({"shape": SHAPE}, lambda x: np.einsum("ni,nj,kij,k->n", x, x, basis(3), SHAPE)),
    "bingham-von-mises-fisher": (
        {"shape": SHAPE, "vector": [3.0, -2, 1]},
        lambda x: np.einsum("ni,nj,kij,k->n", x, x, basis(3), SHAPE) + x @ np.array([3.0, -2, 1]),
    ),
}


def some_slow(laws: Any, fast: tuple[str, ...]) -> list[Any]:
    return [pytest.param(law, marks=[] if law in fast else [pytest.mark.slow]) for law in laws]


@pytest.mark.parametrize("law", some_slow(SPHERE_LAWS, ("bingham-von-mises-fisher",)))
def test_densities_on_the_sphere_integrate_to_one(law: str) -> None:
    """Normalised, and with the exponent of the formula."""
    height, weight = np.polynomial.legendre.leggauss(80)
    turn = np.linspace(0, 2 * np.pi, 160, endpoint=False)
    ring = np.sqrt(1 - height**2)[:, None]
    x = np.stack(np.broadcast_arrays(ring * np.cos(turn), ring * np.sin(turn), height[:, None]), axis=-1).reshape(-1, 3)
    p, exponent = SPHERE_LAWS[law]
    found = densities(law, p, x)
    assert np.sum(found.reshape(80, 160) * weight[:, None]) * 2 * np.pi / 160 == pytest.approx(1, abs=1e-10)
    apart = np.log(found) - exponent(x)
    np.testing.assert_allclose(apart, apart[0], atol=1e-10)


@pytest.mark.parametrize("law", some_slow(["sine", "cosine"], ("cosine",)))
def test_densities_on_the_torus_integrate_to_one(law: str) -> None:
    angle = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    u, v = (grid.ravel() for grid in np.meshgrid(angle, angle))
    p = {"mean": circle(np.array([1.0, -2.0])), "concentration": [3.0, 5.0], "coupling": -2.5}
    found = densities(law, p, circle(np.stack([u, v], axis=1)))
    assert found.sum() * (2 * np.pi / 90) ** 2 == pytest.approx(1, abs=1e-10)
    coupled = np.sin(u - 1) * np.sin(v + 2) if law == "sine" else np.cos(u - 1 - v - 2)
    apart = np.log(found) - 3 * np.cos(u - 1) - 5 * np.cos(v + 2) + 2.5 * coupled
    np.testing.assert_allclose(apart, apart[0], atol=1e-10)


@pytest.mark.parametrize("law", some_slow(FAMILIES, ("sine",)))
def test_the_likelihood_is_the_sum_over_rows(law: str) -> None:
    """Sufficient statistics lose nothing."""
    rng, family = np.random.default_rng(5), FAMILIES[law]
    x = circle(rng.normal(size=(9, 2))) if law in ("sine", "cosine") else exact.uniform_directions(rng, 9, 4)
    with jax.enable_x64(True):
        p = {name: jnp.asarray(value) for name, value in family.start(x, rng, 2).items()}
        whole = jax.jit(family.loglikelihood)(p, jax.tree.map(jnp.asarray, family.statistics(x)))
        np.testing.assert_allclose(whole, jax.jit(family.rows)(p, jnp.asarray(x)).sum(), rtol=1e-10)


def test_a_huge_concentration_keeps_its_digits_in_float32() -> None:
    """At a concentration of 1e6 the log likelihood of 50 rows, differences included, is right to 1e-3."""
    x = exact.von_mises_fisher(np.random.default_rng(0), 50, 3, 1e6)
    family = FAMILIES["von-mises-fisher"]
    statistics = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), family.statistics(x))
    mean = np.array([1, 5e-4, -3e-4]) / np.linalg.norm([1, 5e-4, -3e-4])
    found = family.loglikelihood(
        {"mean": jnp.asarray(mean, jnp.float32), "concentration": jnp.float32(1e6)}, statistics
    )
    mean = np.asarray(jnp.asarray(mean, jnp.float32), float)
    mean /= np.linalg.norm(mean)
    exponent = -5e5 * np.sum((x - mean) ** 2)
    assert float(found) == pytest.approx(exponent + 50 * np.log(1e6 / (2 * np.pi)), rel=1e-3)


@pytest.mark.parametrize(
    ("law", "data", "words"),
    [
        (
            "von-mises-fisher",
            [[1, 0, 0], [0, 1.2, 0], [0, 0, 1]],
            r"row 1 has the length 1.2: off the unit sphere by 2.0e-01",
        ),
        ("von-mises-fisher", [[1, 0], [np.nan, 0]], "row 1 contains nan"),
        ("bingham", [0.1, 258.6, 3.0], r"row 1 has the angle 258.6, beyond 4 pi"),
        ("bingham", [[0.6, 0.8]] * 3, "all 3 rows are the same"),
        ("bingham", [[0.6, 0.8]], "all 1 rows are the same"),
        ("sine", [[0.1, 0.2, 0.3]] * 2, r"\(2, 3\); give two angles per row"),
        ("cosine", [[0.1, 2.0], [0.1, 3.0]], "same direction"),
        ("von-mises-fisher", np.zeros((0, 3)), "no row"),
        ("von-mises-fisher", [["a", "b"]], "not a table of numbers"),
        ("von-mises-fisher", np.ones((3, 1)), "unit vectors in rows"),
    ],
)
def test_bad_data(law: str, data: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Directional(law).fit(data)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"law": "kent"}, "law is 'kent'; it must be one of von-mises-fisher"),
        ({"method": "gibbs"}, "nuts, hmc"),
        ({"scale": 0.0}, "scale is 0.0; it must be a positive number"),
        ({"dtype": "float16"}, "float32, float64"),
        ({"law": "mixture", "components": 26}, r"components is 26; .* to 25 \(rows\)"),
        ({"law": "mixture", "components": 1}, "one is a law of its own"),
    ],
)
def test_bad_settings(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Directional(**settings).fit(CIRCLE)


def test_labels_are_aligned() -> None:
    """Two components whose labels were switched in some draws."""
    import xarray

    rng = np.random.default_rng(0)
    mean, kappa, weight = circle(np.array([0.0, 2.0])), np.array([10.0, 4.0]), np.array([0.3, 0.7])
    arrays = {"mean": mean, "concentration": kappa, "weight": weight}
    orders = [rng.permutation(2) for _ in range(12)]
    drawn = {name: np.stack([a[o] for o in orders]).reshape(3, 4, *a.shape) for name, a in arrays.items()}
    names = {"mean": ("component", "axis"), "concentration": ("component",), "weight": ("component",)}
    posterior = xarray.Dataset({n: (("chain", "draw", *names[n]), drawn[n].astype(np.float32)) for n in arrays})
    stats = xarray.Dataset({"lp": (("chain", "draw"), rng.normal(size=(3, 4)))})
    tree = xarray.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
    found = aligned(tree, circle(rng.normal(size=30)), MixtureFamily())["posterior"]
    np.testing.assert_allclose(found["weight"][..., 0], 0.7, rtol=1e-6)
    np.testing.assert_allclose(found["concentration"][..., 0], 4, rtol=1e-6)
    np.testing.assert_allclose(found["mean"][..., 1, :], np.broadcast_to(mean[0], (3, 4, 2)), atol=1e-6)


@pytest.fixture(scope="module")
def fitted() -> Directional:
    model = Directional(scale=10.0, method="hmc", num_warmup=300, num_draws=1000, random_state=1)
    return model.fit(CIRCLE)


def grid_posterior() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean angle and concentration on a grid, with the probability of every cell."""
    mean, kappa = np.linspace(-np.pi, np.pi, 400, endpoint=False), np.linspace(0.005, 12, 1200)
    total = np.cos(CIRCLE[:, None] - mean).sum(0)
    logs = kappa * total[:, None] - len(CIRCLE) * (np.log(2 * np.pi * ive(0, kappa)) + kappa) - kappa / 10
    mass = np.exp(logs - logs.max())
    return mean, kappa, mass / mass.sum()


def test_the_posterior_on_the_circle_is_that_of_quadrature(fitted: Directional) -> None:
    """Quantiles of the concentration and of the mean angle, to 4 standard errors of some 1500 effective draws."""
    mean, kappa, mass = grid_posterior()
    posterior = fitted.draws_["posterior"]
    drawn = {"kappa": np.asarray(posterior["concentration"]).ravel()}
    drawn["mean"] = np.arctan2(*np.asarray(posterior["mean"]).reshape(-1, 2).T[::-1])
    for name, grid, share in (("kappa", kappa, mass.sum(0)), ("mean", mean, mass.sum(1))):
        for level in (0.1, 0.25, 0.5, 0.75, 0.9):
            at = grid[np.searchsorted(np.cumsum(share), level)]
            assert np.mean(drawn[name] < at) == pytest.approx(level, abs=0.05), name
    assert fitted.estimate_["concentration"] == pytest.approx(kappa @ mass.sum(0), rel=0.03)


def test_the_predictive_density_summary_and_picture(fitted: Directional) -> None:
    from orthodrome.plots.directional import plot_directional

    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    found = np.exp(fitted.score_samples(angle))
    assert found.sum() * 2 * np.pi / 60 == pytest.approx(1, abs=1e-5)
    mean, kappa, mass = grid_posterior()
    at = np.exp(kappa * (np.cos(angle[5] - mean)[:, None] - 1)) / (2 * np.pi * ive(0, kappa))
    assert found[5] == pytest.approx(np.sum(at * mass), rel=0.04)
    assert fitted.score(angle) == pytest.approx(np.log(found).mean())
    assert "concentration" in repr(fitted.summary())
    assert len(plot_directional(fitted).axes) == 1
    with pytest.raises(BadInput, match="only a mixture"):
        fitted.predict_proba(CIRCLE)


# ---- longer: calibration of every family by simulation, planted mixtures, pictures of every kind ----

GRID = 200


def draw_circle(key: jax.Array, logs: jax.Array, number: int) -> jax.Array:
    """Angles from log densities on a grid over the circle, uniform within its cells."""
    cell, within = jax.random.split(key)
    chosen = jax.random.categorical(cell, logs, shape=(number,))
    return (chosen.astype(logs.dtype) + jax.random.uniform(within, (number,), logs.dtype)) * (2 * np.pi / logs.size)


MIDDLE = (np.arange(GRID, dtype=np.float32) + np.float32(0.5)) * np.float32(2 * np.pi / GRID)


def simulate(law: str, number: int, scale: float) -> tuple[Any, Any]:
    """(draw from the prior, draw data) on the circle or the torus, by grids: nothing of the package."""

    def unit(angle: jax.Array) -> jax.Array:
        return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)

    def prior(key: jax.Array) -> dict[str, jax.Array]:
        keys = jax.random.split(key, 3)
        copies = {"von-mises-fisher": (), "mixture": (2,), "sine": (2,), "cosine": (2,)}.get(law)
        if copies is None:
            p = {"shape": scale * jax.random.normal(keys[0], (2,))}
            return p if law == "bingham" else p | {"vector": scale * jax.random.normal(keys[1], (2,))}
        p = {"mean": unit(2 * np.pi * jax.random.uniform(keys[0], copies))}
        p["concentration"] = scale * jax.random.exponential(keys[1], copies)
        if law == "mixture":
            p["weight"] = jax.random.dirichlet(keys[2], jnp.full(2, 2.0))
        if law in ("sine", "cosine"):
            p["coupling"] = scale * jax.random.normal(keys[2])
        return p

    def data(key: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
        x = unit(MIDDLE)
        if law == "von-mises-fisher":
            return unit(draw_circle(key, p["concentration"] * (x @ p["mean"]), number))
        if law == "mixture":
            which, where = jax.random.split(key)
            label = jax.random.categorical(which, jnp.log(p["weight"]), shape=(number,))
            logs = p["concentration"][:, None] * (p["mean"] @ x.T)
            each = jax.vmap(lambda k, row: draw_circle(k, row, 1)[0])
            return unit(each(jax.random.split(where, number), logs[label]))
        if law in ("sine", "cosine"):
            angle = jnp.arctan2(p["mean"][:, 1], p["mean"][:, 0])
            u, v = jnp.meshgrid(MIDDLE - angle[0], MIDDLE - angle[1], indexing="ij")
            k = p["concentration"]
            coupled = jnp.sin(u) * jnp.sin(v) if law == "sine" else jnp.cos(u - v)
            logs = k[0] * jnp.cos(u) + k[1] * jnp.cos(v) + p["coupling"] * coupled
            first, second = jax.random.split(key)
            a = draw_circle(first, jax.nn.logsumexp(logs, axis=1), number)
            rows = logs[(a * (GRID / (2 * np.pi))).astype(jnp.int32)]
            b = jax.vmap(lambda k, row: draw_circle(k, row, 1)[0])(jax.random.split(second, number), rows)
            return unit(jnp.stack([a, b], axis=1))
        a = p["shape"] / np.sqrt(2)  # x'Ax = a0 sin 2t + a1 cos 2t on the circle
        logs = a[0] * jnp.sin(2 * MIDDLE) + a[1] * jnp.cos(2 * MIDDLE) + x @ p.get("vector", jnp.zeros(2))
        return unit(draw_circle(key, logs, number))

    return prior, data


CALIBRATED = {
    # number of rows, scale of the prior, step, steps of a trajectory, simulations
    "von-mises-fisher": (12, 4.0, 0.15, 12, 800),
    "bingham": (20, 3.0, 0.5, 8, 500),
    "bingham-von-mises-fisher": (20, 2.0, 0.35, 12, 400),
    "sine": (15, 2.0, 0.2, 10, 400),
    "cosine": (15, 2.0, 0.2, 10, 400),
    "mixture": (20, 4.0, 0.12, 16, 600),
}


def calibration(law: str, scale_of_model: float = 1.0) -> Any:
    from orthodrome.checks import simulation_based_calibration
    from orthodrome.gradients.full import FullGradient
    from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
    from orthodrome.targets import Target

    number, scale, step, num_steps, simulations = CALIBRATED[law]
    prior, data = simulate(law, number, scale)
    family = FAMILIES[law]

    def make(x: jax.Array) -> GeodesicHMC:
        held = {"statistics": family.statistics(x), "scale": scale * scale_of_model, "weight": 2.0}
        held = jax.tree.map(lambda a: jnp.asarray(a, x.dtype), held)
        return GeodesicHMC(
            FullGradient(Target(family.manifold(), family.logdensity, held)), step, num_steps, jitter=0.5
        )

    settings: dict[str, Any] = {"num_simulations": simulations, "num_draws": 31, "thin": 8, "num_bins": 8}
    return simulation_based_calibration(prior, data, make, num_warmup=60, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("law", list(CALIBRATED))
def test_calibration_by_simulation(law: str) -> None:
    """Ranks of the truth are uniform in every coordinate (level 0.01 shared by all of them)."""
    found = calibration(law)
    assert found.ok, str(found)


@pytest.mark.slow
def test_a_wrong_prior_is_caught() -> None:
    """The control: a model that thinks concentrations are twice what they are."""
    assert not calibration("von-mises-fisher", 2.0).ok


def planted(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    label = np.repeat([0, 1, 2], [80, 50, 30])
    parts = [exact.von_mises_fisher(rng, n, 3, k) for n, k in ((80, 12.0), (50, 30.0), (30, 60.0))]
    return np.concatenate([np.roll(part, i, axis=1) for i, part in enumerate(parts)]), label


@pytest.mark.slow
def test_a_planted_mixture_is_found(tmp_path: Any) -> None:
    """Means along the three axes, 160 rows: directions within 4 degrees, intervals around the truth, rows assigned."""
    from orthodrome.plots.directional import plot_directional

    x, label = planted(np.random.default_rng(0))
    model = Directional("mixture", components=3, num_warmup=400, num_draws=500, random_state=2).fit(x)
    cosines = np.sum(model.estimate_["mean"] * np.eye(3), axis=1)
    assert np.all(np.degrees(np.arccos(cosines)) < 4)
    posterior = model.draws_["posterior"]
    for name, truth in (("concentration", (12, 30, 60)), ("weight", (0.5, 0.3125, 0.1875))):
        low, high = np.quantile(np.asarray(posterior[name]), (0.001, 0.999), axis=(0, 1))
        assert np.all((low < truth) & (truth < high)), name
    assert np.mean(model.predict_proba(x).argmax(1) == label) > 0.97
    assert model.summary()["mean"].attrs["rhat"] < 1.02
    assert len(plot_directional(model).axes) == 2


@pytest.mark.slow
def test_axes_and_angles_of_known_laws() -> None:
    """Bingham with known axes, in float64, and the cosine model: intervals around the truth, and pictures."""
    from orthodrome.plots.directional import plot_directional

    rng = np.random.default_rng(1)
    x = exact.bingham_von_mises_fisher(rng, 300, np.array([4.0, 0.0, -4.0]), 0.0)
    model = Directional("bingham", num_warmup=300, num_draws=400, dtype="float64").fit(x)
    low, high = np.quantile(np.asarray(model.draws_["posterior"]["eigenvalues"]), (0.001, 0.999), axis=(0, 1))
    assert np.all((low < [4, 0, -4]) & (high > [4, 0, -4])) and np.all(high - low < 4)
    assert np.all(np.abs(np.diag(model.estimate_["axes"])) > 0.97)
    assert np.asarray(model.draws_["posterior"]["matrix"]).dtype == np.float64
    assert len(plot_directional(model).axes) == 2
    _, data = simulate("cosine", 250, 1.0)
    p = {"mean": jnp.asarray(circle(np.array([1.0, -2.0]))), "concentration": jnp.asarray([2.0, 4.0])}
    rows = np.asarray(data(jax.random.key(0), p | {"coupling": jnp.asarray(1.5)}))
    torus = Directional("cosine", num_warmup=300, num_draws=400).fit(np.arctan2(rows[..., 1], rows[..., 0]))
    posterior = torus.draws_["posterior"]
    for name, truth in (("mean_angle", (1, -2)), ("concentration", (2, 4)), ("coupling", 1.5)):
        low, high = np.quantile(np.asarray(posterior[name]), (0.001, 0.999), axis=(0, 1))
        assert np.all((low < truth) & (truth < high)), name
    assert len(plot_directional(torus).axes) == 1


@pytest.mark.slow
def test_a_prior_that_is_too_tight_is_told() -> None:
    x = exact.von_mises_fisher(np.random.default_rng(0), 200, 3, 400.0)
    with pytest.warns(OrthodromeWarning, match="raise `scale`"):
        Directional(scale=20.0, num_warmup=200, num_draws=50).fit(x)
