"""Whether a change of the code leaves every draw as it was: recordings of some fifty short runs, and their comparison.

A refactoring must not change a single bit of any draw. Every configuration below is a small run with fixed seeds; a
recording holds, for each of its arrays, a SHA-256 hash of the bytes, and shape, dtype, sum, mean and the first numbers
for people. Two recordings are comparable if they were made on the same machine with the same versions and XLA flags.

    python -m benchmarks.same_draws record FILE.json [--only NAME ...]
    python -m benchmarks.same_draws compare OLD.json NEW.json              exit code 1 if anything differs

Names are looked up at the top level of the package and then in its parts (`find`), so the same file records the code
before and after names have moved.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import platform
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Arrays = dict[str, np.ndarray]

PARTS = (
    "manifolds",
    "densities",
    "targets",
    "gradients",
    "linear",
    "samplers",
    "metrics",
    "tuning",
    "schedules",
    "recipe",
    "checks",
    "run",
    "models",
)
SAM_METHODS = ("sggmc", "gsgnht", "gmc-apprmh", "gmc-bgibbs", "vi", "stovi")
SHOWN = 4
"""So many numbers of an array are written out for people."""

CONFIGURATIONS: dict[str, Callable[[], Arrays]] = {}


def configuration(name: str) -> Callable[[Callable[[], Arrays]], Callable[[], Arrays]]:
    """Enter a function of no arguments under a name."""

    def enter(function: Callable[[], Arrays]) -> Callable[[], Arrays]:
        CONFIGURATIONS[name] = function
        return function

    return enter


# --- names and arrays of the package, wherever they are ---------------------------------------------------------------


@cache
def find(name: str) -> Any:
    """Return the object of that name from the top level of the package, or from the first part that has it."""
    for module in ("orthodrome", *(f"orthodrome.{part}" for part in PARTS)):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"{name} is neither in orthodrome nor in its parts {', '.join(PARTS)}")


class Names:
    """`od.X` is `find("X")`."""

    def __getattr__(self, name: str) -> Any:
        return find(name)


od = Names()


def posterior_of(tree: Any) -> Arrays:
    """Return the draws of every variable of a DataTree."""
    return {str(name): np.asarray(array) for name, array in tree["posterior"].dataset.data_vars.items()}


def topics_of(model: Any) -> np.ndarray:
    """Return the topics of a fitted SAM, draw x topic x word, from an array or from the posterior of a DataTree."""
    if isinstance(model.draws_, np.ndarray):
        return model.draws_
    variables = model.draws_["posterior"].dataset.data_vars.values()
    topics = next(array for array in variables if {"topic", "word"} <= set(array.dims))
    values = np.asarray(topics.transpose("chain", "draw", "topic", "word"))
    return values.reshape(-1, *values.shape[2:])


def drawn(sampler: Any, start: Any, **options: Any) -> Arrays:
    """Return the draws of a short run; positions are single precision."""
    settings = {"seed": 3, "num_chains": 2, "num_warmup": 50, "num_draws": 50, "progress": False} | options
    return posterior_of(find("sample")(sampler, start, **settings))


# --- laws -------------------------------------------------------------------------------------------------------------

NORTH = np.array([1, 0, 0], np.float32)
PLANE = np.array([0.3, -0.2], np.float32)
WEIGHTS = np.array([0.2, 0.3, 0.5], np.float32)
FRAME = np.eye(4, 2, dtype=np.float32)
CORRELATED = np.linalg.inv(np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 4]])).astype(np.float32)
TILT = np.array([[2, 0], [0, 1], [0.5, 0], [0, 0]], np.float32)
TURN = np.array([[1.5, 0, 0.3], [0, 1, 0], [0, -0.5, 0.5]], np.float32)


def fisher(x: Any) -> Any:
    return 8 * x[0] + x[1]


def bingham(x: Any) -> Any:
    return jnp.sum(jnp.array([0.0, 3.0, 9.0]) * x**2)


def normal(x: Any) -> Any:
    return -0.5 * x @ jnp.asarray(CORRELATED) @ x


def banana(x: Any) -> Any:
    return -0.5 * x[0] ** 2 - 2 * (x[1] - 0.5 * x[0] ** 2) ** 2


def banana_metric(x: Any) -> Any:
    return jnp.array([[1.0, 0.0], [0.0, 4.0]]) + 4 * x[0] ** 2 * jnp.array([[1.0, 0.0], [0.0, 0.0]])


def gamma_three(x: Any) -> Any:
    return jnp.sum(2 * jnp.log(x) - x)


def identity(x: Any) -> Any:
    return x


def dirichlet(p: Any) -> Any:
    return jnp.sum(jnp.array([1.0, 2.0, 4.0]) * jnp.log(p))


def matrix_fisher(x: Any) -> Any:
    return 3 * jnp.sum(jnp.asarray(TILT) * x)


def rotation_fisher(x: Any) -> Any:
    return jnp.sum(jnp.asarray(TURN) * x)


def torus(x: Any) -> Any:
    return (jnp.sqrt(x[0] ** 2 + x[1] ** 2) - 2) ** 2 + x[2] ** 2 - 0.49


def joint(p: Any) -> Any:
    fit = p["scale"] * jnp.sum(jnp.asarray(TILT) * p["frame"]) + 4 * p["direction"][0]
    return fit + jnp.log(p["scale"]) - 5 * p["scale"]


JOINT_START = {"direction": NORTH, "frame": FRAME, "scale": np.float32(0.7)}


def nothing(x: Any) -> Any:
    return 0.0 * jnp.sum(x)


def wide(x: Any) -> Any:
    return -0.005 * jnp.sum(x**2)


def toward(x: Any, row: Any) -> Any:
    return 5 * jnp.dot(x, row)


def near(x: Any, row: Any) -> Any:
    return -0.5 * jnp.sum(jnp.array([1.0, 3.0]) * (x - row) ** 2)


@cache
def rows(dimension: int, number: int = 200) -> np.ndarray:
    """Return data about the first axis; on the sphere if there are three numbers to a row."""
    points = np.random.default_rng(0).normal(size=(number, dimension)) + np.eye(dimension)[0]
    points = points / np.linalg.norm(points, axis=1, keepdims=True) if dimension == 3 else points
    return points.astype(np.float32)


def full(manifold: Any, logdensity: Any) -> Any:
    return od.FullGradient(od.Target(manifold, logdensity))


def on_sphere() -> Any:
    return od.Posterior(od.Sphere(), nothing, toward, jnp.asarray(rows(3)))


def on_plane() -> Any:
    return od.Posterior(od.Euclidean(), wide, near, jnp.asarray(rows(2)))


def plane_batches() -> Any:
    return od.Minibatch(on_plane(), batch_size=20, noise=od.EmpiricalFisher())


# --- exact samplers ---------------------------------------------------------------------------------------------------


@configuration("hmc-fixed-sphere")
def _() -> Arrays:
    return drawn(od.GeodesicHMC(full(od.Sphere(), fisher), 0.4, 4), NORTH)


@configuration("hmc-fixed-lengths-jitter-thin")
def _() -> Arrays:
    return drawn(od.GeodesicHMC(full(od.Sphere(), fisher), 0.4, np.array([1, 3, 5]), 0.2), NORTH, thin=3, num_chains=3)


@configuration("hmc-tuned-product")
def _() -> Arrays:
    space = od.Product({"direction": od.Sphere(), "frame": od.Stiefel(), "scale": od.Positive()})
    return drawn(od.GeodesicHMC(full(space, joint), num_steps=3), JOINT_START)


@configuration("hmc-tuned-keep-warmup-random-start")
def _() -> Arrays:
    sampler, start = od.GeodesicHMC(full(od.Sphere(), fisher)), jax.ShapeDtypeStruct((3,), jnp.float32)
    return drawn(sampler, start, num_chains=3, keep_warmup=True)


@configuration("nuts-tuned-sphere")
def _() -> Arrays:
    return drawn(od.GeodesicNUTS(full(od.Sphere(), bingham)), NORTH)


@configuration("nuts-dense-metric")
def _() -> Arrays:
    sampler = od.GeodesicNUTS(full(od.Euclidean(), normal), max_depth=5)
    return drawn(od.Adapted(sampler, num_warmup=50, metric=od.DenseMetric()), np.zeros(3, np.float32))


@configuration("hmc-low-rank-metric")
def _() -> Arrays:
    sampler = od.GeodesicHMC(full(od.Euclidean(), normal), num_steps=4)
    return drawn(od.Adapted(sampler, num_warmup=50, metric=od.LowRankMetric()), np.zeros(3, np.float32))


@configuration("hmc-simplex")
def _() -> Arrays:
    return drawn(od.GeodesicHMC(full(od.Simplex(), dirichlet), num_steps=4), WEIGHTS)


@configuration("hmc-log-ratio-simplex")
def _() -> Arrays:
    return drawn(od.GeodesicHMC(full(od.LogRatioSimplex(), dirichlet), num_steps=4), WEIGHTS)


@configuration("hmc-reflected-simplex")
def _() -> Arrays:
    return drawn(od.GeodesicHMC(full(od.ReflectedSimplex(), dirichlet), 0.08, 3), WEIGHTS)


@configuration("hmc-level-set")
def _() -> Arrays:
    start = np.array([2.7, 0, 0], np.float32)
    return drawn(od.GeodesicHMC(full(od.LevelSet(torus), fisher), 0.1, 4), start)


@configuration("hmc-rotation")
def _() -> Arrays:
    return drawn(od.GeodesicHMC(full(od.Rotation(), rotation_fisher), 0.5, 3), np.eye(3, dtype=np.float32))


@configuration("random-walk-tuned-stiefel")
def _() -> Arrays:
    return drawn(od.RandomWalk(od.Target(od.Stiefel(), matrix_fisher)), FRAME)


@configuration("riemannian-hmc-tuned")
def _() -> Arrays:
    return drawn(od.RiemannianHMC(full(od.Euclidean(), banana), od.LocalMetric(banana_metric), num_steps=3), PLANE)


@configuration("riemannian-langevin-fisher")
def _() -> Arrays:
    posterior = on_plane()
    return drawn(od.RiemannianLangevin(od.FullGradient(posterior), od.FisherMetric(posterior), 1.0), PLANE)


@configuration("column-pairs-tuned")
def _() -> Arrays:
    return drawn(od.ColumnPairs(full(od.Stiefel(), matrix_fisher), num_steps=3), FRAME)


@configuration("column-gibbs")
def _() -> Arrays:
    left = np.diag([-1.5, 0.5, 0.0, 2.0])
    return drawn(od.ColumnGibbs(left, np.array([1.0, -0.5]), TILT), FRAME)


@configuration("tempering-ladder")
def _() -> Arrays:
    inner = od.GeodesicHMC(full(od.Sphere(), bingham), 0.3, 3)
    return drawn(od.Tempering(inner, ladder=(0.1, 0.3, 1.0)), NORTH)


@configuration("tempering-tuned-random-walk")
def _() -> Arrays:
    inner = od.RandomWalk(od.Target(od.Sphere(), bingham))
    return drawn(od.Tempering(inner, num_replicas=3, random_swaps=2), NORTH)


@configuration("densities-exact-draws")
def _() -> Arrays:
    laws = {
        "fisher": od.VonMisesFisher(jnp.asarray(NORTH), 6.0),
        "bingham": od.Bingham(jnp.diag(jnp.array([0.0, 3.0, 9.0]))),
        "matrix_fisher": od.MatrixVonMisesFisher(jnp.asarray(TILT)),
        "dirichlet": od.Dirichlet(jnp.array([0.5, 2.0, 4.0])),
    }
    return {name: np.asarray(law.sample(jax.random.key(1), (50,))) for name, law in laws.items()}


# --- stochastic gradients ---------------------------------------------------------------------------------------------


@configuration("sggmc-fixed-minibatch")
def _() -> Arrays:
    return drawn(od.SGGMC(od.Minibatch(on_sphere(), batch_size=20), 0.01, 20.0, num_steps=2), NORTH)


def sggmc_tuned(form: str, *settings: Any) -> Arrays:
    noise = od.EmpiricalFisher(find(form)(*settings))
    return drawn(od.SGGMC(od.Minibatch(on_sphere(), batch_size=20, noise=noise)), NORTH)


CONFIGURATIONS["sggmc-tuned-diagonal"] = partial(sggmc_tuned, "DiagonalForm")
CONFIGURATIONS["sggmc-tuned-full"] = partial(sggmc_tuned, "FullForm")
CONFIGURATIONS["sggmc-tuned-low-rank"] = partial(sggmc_tuned, "LowRankForm", 2)


@configuration("sggmc-matrix-friction-word")
def _() -> Arrays:
    friction = od.Dense(jnp.array([[20.0, 2, 0], [2, 30, 0], [0, 0, 25]]))
    return drawn(od.SGGMC(full(od.Sphere(), fisher), 0.02, friction, 3, "KAUAK"), NORTH)


@configuration("sggmc-product")
def _() -> Arrays:
    space = od.Product({"direction": od.Sphere(), "frame": od.Stiefel(), "scale": od.Positive()})
    return drawn(od.SGGMC(full(space, joint), 0.05, 2.0, 2), JOINT_START)


@configuration("gsgnht-tuned-noisy-gradient")
def _() -> Arrays:
    return drawn(od.GSGNHT(od.NoisyGradient(full(od.Sphere(), fisher), 4.0, told=False)), NORTH)


@configuration("sggmc-control-variate")
def _() -> Arrays:
    estimator = od.ControlVariate(on_sphere(), jnp.asarray(NORTH), batch_size=20, noise=od.EmpiricalFisher())
    return drawn(od.SGGMC(estimator, 0.02, 20.0), NORTH)


@configuration("gsgnht-svrg")
def _() -> Arrays:
    return drawn(od.GSGNHT(od.SVRG(on_sphere(), batch_size=20, period=10), 0.02, 20.0, num_steps=2), NORTH)


@configuration("sgld-tuned")
def _() -> Arrays:
    return drawn(od.SGLD(od.Minibatch(on_plane(), batch_size=20)), PLANE)


@configuration("sgfs-tuned")
def _() -> Arrays:
    estimator = od.Minibatch(on_plane(), batch_size=20, noise=od.EmpiricalFisher(od.FullForm()))
    return drawn(od.SGFS(estimator), PLANE)


@configuration("sghmc-tuned")
def _() -> Arrays:
    return drawn(od.SGHMC(plane_batches(), refresh_every=10), PLANE)


@configuration("sgnht-per-coordinate")
def _() -> Arrays:
    return drawn(od.SGNHT(od.Minibatch(on_plane(), batch_size=20), 0.01, 5.0, per_coordinate=True), PLANE)


@configuration("sgrld-tuned-positive")
def _() -> Arrays:
    sampler = od.SGRLD(full(od.Positive(), gamma_three), od.InverseMetric(identity))
    return drawn(sampler, np.ones(2, np.float32))


@configuration("sgrhmc-potential-metric")
def _() -> Arrays:
    return drawn(od.SGRHMC(full(od.Euclidean(), banana), od.PotentialMetric(1.0, 2.0), 0.1), PLANE)


@configuration("scheduled-sgld-welling-teh")
def _() -> Arrays:
    return drawn(od.Scheduled(od.SGLD(plane_batches()), od.WellingTeh(0.002)), PLANE)


@configuration("scheduled-sggmc-cyclical-temperature")
def _() -> Arrays:
    inner = od.SGGMC(full(od.Sphere(), fisher), 0.1, 2.0)
    return drawn(od.Scheduled(inner, od.Cyclical(0.2, 20.0), od.Polynomial(2.0, 10.0)), NORTH)


def plane_batch(number: int) -> np.ndarray:
    first = 20 * (number % 10)
    return rows(2)[first : first + 20]


@configuration("streamed-sghmc")
def _() -> Arrays:
    law = od.Posterior(od.Euclidean(), wide, near, jnp.asarray(plane_batch(0)))
    inner = od.SGHMC(od.BatchGradient(law, num_data=200), 0.01, 10.0)
    return drawn(od.Streamed(inner, plane_batch), PLANE, num_warmup=10, num_draws=30)


# --- the recipe -------------------------------------------------------------------------------------------------------


def quartic(z: Any) -> Any:
    x, r = z
    return jnp.sum(x**4) / 4 + jnp.sum(r**2) / 2


def metric_root(x: Any) -> Any:
    return jnp.diag(1 + 0.5 * jnp.sin(x))


def diffusion(z: Any) -> Any:
    zero, s = jnp.zeros((2, 2)), metric_root(z[0])
    return jnp.block([[zero, zero], [zero, s @ s]])


def curl(z: Any) -> Any:
    zero, s = jnp.zeros((2, 2)), metric_root(z[0])
    return jnp.block([[zero, -s], [s, zero]])


def momentum(key: Any, x: Any) -> Any:
    return (jax.random.normal(key, x.shape, x.dtype),)


def recipe(integrator: str, divergence: str) -> Arrays:
    settings = {"integrator": find(integrator)(), "divergence": find(divergence)()}
    return drawn(od.Recipe(quartic, diffusion, curl, step_size=0.1, auxiliary=momentum, **settings), PLANE)


CONFIGURATIONS["recipe-semi-implicit"] = partial(recipe, "SemiImplicit", "ExactDivergence")
CONFIGURATIONS["recipe-euler-probed"] = partial(recipe, "Euler", "ProbedDivergence")


# --- resumed from a checkpoint ----------------------------------------------------------------------------------------


def both(straight: Arrays, resumed: Arrays) -> Arrays:
    """Return both runs, which should have the same hashes."""
    runs = {"straight": straight, "resumed": resumed}
    return {f"{run}/{name}": array for run, arrays in runs.items() for name, array in arrays.items()}


def extended(sampler: Any, start: Any) -> Arrays:
    """Return a straight run, and the same run made in two parts with a checkpoint between them."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {"checkpoint": Path(folder) / "run", "num_chains": 2}
        drawn(sampler, start, num_draws=20, **kept)
        return both(drawn(sampler, start), drawn(sampler, start, **kept))


