"""What the tests run over: MANIFOLDS (of `registry_manifolds`), TARGETS with exact draws, SAMPLERS, ESTIMATORS.

A new sampler or law is one line here and inherits every test. A `Law` is a density in the user's coordinates,
exact draws made without the package (`exact_draws`), functionals whose means are compared, and step sizes set
by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import (
    Affine,
    Ball,
    Box,
    Euclidean,
    LevelSet,
    LogPositive,
    LogRatioSimplex,
    Manifold,
    Positive,
    Product,
    ReflectedSimplex,
    Rotation,
    Simplex,
    Sphere,
    Stiefel,
)
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.exact.random_walk import RandomWalk
from orthodrome.targets import Target
from support import exact_draws as exact
from support.registry_manifolds import MANIFOLDS, TWO_EQUATIONS, torus

__all__ = ["ESTIMATORS", "MANIFOLDS", "ONE_PER_MANIFOLD", "SAMPLERS", "TARGETS", "Law"]

NUM_REFERENCE = 400_000


@dataclass(frozen=True)
class Law:
    """A law with exact draws.

    manifold: a constructor, called inside the test so that its arrays have the test's precision
    logdensity: of one point, in the user's coordinates
    draw: (generator, n) -> n exact draws, a tree of NumPy arrays
    means: the exact means of the functionals; None: from NUM_REFERENCE draws
    functionals: of one point, in the user's coordinates; None: coordinates, squares and the log density
    step, num_steps, walk: step size and length for HMC (and NUTS), step of the random walk
    max_depth: for NUTS with the step of HMC
    chains: so many are enough for the gradient samplers to see 3 % of a standard deviation
    """

    manifold: Callable[[], Manifold]
    logdensity: Callable[[Any], Array]
    draw: Callable[[np.random.Generator, int], Any]
    step: float
    num_steps: int
    walk: float
    means: Callable[[], np.ndarray] | None = None
    functionals: Callable[[Any], Array] | None = None
    max_depth: int = 3
    chains: int = 10_000
    walkers: int = 52_000

    def target(self) -> Target:
        return Target(self.manifold(), self.logdensity)

    def values(self, p: Any) -> Array:
        """The functionals of one point."""
        if self.functionals is not None:
            return self.functionals(p)
        every = jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(p)])
        return jnp.concatenate([every, every**2, jnp.reshape(self.logdensity(p), (1,))])

    @cache  # noqa: B019
    def exact_draws(self, n: int, seed: int) -> Any:
        return self.draw(np.random.default_rng(seed), n)

    @cache  # noqa: B019
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, its standard error, and standard deviation of every functional under the exact law."""
        n = NUM_REFERENCE if self.means is None else 40_000
        with jax.enable_x64(True):
            f = np.asarray(jax.jit(jax.vmap(self.values))(self.draw(np.random.default_rng(99), n)))
        sd = f.std(axis=0)
        return (f.mean(axis=0), sd / np.sqrt(n), sd) if self.means is None else (self.means(), 0 * sd, sd)


# --- flat laws -------------------------------------------------------------------------------------------------------

SPREAD_100 = np.geomspace(0.5, 2.0, 100)


def gaussian_one(p: Array) -> Array:
    return -0.5 * jnp.sum(((p - 0.3) / 1.5) ** 2)


def gaussian_hundred(p: Array) -> Array:
    return -0.5 * jnp.sum((p / jnp.asarray(SPREAD_100, p.dtype)) ** 2)


def look_at_hundred(p: Array) -> Array:
    z = p / jnp.asarray(SPREAD_100, p.dtype)
    return jnp.stack([p[0], p[0] ** 2, p[99], p[99] ** 2, jnp.mean(z), jnp.sum(z**2)])


AFFINE = {"mean": np.array([1.0, -0.5, 0.3, 0.0]), "sd": np.array([1.0, 0.7, 1.5, 0.5])}
EQUATIONS, OFFSET = np.array(TWO_EQUATIONS), np.array([1.0, -2.0])


def gaussian_affine(p: Array) -> Array:
    mean, sd = (jnp.asarray(a, p.dtype) for a in AFFINE.values())
    return -0.5 * jnp.sum(((p - mean) / sd) ** 2)


def half_normal_and_gamma(p: Array) -> Array:
    """A density that is largest at the wall, and Gamma(3)."""
    return -0.5 * p[0] ** 2 + 2 * jnp.log(p[1]) - p[1]


