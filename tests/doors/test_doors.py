"""Bad input: each case must name the leaf and the remedy, and must not run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import doors
from orthodrome.core.pytree import pytree
from orthodrome.errors import BadInput, NotOnManifold, OrthodromeWarning, Unsupported
from orthodrome.gradients import FullGradient
from orthodrome.linear import LinearStep, Triangular
from orthodrome.manifolds import Euclidean, LevelSet, LogRatioSimplex, Product, Simplex, Sphere
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.targets import Posterior, Target
from support.quick import slow

NORTH = np.array([1.0, 0.0, 0.0], np.float32)
PAIR = Product({"topics": Sphere(), "scale": Euclidean()})
START = {"topics": NORTH, "scale": np.zeros(2, np.float32)}


def flat(x: Any) -> Any:
    return jnp.sum(jnp.zeros(())) + sum(jnp.sum(leaf) for leaf in jax.tree.leaves(x))


def hmc(manifold: Any, logdensity: Any = flat, step_size: Any = 0.1, **options: Any) -> GeodesicHMC:
    return GeodesicHMC(FullGradient(Target(manifold, logdensity)), step_size, 2, **options)


def refuse(match: str, sampler: Any, start: Any, error: type[Exception] = BadInput, **options: Any) -> None:
    settings = {"seed": 0, "num_chains": 2, "num_warmup": 0, "num_draws": 2, "progress": False} | options
    with pytest.raises(error, match=match):
        sample(sampler, start, **settings)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"num_chains": 0}, "num_chains is 0; it must be at least 1"),
        ({"num_draws": 0}, "num_draws is 0; it must be at least 1"),
        ({"num_warmup": -1}, "num_warmup is -1"),
        ({"thin": 0}, "thin is 0"),
        ({"num_draws": 2.5}, "num_draws must be a whole number, not 2.5"),
        ({"seed": -3}, "seed is -3"),
        ({"seed": 2**40}, "below 2\\*\\*32"),
    ],
)
def test_counts(options: dict[str, Any], match: str) -> None:
    refuse(match, hmc(Sphere()), NORTH, **options)


def test_start_off_the_manifold_names_leaf_amount_and_remedy() -> None:
    off = {"topics": NORTH * 1.03, "scale": START["scale"]}
    text = r"`start\['topics'\]` is off the Sphere by 3e-02 \(tolerance 1e-05\); pass `manifold.retract\(start\)`"
    refuse(text, hmc(PAIR), off, NotOnManifold)
    refuse(r"`start\[1\]` is off the Sphere by 5e-01", hmc(Sphere()), [NORTH, NORTH * 1.5], NotOnManifold)
    refuse(r"pass `start / start.sum\(\)`", hmc(Simplex()), np.full(3, 0.4, np.float32), NotOnManifold)


@pytest.mark.parametrize(
    ("start", "match"),
    [
        ({"topics": NORTH}, r"`start` lacks \['scale'\]"),
        (START | {"extra": NORTH}, r"the manifold lacks \['extra'\]"),
        (NORTH, r"`start` lacks \['scale'\], \['topics'\]"),
        ([START], "list of 1 positions for 2 chains"),
        (
            [START, START | {"scale": np.zeros(3, np.float32)}],
            r"`start\[1\]\['scale'\]` is float32\[3\], but `start\[0\]",
        ),
        (
            START | {"scale": np.zeros(2, np.float16)},
            r"`start\['scale'\]` is float16; samplers need float32 or float64",
        ),
        (START | {"topics": np.array([1, 0, 0])}, r"`start\['topics'\]` is int64"),
        (START | {"topics": np.float32(1.0)}, r"`start\['topics'\]` has the shape \(\), but one point of Sphere"),
        (START | {"scale": np.array([0, np.nan], np.float32)}, r"`start\['scale'\]` is nan at \(1,\)"),
    ],
)
def test_starts_that_do_not_fit(start: Any, match: str) -> None:
    refuse(match, hmc(PAIR), start)


def test_a_tree_on_one_manifold() -> None:
    refuse("the manifold is one Sphere; give every leaf its manifold", hmc(Sphere()), {"a": NORTH})


@pytest.mark.parametrize(
    ("step_size", "match"),
    [
        (0.0, "`step_size` is 0.0; a step size is a finite number above 0"),
        (-1.0, "`step_size` is -1.0"),
        (np.nan, "`step_size` is nan"),
        ({"topics": 0.1, "scale": -0.1}, r"`step_size\['scale'\]` is -0.1"),
        ({"topics": 0.1}, r"`step_size` has the leaves \['topics'\], but the position has \['scale'\], \['topics'\]"),
        (
            {"topics": np.ones(3), "scale": 0.1},
            r"`step_size\['topics'\]` is of the shape \(3,\), but .* lives on Sphere, which is cur",
        ),
        (
            {"topics": 0.1, "scale": np.ones(3)},
            r"`step_size\['scale'\]` has the shape \(3,\), but `start\['scale'\]` has \(2,\)",
        ),
        ({"topics": LinearStep(0.1, Triangular(np.eye(3))), "scale": 0.1}, "is a linear map, but"),
    ],
)
def test_steps(step_size: Any, match: str) -> None:
    refuse(match, hmc(PAIR, step_size=step_size), START)


def test_steps_per_element_of_a_flat_leaf_pass() -> None:
    doors.check_sampler(
        hmc(PAIR, step_size={"topics": 0.1, "scale": np.ones(2)}), jax.tree.map(lambda a: a[None], START)
    )


def test_number_of_steps() -> None:
    refuse("num_steps is 0; it must be a whole number", GeodesicHMC(hmc(Sphere()).gradient, 0.1, 0), NORTH)


def nan_density(x: Any) -> Any:
    return jnp.log(x[0] - 2)


def infinite_gradient(x: Any) -> Any:
    return jnp.sum(jnp.sqrt(jnp.abs(x)))


def vector_density(x: Any) -> Any:
    return x * 2


def test_density_that_is_not_finite_at_the_start() -> None:
    refuse("the log density is nan at `start`; start where it is finite", hmc(Sphere(), nan_density), NORTH)
    refuse(r"the gradient of the log density is not finite at `start`", hmc(Sphere(), infinite_gradient), NORTH)


def test_density_that_is_not_a_number() -> None:
    refuse(r"`logdensity` returns float32\[3\]; .* sum the terms", hmc(Sphere(), vector_density), NORTH)
    refuse("`logdensity` returns int32", hmc(Sphere(), lambda x: jnp.zeros((), jnp.int32)), NORTH)
    posterior = Posterior(Sphere(), lambda x: jnp.sum(x), lambda x, y: x * y, np.ones((4, 3), np.float32))
    refuse(r"`loglikelihood` returns float32\[3\]", GeodesicHMC(FullGradient(posterior), 0.1, 2), NORTH)
    uneven = Posterior(Sphere(), jnp.sum, lambda x, d: jnp.sum(x), {"a": np.ones(3), "b": np.ones(4)})
    refuse("must share their first axis", GeodesicHMC(FullGradient(uneven), 0.1, 2), NORTH)


def large_density(x: Any) -> Any:
    return 1e7 + jnp.sum(x)


def test_energies_too_large_for_float32(x64: None) -> None:
    with pytest.warns(OrthodromeWarning, match=r"1.0e\+07 at the start, which float32 resolves to 1.2 nats"):
        sample(hmc(Sphere(), large_density), NORTH, seed=0, num_chains=1, num_warmup=0, num_draws=1, progress=False)
    doors.warn_coarse_energy(np.array([1e7]), np.float64)  # warnings are errors here: float64 resolves it


@pytree
class FlatOnly(GeodesicHMC):
    """A sampler with an opinion about spaces."""

    def supports(self, manifold: Any) -> str | None:
        return None if manifold.flat else "it needs a flat space; use GeodesicHMC"


def test_a_sampler_on_a_space_it_does_not_work_on() -> None:
    sampler = FlatOnly(hmc(Sphere()).gradient, 0.1, 2)
    refuse("FlatOnly does not work on Sphere: it needs a flat space; use GeodesicHMC", sampler, NORTH, Unsupported)


@pytree
class Batches(FullGradient):
    """An estimator with a batch size."""

    batch_size: int = 10


def test_a_batch_larger_than_the_data() -> None:
    posterior = Posterior(Sphere(), jnp.sum, lambda x, y: jnp.sum(x * y), np.ones((4, 3), np.float32))
    refuse("batch_size is 10, but the data has 4 rows", GeodesicHMC(Batches(posterior), 0.1, 2), NORTH)


def cone(x: Any) -> Any:
    return jnp.atleast_1d(x[0] ** 2 + x[1] ** 2 - x[2] ** 2)


def test_a_level_set_whose_projection_fails() -> None:
    """The apex of a cone, where the constraint's gradient vanishes."""
    refuse("projection on the level set fails at `start`", hmc(LevelSet(cone)), np.zeros(3, np.float32))