@configuration("resumed-hmc-tuned")
def _() -> Arrays:
    return extended(od.GeodesicHMC(full(od.Sphere(), fisher)), NORTH)


@configuration("resumed-sggmc-tuned")
def _() -> Arrays:
    estimator = od.Minibatch(on_sphere(), batch_size=20, noise=od.EmpiricalFisher())
    return extended(od.SGGMC(estimator), NORTH)


# --- models -----------------------------------------------------------------------------------------------------------

SHORT = {"num_chains": 2, "num_warmup": 50, "num_draws": 50, "random_state": 5}


@configuration("directional-von-mises-fisher")
def _() -> Arrays:
    return posterior_of(od.Directional("von-mises-fisher", **SHORT).fit(rows(3, 60)).draws_)


@configuration("directional-bingham-hmc")
def _() -> Arrays:
    return posterior_of(od.Directional("bingham", method="hmc", **SHORT).fit(rows(3, 60)).draws_)


@configuration("directional-mixture")
def _() -> Arrays:
    signs = np.where(np.arange(60) % 3, 1, -1)[:, None].astype(np.float32)
    return posterior_of(od.Directional("mixture", components=2, method="hmc", **SHORT).fit(signs * rows(3, 60)).draws_)


GAMES = {"winners": ["ann bob", "cat", "ann"], "losers": ["cat", "bob dan", "dan"], "count": [3, 2, 4]}


