"""Random bad calls: a call that works, with one of its arguments replaced by something that has no business there.

A call is (its name, the arguments that work, how it is made). `bad_calls(seed)` yields them without end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import orthodrome as od
from orthodrome import gradients, manifolds, samplers
from orthodrome.densities import HyperDirichlet
from orthodrome.diagnostics import diagnose, summary
from orthodrome.storage.store import read_draws
from orthodrome.tuning import Adapted

NORTH = np.array([0.0, 0.0, 1.0], np.float32)
FLAT = np.array([0.1, 0.2, 0.3], np.float32)
ROWS = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
WORDS = np.random.default_rng(1).poisson(2.0, size=(12, 8)).astype(float) + np.eye(12, 8)
UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
PAIRS = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("d", "a")]


def density(x: Any) -> Any:
    return jnp.sum(x["x"] if isinstance(x, dict) else x)


def bell(x: Any) -> Any:
    return -0.5 * jnp.sum(x**2)


def row_density(x: Any, row: Any) -> Any:
    return -0.5 * jnp.sum((x - row) ** 2)


def circle(x: Any) -> Any:
    return jnp.atleast_1d(jnp.sum(x**2) - 1)


SPHERE = od.Target(od.Sphere(), density)
PLANE = od.Target(od.Euclidean(), bell)
DATA = od.Posterior(od.Euclidean(), bell, row_density, ROWS)
BATCHES = od.Minibatch(DATA, 5, noise=gradients.EmpiricalFisher())
RUN: dict[str, Any] = {"seed": 0, "num_chains": 2, "num_warmup": 2, "num_draws": 2, "progress": False}


def branching(x: Any) -> Any:
    return x[0] if x[0] > 0 else -x[0]


def with_numpy(x: Any) -> Any:
    return np.sum(np.array(x))


BAD: tuple[Any, ...] = (
    None,
    "abc",
    "",
    b"abc",
    -1,
    0,
    2.5,
    1j,
    float("nan"),
    float("inf"),
    True,
    [],
    {},
    (),
    [1.0, "b"],
    ["one", "two"],
    {"a": 1.0},
    object(),
    od.Sphere,
    od.Sphere(),
    od.GeodesicNUTS,
    SPHERE,
    np.zeros((2, 3)),
    np.zeros(0, np.float32),
    np.ones(5, np.float32),
    np.array([np.nan, 1.0, 2.0], np.float32),
    np.ones(3, np.int32),
    np.ones(3, complex),
    np.array("abc"),
    np.array([None, 1]),
    np.array(["a", "b"]),
    jnp.ones((2, 2)),
    lambda: 0.0,
    lambda x, y, z: 0.0,
    branching,
    with_numpy,
    Path("nowhere") / "at all",
)


@dataclasses.dataclass(frozen=True)
class Call:
    """A call by name, its arguments, and how it is made from them."""

    name: str
    arguments: dict[str, Any]
    make: Callable[..., Any]


def run(sampler: Any, start: Any) -> Any:
    return od.sample(sampler, start, **RUN)


def of_sampler(kind: Any, start: Any, **arguments: Any) -> Call:
    return Call(kind.__name__, arguments, lambda **given: run(kind(**given), start))


def of_gradient(kind: Any, **arguments: Any) -> Call:
    step = {"step_size": 0.01, "friction": 1.0}
    return Call(kind.__name__, arguments, lambda **given: run(od.SGGMC(kind(**given), **step), FLAT))


def of_space(kind: Any, start: Any, **arguments: Any) -> Call:
    made = lambda **given: run(od.GeodesicHMC(od.Target(kind(**given), density), 0.01, 2), start)
    return Call(kind.__name__, arguments, made)


def of_model(kind: Any, data: Any, **arguments: Any) -> Call:
    def fitted(data: Any, **given: Any) -> Any:
        return kind(**given).fit(data)

    return Call(kind.__name__, {"data": data} | arguments, fitted)


def calls() -> list[Call]:
    """Return the calls that work."""
    nuts = od.GeodesicNUTS(SPHERE, 0.1, 2)
    short: dict[str, Any] = {"num_chains": 2, "num_warmup": 4, "num_draws": 4, "random_state": 0}
    whole: dict[str, Any] = {
        **RUN,
        "thin": 1,
        "checkpoint": None,
        "checkpoint_every": 10.0,
        "store": None,
        "mesh": None,
        "stop_when": None,
        "dims": None,
        "coords": None,
        "about": None,
    }
    drawn = run(nuts, NORTH)
    return [
        Call("sample", {"sampler": nuts, "start": NORTH} | whole, od.sample),
        Call("sample", {"sampler": nuts, "start": NORTH} | whole, od.sample),
        Call("sample", {"sampler": nuts, "start": NORTH} | whole, od.sample),
        of_sampler(od.GeodesicHMC, NORTH, gradient=SPHERE, step_size=0.1, num_steps=2),
        of_sampler(od.GeodesicNUTS, NORTH, gradient=SPHERE, step_size=0.1, max_depth=2),
        of_sampler(od.RandomWalk, NORTH, target=SPHERE, step_size=0.1),
        of_sampler(od.Tempering, NORTH, sampler=od.RandomWalk(SPHERE, 0.1), ladder=None, num_replicas=2, hottest=0.5),
        of_sampler(od.SGGMC, FLAT, gradient=DATA, step_size=0.01, friction=1.0, num_steps=1, order="ABOBA"),
        of_sampler(od.GSGNHT, FLAT, gradient=DATA, step_size=0.01, friction=1.0, thermostat_mass=1.0, order="ABOBA"),
        of_sampler(od.SGLD, FLAT, gradient=DATA, step_size=0.01, preconditioner=None),
        of_sampler(od.SGHMC, FLAT, gradient=DATA, step_size=0.01, friction=1.0, mass=1.0, refresh_every=None),
        of_sampler(samplers.SGNHT, FLAT, gradient=DATA, step_size=0.01, friction=1.0, thermostat_mass=1.0),
        of_sampler(samplers.SGFS, FLAT, gradient=BATCHES, step_size=0.01),
        of_sampler(samplers.Scheduled, FLAT, sampler=od.SGLD(DATA, 0.01), step_size=None, temperature=None),
        of_sampler(Adapted, NORTH, sampler=od.RandomWalk(SPHERE), num_warmup=2, target_acceptance=None),
        of_gradient(od.Minibatch, target=DATA, batch_size=5, replace=False, noise=gradients.NoNoise()),
        of_gradient(od.ControlVariate, target=DATA, center=FLAT, batch_size=5),
        of_gradient(od.SVRG, target=DATA, batch_size=5, period=2),
        of_gradient(gradients.NoisyGradient, gradient=DATA, variance=0.1, told=True),
        Call(
            "Target", {"manifold": od.Sphere(), "logdensity": density}, lambda **t: run(nuts_of(od.Target(**t)), NORTH)
        ),
        Call(
            "Posterior",
            {"manifold": od.Euclidean(), "logprior": bell, "loglikelihood": row_density, "data": ROWS},
            lambda **t: run(nuts_of(od.Posterior(**t)), FLAT),
        ),
        of_space(manifolds.Ball, FLAT, radius=1.0, center=0.0),
        of_space(manifolds.Box, FLAT, lower=-1.0, upper=1.0),
        of_space(manifolds.LevelSet, NORTH, constraint=circle, max_iterations=10),
        of_space(manifolds.Product, {"x": NORTH}, factors={"x": od.Sphere()}),
        of_space(manifolds.Affine, FLAT - 0.2, matrix=np.ones((1, 3), np.float32), offset=np.zeros(1, np.float32)),
        Call(
            "HyperDirichlet",
            {"concentration": np.ones(3, np.float32), "powers": np.ones(2, np.float32), "sets": ((0, 1), (1, 2))},
            lambda **given: HyperDirichlet(**given).logdensity(np.full(3, 1 / 3, np.float32)),
        ),
        of_model(od.Directional, UNIT, law="von-mises-fisher", scale=10.0, method="nuts", dtype="float32", **short),
        of_model(od.Directional, UNIT, law="mixture", components=2, weight_concentration=1.0, tempering=None, **short),
        of_model(od.PairedComparison, PAIRS, concentration=1.0, space="auto", method="random-walk", **short),
        of_model(
            od.NetworkEigenmodel, PAIRS, rank=1, link="probit", method="hmc", num_steps=2, tempering=None, **short
        ),
        of_model(
            od.SAM,
            WORDS,
            rows="counts",
            n_components=2,
            method="sggmc",
            num_draws=2,
            num_warmup=2,
            batch_size=4,
            random_state=0,
        ),
        of_model(
            *(od.LDA, WORDS),
            n_components=2,
            method="scir",
            doc_topic_prior=0.5,
            topic_word_prior=0.1,
            step_size=0.5,
            num_draws=2,
            num_warmup=2,
            batch_size=4,
            random_state=0,
        ),
        Call("diagnose", {"tree": drawn}, diagnose),
        Call("summary", {"tree": drawn}, summary),
        Call("read_draws", {"path": "nowhere"}, read_draws),
    ]


def mixture_calls() -> list[Call]:
    """Return the fits of mixtures that work."""
    short: dict[str, Any] = {"num_chains": 1, "num_warmup": 2, "num_draws": 2, "thin": 1, "random_state": 0}
    short |= {"concentration": 1.0, "n_clusters_init": 2, "max_components": 8, "batch_size": 6, "n_jobs": 1}
    steps: dict[str, Any] = {"step_size": 0.1, "stick_step_size": 0.1, "split_merge": 1, "label_swaps": 1}
    kind = od.DirichletProcessMixture
    return [
        of_model(kind, ROWS, family="gaussian", method="gibbs", mean_prior=np.zeros(3), covariance_prior=None, **short),
        of_model(kind, WORDS, family="multinomial", method="scir", category_prior=0.5, **short, **steps),
        of_model(kind, UNIT, family="vmf", method="sggmc", kappa_range=(1.0, 100.0), **short, **steps),
        of_model(kind, (ROWS > 0).astype(int), family="categorical", concentration_prior=(1.0, 1.0), **short),
    ]


def nuts_of(target: Any) -> Any:
    return od.GeodesicNUTS(target, 0.1, 2)


def bad_calls(seed: int, working: Callable[[], list[Call]] = calls) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls with one argument replaced, each with a text that says which."""
    rng, every = np.random.default_rng(seed), working()
    while True:
        call = every[rng.integers(len(every))]
        name = list(call.arguments)[rng.integers(len(call.arguments))]
        bad = BAD[rng.integers(len(BAD))]
        given = call.arguments | {name: bad}
        shown = f"{bad!r}"[:40].replace("\n", " ")
        yield f"{call.name}({name}={shown})", lambda call=call, given=given: call.make(**given)
