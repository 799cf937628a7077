"""The likeliest first mistakes, each told by what to write instead."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import SAM, SGGMC, Directional, GeodesicHMC, GeodesicNUTS, Minibatch, Posterior, Target, sample
from orthodrome.densities import HyperDirichlet
from orthodrome.errors import BadInput, NotOnManifold
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Box, Euclidean, LogPositive, Product, Simplex, Sphere

NORTH = np.array([1.0, 0.0, 0.0], np.float32)
RUN: dict[str, Any] = {"seed": 0, "num_chains": 2, "num_warmup": 0, "num_draws": 3, "progress": False}


def linear(x: Any) -> Any:
    return jnp.sum(x)


def product(x: Any, row: Any) -> Any:
    return jnp.sum(x * row)


LAW = Target(Sphere(), linear)
ROWS = np.ones((5, 3), np.float32)


def refuse(match: str, sampler: Any, start: Any = NORTH, error: type[Exception] = BadInput) -> None:
    with pytest.raises(error, match=match):
        sample(sampler, start, **RUN)


BOTH = [LAW, pytest.param(Posterior(Sphere(), linear, product, ROWS), marks=pytest.mark.slow)]


@pytest.mark.parametrize("law", BOTH, ids=["target", "posterior"])
def test_a_law_is_its_own_gradient(law: Any) -> None:
    """`GeodesicNUTS(target)` without `FullGradient` had no attribute 'estimate'."""
    bare, wrapped = (sample(GeodesicNUTS(g, 0.2, 3), NORTH, **RUN) for g in (law, FullGradient(law)))
    np.testing.assert_array_equal(bare["posterior"]["x"], wrapped["posterior"]["x"])


def test_a_law_is_its_own_gradient_in_init_and_step() -> None:
    key, sampler = jax.random.key(0), SGGMC(LAW, 0.1, 1.0)
    moved, _ = sampler.step(jax.random.key(1), sampler.init(jnp.asarray(NORTH), key))
    assert abs(float(jnp.sum(moved.position**2)) - 1) < 1e-5
    assert float(GeodesicHMC(LAW, 0.1, 2).at_temperature(0.5).init(jnp.asarray(NORTH)).logdensity) == 0.5


def test_a_law_that_stands_for_its_gradient_is_looked_at_like_one() -> None:
    root = Target(Sphere(), lambda x: jnp.sum(jnp.sqrt(jnp.abs(x))))
    refuse("the gradient of the log density is not finite at `start`", GeodesicNUTS(root, 0.1))


def branch(x: Any) -> Any:
    return x[0] if x[0] > 0 else -x[0]


def with_numpy(x: Any) -> Any:
    return np.sum(np.array(x))


def with_math(x: Any) -> Any:
    return math.exp(x[0])


@pytest.mark.parametrize(
    ("density", "match"),
    [
        (branch, r"test_first_mistakes.py:\d+ \(return x\[0\] if .* write jnp.where\(condition"),
        (with_numpy, r"\(return np.sum\(np.array\(x\)\)\).*write jnp in place of np"),
        (with_math, r"\(return math.exp\(x\[0\]\)\).*jnp in place of np and math"),
        (lambda x: x["weights"], r"`logdensity` fails at test_first_mistakes.py:\d+"),
        (lambda x, y: 0.0, r"`logdensity\(x, y\)` is called as logdensity\(parameters\)"),
    ],
)
def test_errors_in_the_density_name_the_users_line(density: Any, match: str) -> None:
    refuse(match, GeodesicHMC(Target(Sphere(), density), 0.1, 2))


def test_nan_in_the_data_is_found_there() -> None:
    data = ROWS.copy()
    data[3, 1] = np.nan
    table = Target(Sphere(), lambda x, d: jnp.sum(d["y"] @ x), {"y": data})
    refuse(r"`data\['y'\]\[3, 1\]` is nan", GeodesicHMC(table, 0.1, 2))
    posterior = Posterior(Sphere(), linear, product, data)
    refuse(r"`data\[3, 1\]` is nan \(1 such", SGGMC(Minibatch(posterior, 1), 0.1, 1.0))


def skipping(x: Any, row: Any) -> Any:
    return jnp.sum(x * jnp.where(jnp.isnan(row), 0, row))


def test_nan_that_the_likelihood_allows_for_passes() -> None:
    data = ROWS.copy()
    data[3, 1] = np.nan
    sample(GeodesicHMC(Posterior(Sphere(), linear, skipping, data), 0.1, 2), NORTH, **RUN)


def test_remedies_do_not_fail_again() -> None:
    """Whatever is advised for a start that is refused must be let in."""
    logs = GeodesicHMC(Target(LogPositive(), linear), 0.1, 2)
    refuse(r"numbers above 0 are wanted, and the smallest is -1: pass `np.exp\(start\)`", logs, -NORTH, NotOnManifold)
    sample(logs, np.exp(-NORTH), **RUN)
    weights = GeodesicHMC(Target(Simplex(), linear), 0.1, 2)
    bad = np.array([-1.0, 1.0, 1.0], np.float32)
    refuse(r"pass `w / w.sum\(-1, keepdims=True\)` of `w = np.maximum\(start, 1e-3\)`", weights, bad, NotOnManifold)
    w = np.maximum(bad, 1e-3)
    sample(weights, w / w.sum(-1, keepdims=True), **RUN)
    refuse(
        "no point of the space is nearest to it: start elsewhere", GeodesicHMC(LAW, 0.1, 2), 0 * NORTH, NotOnManifold
    )


@pytest.mark.parametrize(
    ("sampler", "match"),
    [
        (GeodesicHMC(Target(Sphere, linear), 0.1, 2), "`Target.manifold` is the class Sphere; give an instance"),
        (GeodesicHMC(Target, 0.1, 2), "`GeodesicHMC.gradient` is the class Target"),
        (GeodesicHMC(Sphere(), 0.1, 2), "is a Sphere; it must be a gradient estimator: a Target"),
        (GeodesicHMC(Target(Product({"a": Sphere}), linear), 0.1, 2), r"`Product\['a'\]` is the class Sphere"),
        (GeodesicHMC(LAW, 0.1, "abc"), "`GeodesicHMC.num_steps` is 'abc'; it must consist of finite numbers"),
        (SGGMC(LAW, 0.1, 1.0, num_steps=np.array([2])), "`SGGMC.num_steps` is an array of the shape"),
        (SGGMC(LAW, 0.1, np.ones(5)), r"`SGGMC.friction` has the shape \(5,\), but `start` has \(3,\)"),
        (GeodesicNUTS(LAW, lambda t: 0.1), "`GeodesicNUTS.step_size` is a function"),
        (SGGMC(Minibatch(LAW, 2), 0.1, 1.0), "`Minibatch.target` is a Target; it must be a Posterior"),
        (GeodesicHMC(Target(Box(np.zeros(4), np.ones(4)), linear), 0.1, 2), r"Box at `start` of the shape \(3,\)"),
    ],
)
def test_settings_of_a_wrong_kind(sampler: Any, match: str) -> None:
    refuse(match, sampler)


def test_four_angles_are_not_off_the_sphere() -> None:
    with pytest.raises(BadInput, match="if these are angles, give them as n numbers"):
        Directional().fit(np.linspace(0, 3, 12).reshape(3, 4))


def test_texts_for_sam_and_powers_of_a_wrong_length() -> None:
    with pytest.raises(BadInput, match="X holds texts; SAM takes a table of numbers"):
        SAM(2).fit(["some words", "other words"])
    with pytest.raises(BadInput, match="2 sets and 3 powers"):
        HyperDirichlet(np.ones(3), np.ones(3), ((0, 1), (1, 2))).logdensity(np.full(3, 1 / 3))
    sample(GeodesicHMC(Target(Euclidean(), lambda x: -jnp.sum(x**2)), 0.1, 2), NORTH, **RUN)