@configuration("paired-comparison-hmc-log-ratio")
def _() -> Arrays:
    return posterior_of(od.PairedComparison(1.0, **SHORT).fit(GAMES).draws_)


@configuration("paired-comparison-nuts-sphere")
def _() -> Arrays:
    return posterior_of(od.PairedComparison(0.6, space="sphere", method="nuts", **SHORT).fit(GAMES).draws_)


def network(**settings: Any) -> Arrays:
    side = np.repeat([1, -1], 6)
    probability = np.where(np.outer(side, side) > 0, 0.8, 0.1)
    upper = np.triu(np.random.default_rng(0).uniform(size=(12, 12)) < probability, 1)
    edges = (upper | upper.T).astype(float)
    return posterior_of(od.NetworkEigenmodel(2, **settings, **SHORT).fit(edges, missing=[(0, 1), (0, 11)]).draws_)


NETWORK_STEPS = {"frame": 0.05, "eigenvalues": 1.0, "intercept": 0.05}
CONFIGURATIONS["network-eigenmodel-hmc"] = partial(network, step_size=NETWORK_STEPS, num_steps=4)
CONFIGURATIONS["network-eigenmodel-logit-tuned"] = partial(network, link="logit", num_steps=4)
CONFIGURATIONS["network-eigenmodel-gibbs"] = partial(network, method="gibbs")