def gamma_two(p: Array) -> Array:
    """Gamma(0.5) and Gamma(4)."""
    return -0.5 * jnp.log(p[0]) + 3 * jnp.log(p[1]) - jnp.sum(p)


BALL_MEAN = np.array([0.5, -0.2, 0.1])


def normal_in_ball(p: Array) -> Array:
    return -0.5 * jnp.sum(((p - jnp.asarray(BALL_MEAN, p.dtype)) / 0.6) ** 2)


BOX = {"mean": np.array([0.2, 1.5, 3.0]), "sd": np.array([0.5, 1.0, 2.0])}
BOX_WALLS = np.array([0.0, -1.0, 2.0]), np.array([1.0, 1.0, 5.0])


def normal_in_box(p: Array) -> Array:
    mean, sd = (jnp.asarray(a, p.dtype) for a in BOX.values())
    return -0.5 * jnp.sum(((p - mean) / sd) ** 2)


# --- spheres ---------------------------------------------------------------------------------------------------------


def vmf(kappa: float) -> Callable[[Array], Array]:
    return lambda p: kappa * p[0]


def look_along_and_across(kappa: float) -> Callable[[Array], Array]:
    """Cosine, its square, one other coordinate, its square, and the squares of half of the others together."""
    return lambda p: jnp.stack([p[0], p[0] ** 2, p[1], p[1] ** 2, jnp.sum(p[1 : 1 + p.size // 2] ** 2)])


def vmf_means(d: int, kappa: float) -> Callable[[], np.ndarray]:
    def means() -> np.ndarray:
        w, weight = exact.von_mises_fisher_cosine(d, kappa)
        along, square = weight @ w, weight @ w**2
        other = (1 - square) / (d - 1)
        return np.array([along, square, 0, other, other * min(d // 2, d - 1)])

    return means


def vmf_law(d: int, kappa: float, **settings: Any) -> Law:
    return Law(
        Sphere,
        vmf(kappa),
        lambda rng, n: exact.von_mises_fisher(rng, n, d, kappa),
        means=vmf_means(d, kappa),
        functionals=look_along_and_across(kappa),
        **settings,
    )


BINGHAM = np.array([0.0, 2.0, 5.0, 9.0])
BVMF = np.array([-20.0, -10.0, 0.0, 10.0, 20.0])


def bingham(p: Array) -> Array:
    return jnp.sum(jnp.asarray(BINGHAM, p.dtype) * p**2)


def bvmf(c: float) -> Callable[[Array], Array]:
    return lambda p: jnp.sum(jnp.asarray(BVMF, p.dtype) * p**2) + c * p[0]


def squares_and_first(p: Array) -> Array:
    return jnp.concatenate([p[:1], p**2])


# --- simplices -------------------------------------------------------------------------------------------------------

TINY = np.array([1e-3, 2e-3, 4e-3])


def dirichlet(*concentration: float) -> Callable[[Array], Array]:
    return lambda p: jnp.sum((jnp.asarray(concentration, p.dtype) - 1) * jnp.log(p))


def dirichlet_of_logs(logs: Array) -> Array:
    return jnp.sum((jnp.asarray(TINY, logs.dtype) - 1) * logs)


def look_at_logs(logs: Array) -> Array:
    """Weights; and log weights on their own scale 1/a, where exp(a log p) is nearly uniform."""
    return jnp.concatenate([jnp.exp(logs), jnp.exp(jnp.asarray(TINY, logs.dtype) * logs)[:2], logs[:2]])


def draw_dirichlet(*concentration: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: np.exp(exact.log_dirichlet(rng, n, np.array(concentration)))


# --- frames, rotations, a level set, a product -----------------------------------------------------------------------

FRAME = np.array([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0], [0.0, 0.0]])
TURN = np.array([[1.5, 0.0, 0.3], [0.0, 1.0, 0.0], [0.0, -0.5, 0.5]])


def matrix_vmf(p: Array) -> Array:
    return jnp.sum(jnp.asarray(FRAME, p.dtype) * p)


def rotation_law(p: Array) -> Array:
    return jnp.sum(jnp.asarray(TURN, p.dtype) * p)


def tilted(p: Array) -> Array:
    return 1.5 * p[0]


def look_at_torus(p: Array) -> Array:
    ring = jnp.sqrt(p[0] ** 2 + p[1] ** 2)
    return jnp.stack([p[0], p[0] ** 2, p[1], p[1] ** 2, p[2], p[2] ** 2, ring])


def four_leaves(p: dict[str, Array]) -> Array:
    """direction ~ vMF(3), scale ~ Gamma(3), weights ~ Dirichlet(2, 3, 4), location ~ N(direction, (0.5 + scale)^2)."""
    width = 0.5 + p["scale"]
    location = -0.5 * jnp.sum(((p["location"] - p["direction"]) / width) ** 2) - 3 * jnp.log(width)
    return 3 * p["direction"][0] + 2 * jnp.log(p["scale"]) - p["scale"] + dirichlet(2, 3, 4)(p["weights"]) + location


def draw_four_leaves(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    direction, scale = exact.von_mises_fisher(rng, n, 3, 3.0), rng.gamma(3.0, size=n)
    weights = np.exp(exact.log_dirichlet(rng, n, np.array([2.0, 3.0, 4.0])))
    location = direction + (0.5 + scale)[:, None] * rng.normal(size=(n, 3))
    return {"direction": direction, "scale": scale, "weights": weights, "location": location}


def look_at_leaves(p: dict[str, Array]) -> Array:
    z = (p["location"] - p["direction"]) / (0.5 + p["scale"])
    parts = (p["direction"], p["scale"][None], p["scale"][None] ** 2, p["weights"], z, z**2)
    return jnp.concatenate(parts)


def product() -> Product:
    return Product({"direction": Sphere(), "scale": Positive(), "weights": LogRatioSimplex(), "location": Euclidean()})


TARGETS: dict[str, Law] = {
    "gaussian-1": Law(
        Euclidean,
        gaussian_one,
        lambda rng, n: 0.3 + 1.5 * rng.normal(size=(n, 1)),
        step=1.2,
        num_steps=2,
        walk=3.0,
        chains=12_500,
    ),
    "gaussian-100": Law(
        Euclidean,
        gaussian_hundred,
        lambda rng, n: SPREAD_100 * rng.normal(size=(n, 100)),
        means=lambda: np.array([0, SPREAD_100[0] ** 2, 0, SPREAD_100[99] ** 2, 0, 100]),
        functionals=look_at_hundred,
        step=0.45,
        num_steps=5,
        walk=0.15,
        chains=16_000,
    ),
    "affine": Law(
        lambda: Affine(EQUATIONS, OFFSET),
        gaussian_affine,
        lambda rng, n: exact.conditional_normal(rng, n, AFFINE["mean"], AFFINE["sd"], EQUATIONS, OFFSET),
        step=0.5,
        num_steps=3,
        walk=0.8,
    ),
    "positive": Law(
        Positive,
        half_normal_and_gamma,
        lambda rng, n: np.stack([np.abs(rng.normal(size=n)), rng.gamma(3.0, size=n)], axis=1),
        step=0.8,
        num_steps=3,
        walk=1.5,
        chains=22_000,
    ),
    "log-positive": Law(
        LogPositive,
        gamma_two,
        lambda rng, n: np.stack([rng.gamma(0.5, size=n), rng.gamma(4.0, size=n)], axis=1),
        step=0.6,
        num_steps=4,
        walk=1.2,
        chains=23_000,
        functionals=lambda p: jnp.concatenate([p, p**2, jnp.log(p)]),
    ),
    "ball": Law(
        Ball,
        normal_in_ball,
        lambda rng, n: exact.truncated_normal_in_ball(rng, n, BALL_MEAN, 0.6),
        step=0.25,
        num_steps=4,
        walk=0.5,
    ),
    "box": Law(
        lambda: Box(jnp.asarray(BOX_WALLS[0]), jnp.asarray(BOX_WALLS[1])),
        normal_in_box,
        lambda rng, n: exact.truncated_normal_in_box(rng, n, BOX["mean"], BOX["sd"], *BOX_WALLS),
        step=0.35,
        num_steps=4,
        walk=0.9,
    ),
    "vmf-2": vmf_law(2, 1.0, step=0.9, num_steps=2, walk=2.0),
    "vmf-3": vmf_law(3, 5.0, step=0.5, num_steps=2, walk=0.9),
    "vmf-100": vmf_law(100, 50.0, step=0.07, num_steps=3, walk=0.02, chains=11_000),
    "vmf-1000": vmf_law(1000, 700.0, step=0.012, num_steps=4, walk=0.002, chains=7_000),
    "bingham": Law(
        Sphere,
        bingham,
        lambda rng, n: exact.bingham_von_mises_fisher(rng, n, BINGHAM, 0.0),
        functionals=squares_and_first,
        step=0.2,
        num_steps=3,
        walk=0.5,
    ),
    "bvmf-40": Law(
        Sphere,
        bvmf(40.0),
        lambda rng, n: exact.bingham_von_mises_fisher(rng, n, BVMF, 40.0, 0.5),
        functionals=squares_and_first,
        step=0.11,
        num_steps=3,
        walk=0.15,
        chains=25_000,
    ),
    "bvmf-80": Law(
        Sphere,
        bvmf(80.0),
        lambda rng, n: exact.bingham_von_mises_fisher(rng, n, BVMF, 80.0),
        functionals=squares_and_first,
        step=0.11,
        num_steps=8,
        walk=0.15,
        chains=42_000,
    ),
    "simplex": Law(
        Simplex, dirichlet(1, 2, 5), draw_dirichlet(1, 2, 5), step=0.15, num_steps=4, walk=0.35, chains=19_000
    ),
    "simplex-poles": Law(
        Simplex, dirichlet(0.3, 1, 5), draw_dirichlet(0.3, 1, 5), step=0.1, num_steps=4, walk=0.35, chains=25_000
    ),
    "reflected-simplex": Law(
        ReflectedSimplex, dirichlet(1, 2, 5), draw_dirichlet(1, 2, 5), step=0.08, num_steps=3, walk=0.25, chains=20_000
    ),
    "log-ratio": Law(
        LogRatioSimplex,
        dirichlet(0.3, 1, 5),
        draw_dirichlet(0.3, 1, 5),
        functionals=lambda p: jnp.concatenate([p, p**2, jnp.log(p)]),
        step=0.7,
        num_steps=4,
        walk=1.5,
        chains=21_000,
    ),
    "log-ratio-tiny": Law(
        lambda: LogRatioSimplex(carry_logs=True),
        dirichlet_of_logs,
        lambda rng, n: exact.log_dirichlet(rng, n, TINY),
        functionals=look_at_logs,
        step=200.0,
        num_steps=5,
        walk=800.0,
        chains=26_400,
    ),
    "stiefel": Law(
        Stiefel,
        matrix_vmf,
        lambda rng, n: exact.matrix_von_mises_fisher(rng, n, FRAME, lambda r, m: exact.uniform_pairs(r, m, 4)),
        step=0.45,
        num_steps=3,
        walk=0.6,
    ),
    "rotation": Law(
        Rotation,
        rotation_law,
        lambda rng, n: exact.matrix_von_mises_fisher(rng, n, TURN, exact.uniform_rotations),
        step=0.6,
        num_steps=3,
        walk=1.0,
    ),
    "level-torus": Law(
        lambda: LevelSet(torus),
        tilted,
        lambda rng, n: exact.torus(rng, n, 1.5),
        functionals=look_at_torus,
        step=0.2,
        num_steps=4,
        walk=0.35,
        chains=16_000,
    ),
    "product": Law(
        product,
        four_leaves,
        draw_four_leaves,
        functionals=look_at_leaves,
        step=0.4,
        num_steps=6,
        walk=0.35,
        chains=30_000,
    ),
}

ONE_PER_MANIFOLD = [
    "gaussian-1",
    "affine",
    "positive",
    "log-positive",
    "ball",
    "box",
    "vmf-3",
    "simplex",
    "reflected-simplex",
    "log-ratio",
    "stiefel",
    "rotation",
    "level-torus",
    "product",
]
"""The laws that the fast suite takes with every sampler."""


def hmc(law: Law) -> GeodesicHMC:
    return GeodesicHMC(FullGradient(law.target()), step_size=law.step, num_steps=law.num_steps)


def nuts(law: Law) -> GeodesicNUTS:
    return GeodesicNUTS(FullGradient(law.target()), step_size=law.step, max_depth=law.max_depth)


def walk(law: Law) -> RandomWalk:
    return RandomWalk(law.target(), step_size=law.walk)


SAMPLERS: dict[str, Callable[[Law], Any]] = {"GeodesicHMC": hmc, "GeodesicNUTS": nuts, "RandomWalk": walk}
ESTIMATORS: dict[str, Callable[[Law], Any]] = {"FullGradient": lambda law: FullGradient(law.target())}