def test_nothing_is_left_behind_by_a_refused_run(tmp_path: Path) -> None:
    refuse("off the Sphere", hmc(Sphere()), NORTH * 2, NotOnManifold, checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("concentration, warned", [(0.3, True), (0.5, False), slow(2.0, False)])
def test_a_pole_at_the_wall_of_a_simplex_is_seen(concentration: float, warned: bool) -> None:
    def logdensity(p: Any) -> Any:
        return (concentration - 1) * jnp.log(p[0]) + jnp.log(p[1])

    sampler = GeodesicHMC(FullGradient(Target(Simplex(), logdensity)), 0.1, 2)
    numbers = {"seed": 0, "num_chains": 1, "num_warmup": 0, "num_draws": 2, "progress": False}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", OrthodromeWarning)
        sample(sampler, jnp.ones(3) / 3, **numbers)
    told = [str(w.message) for w in seen if "LogRatioSimplex" in str(w.message)]
    assert bool(told) == warned
    assert not told or "start[..., 0]" in told[0]


def test_weights_that_the_log_ratio_chart_would_mend_are_refused() -> None:
    sampler = GeodesicHMC(FullGradient(Target(LogRatioSimplex(), lambda p: jnp.sum(jnp.log(p)))), 0.1, 2)
    with pytest.raises(NotOnManifold, match="LogRatioSimplex by 6e-02"):
        sample(sampler, jnp.array([0.5, 0.3, 0.1]), seed=0, num_warmup=0, num_draws=2, progress=False)