# --- spherical admixtures ---------------------------------------------------------------------------------------------


@cache
def documents(number: int = 60) -> np.ndarray:
    """Return unit rows about mixtures of three topics of 20 words."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.ones(20)) + 0.2 * rng.random((3, 60))
    table = rng.dirichlet(np.ones(3), number) @ topics + 0.05 * rng.standard_normal((number, 60))
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def sam_model(**settings: Any) -> Any:
    """Return an unfitted model; one thread, so that no clock chooses how many."""
    short = {"num_warmup": 30, "num_draws": 10, "thin": 2, "num_steps": 3, "batch_size": 20}
    return od.SAM(3, **(short | {"random_state": 7, "n_jobs": 1} | settings))


def sam_arrays(model: Any) -> Arrays:
    return {"topics": topics_of(model), "components": np.asarray(model.components_)}


def sam(**settings: Any) -> Arrays:
    return sam_arrays(sam_model(**settings).fit(documents()))


CONFIGURATIONS |= {f"sam-{method}": partial(sam, method=method) for method in SAM_METHODS}
CONFIGURATIONS["sam-gsgnht-float64-fixed-steps"] = partial(sam, dtype="float64", step_size=0.005, friction=50.0)
CONFIGURATIONS["sam-sggmc-published"] = partial(sam, method="sggmc", published=True)
CONFIGURATIONS["sam-sggmc-no-variance-reduction"] = partial(sam, method="sggmc", variance_reduction=False)
CONFIGURATIONS["sam-gsgnht-flat-proportions"] = partial(sam, proportion_space="flat")
CONFIGURATIONS["sam-gmc-bgibbs-slices"] = partial(sam, method="gmc-bgibbs", doc_topic_prior=0.3)


@configuration("sam-gsgnht-proportions")
def _() -> Arrays:
    mean, deviation = sam_model().fit(documents()).proportions(documents()[:10], num_warmup=20, num_draws=10)
    return {"mean": mean, "deviation": deviation}


@configuration("sam-gsgnht-partial-fit")
def _() -> Arrays:
    model = sam_model(total_documents=60, num_warmup=2, num_draws=4, thin=1)
    for first in (0, 20, 40, 10, 30, 0):
        model.partial_fit(documents()[first : first + 20])
    return sam_arrays(model)


def interrupt_after_commit(folder: Path, over: threading.Event) -> None:
    """Send what Ctrl-C sends, once the folder has a commit."""
    while not over.is_set():
        if any(folder.rglob("commit*.json")):
            return signal.raise_signal(signal.SIGINT)
        time.sleep(0.002)


def cut_short(folder: Path, fit: Callable[[], Any]) -> bool:
    """Fit, interrupted after the first commit; return whether it was (by an error, or by draws that are fewer)."""
    over, before = threading.Event(), signal.signal(signal.SIGINT, signal.default_int_handler)
    watcher = threading.Thread(target=interrupt_after_commit, args=(folder, over))
    watcher.start()
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            fit()
        return any("interrupted" in str(warning.message) for warning in seen)
    except KeyboardInterrupt:
        return True
    finally:
        over.set()
        watcher.join()
        signal.signal(signal.SIGINT, before)


def sam_resumed(**settings: Any) -> Arrays:
    """Return a straight run, and one that was interrupted and went on from its checkpoint."""
    settings = {"num_warmup": 100, "num_draws": 100, "thin": 4, "num_steps": 10} | settings
    table, straight = documents(), sam(**settings)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        if not cut_short(folder, lambda: sam_model(**settings).fit(table, checkpoint=folder, checkpoint_every=0.0)):
            raise RuntimeError("the run ended before it could be interrupted; give it more draws")
        return both(straight, sam_arrays(sam_model(**settings).fit(table, checkpoint=folder)))


CONFIGURATIONS |= {
    f"sam-{method}-resumed": partial(sam_resumed, method=method) for method in ("gsgnht", "gmc-bgibbs", "stovi")
}


# --- recordings -------------------------------------------------------------------------------------------------------


def described(array: np.ndarray) -> dict[str, Any]:
    """Return the hash of the array's bytes, and what people want to see of it."""
    array = np.ascontiguousarray(array)
    wide = array.astype(np.float64)
    return {
        "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "sum": float(wide.sum()),
        "mean": float(wide.mean()),
        "first": [float(value) for value in wide.ravel()[:SHOWN]],
        "last": [float(value) for value in wide.ravel()[-SHOWN:]],
    }


def recorded(function: Callable[[], Arrays]) -> dict[str, Any]:
    """Return the description of a configuration's arrays, or the error that it raised."""
    began, worked = time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: dict[str, Any] = {"arrays": {name: described(array) for name, array in function().items()}}
    except Exception as error:  # one that fails must not lose the others
        found = {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    return found | {"seconds": round(seconds, 2), "processor_seconds": round(processor, 2)}


def circumstances() -> dict[str, str]:
    """Return what the bits of a draw may depend on beside the code."""
    versions = {name: importlib.import_module(name).__version__ for name in ("jax", "jaxlib", "numpy", "numba")}
    flags = {"XLA_FLAGS": os.environ.get("XLA_FLAGS", ""), "x64": str(bool(jax.config.jax_enable_x64))}
    return {"python": platform.python_version(), "machine": platform.machine(), **versions, **flags}


def record(file: Path, names: list[str]) -> int:
    """Record the configurations (all if no name is given); return the number of those that failed."""
    if unknown := [name for name in names if name not in CONFIGURATIONS]:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(CONFIGURATIONS)}")
    print(f"orthodrome from {Path(importlib.import_module('orthodrome').__file__ or '').parent}")
    results: dict[str, Any] = {}
    for name in names or CONFIGURATIONS:
        results[name] = recorded(CONFIGURATIONS[name])
        print(f"{results[name]['seconds']:7.1f} s  {name}  {results[name].get('error', '')}", flush=True)
        file.write_text(json.dumps({"circumstances": circumstances(), "configurations": results}, indent=1))
    failed = sum("error" in result for result in results.values())
    seconds, processor = (sum(r[kind] for r in results.values()) for kind in ("seconds", "processor_seconds"))
    print(f"{len(results)} configurations in {seconds:.0f} s ({processor:.0f} s of processors), {failed} failed")
    return failed


# --- comparison -------------------------------------------------------------------------------------------------------


def array_difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return how two arrays differ, or nothing."""
    if all(old[key] == new[key] for key in ("sha256", "shape", "dtype")):
        return ""
    for key in ("shape", "dtype"):
        if old[key] != new[key]:
            return f"{key} {old[key]} then, {new[key]} now"
    first = max((abs(a - b) for a, b in zip(old["first"], new["first"], strict=True)), default=0.0)
    last = max((abs(a - b) for a, b in zip(old["last"], new["last"], strict=True)), default=0.0)
    mean = f"mean {old['mean']:.9g} then, {new['mean']:.9g} now"
    return f"{mean}; the first numbers differ by {first:.3g}, the last by {last:.3g}"


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return what differs between two recordings of one configuration; an error never counts as the same."""
    errors = [f"error {when}: {found['error']}" for when, found in (("then", old), ("now", new)) if "error" in found]
    if errors:
        return errors
    then, now = old["arrays"], new["arrays"]
    lines = [f"{name} is only in the {'old' if name in then else 'new'} recording" for name in sorted({*then} ^ {*now})]
    found = {name: array_difference(then[name], now[name]) for name in then if name in now}
    return lines + [f"{name}: {text}" for name, text in found.items() if text]


def compare(old_file: Path, new_file: Path) -> int:
    """Print same, differs or missing for every configuration; return the number of those that are not the same."""
    old, new = (json.loads(file.read_text()) for file in (old_file, new_file))
    for name, value in old["circumstances"].items():
        if new["circumstances"].get(name) != value:
            print(f"note: {name} was {value!r}, and is {new['circumstances'].get(name)!r}")
    then, now, wrong = old["configurations"], new["configurations"], 0
    for name in dict.fromkeys([*then, *now]):
        if name not in then or name not in now:
            lines, word = [f"not in the {'old' if name not in then else 'new'} recording"], "missing"
        else:
            lines = differences(then[name], now[name])
            word = "differs" if lines else "same"
        wrong += word != "same"
        print(f"{word:8s} {name}", *lines, sep="\n           " if lines else "")
    print(f"{len({*then, *now}) - wrong} the same, {wrong} not")
    return wrong


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_draws", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run the configurations and write their hashes")
    recording.add_argument("file", type=Path)
    recording.add_argument("--only", nargs="+", default=[], metavar="NAME")
    comparing = commands.add_parser("compare", help="compare two recordings")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args(arguments)
    recorded_now = options.command == "record"
    wrong = record(options.file, options.only) if recorded_now else compare(options.old, options.new)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
