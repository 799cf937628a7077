"""The demonstration: two instruments look at the same directions, and the second one is turned, noisy and sometimes wrong.

    y_i ~ vMF(direction, k1)                                            what the first instrument reads
    z_i ~ w1 vMF(turn y_i, k2) + w2 vMF(-turn y_i, k2) + w3 uniform     what the second one reads: right, backwards, junk

The four unknowns live on four different spaces: `direction` on a sphere, `turn` in SO(3), `concentration` = (k1, k2) on the
positive numbers and `share` = (w1, w2, w3) on a simplex. Nothing is tuned by hand, and the truth is known.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.diagnostics import diagnose
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import LogPositive, LogRatioSimplex, Product, Rotation, Sphere
from orthodrome.plots.globe import globe, scatter, view
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure, save
from orthodrome.run import sample
from orthodrome.samplers.geodesic_nuts import GeodesicNUTS
from orthodrome.targets import Posterior

if TYPE_CHECKING:
    from rich.console import Console

NUM_PAIRS = 150
MANIFOLD = Product(
    {"direction": Sphere(), "turn": Rotation(), "concentration": LogPositive(), "share": LogRatioSimplex()}
)
TRUTH: dict[str, Any] = {
    "direction": np.array([0.48, 0.60, 0.64]),
    "turn": np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]]),
    "concentration": np.array([6.0, 60.0]),
    "share": np.array([0.8, 0.12, 0.08]),
}


def vmf(cosine: Array, concentration: Array) -> Array:
    """The log density of von Mises-Fisher on the sphere in R^3, with respect to its surface measure."""
    shift = jnp.log(concentration) - jnp.log(2 * jnp.pi) - jnp.log1p(-jnp.exp(-2 * concentration))
    return concentration * (cosine - 1) + shift


def logprior(p: dict[str, Array]) -> Array:
    """Uniform but for the concentrations, which are exponential with mean 50."""
    return -jnp.sum(p["concentration"]) / 50


def loglikelihood(p: dict[str, Array], pair: dict[str, Array]) -> Array:
    """One pair of readings."""
    first, second = p["concentration"][0], p["concentration"][1]
    cosine = jnp.dot(p["turn"] @ pair["y"], pair["z"])
    uniform = jnp.full_like(cosine, -np.log(4 * np.pi))
    readings = jnp.stack([vmf(cosine, second), vmf(-cosine, second), uniform])
    return vmf(jnp.dot(p["direction"], pair["y"]), first) + jax.nn.logsumexp(readings, b=p["share"])


def simulate(seed: int) -> dict[str, Array]:
    """Pairs of readings from the truth."""
    random = np.random.default_rng(seed)
    spread, accuracy = TRUTH["concentration"]
    y = np.stack([draw_vmf(random, TRUTH["direction"], spread) for _ in range(NUM_PAIRS)])
    sign = random.choice([1.0, -1.0, 0.0], NUM_PAIRS, p=TRUTH["share"])
    z = [draw_vmf(random, s * TRUTH["turn"] @ u, accuracy) if s else draw_vmf(random, u, 1e-9) for s, u in zip(sign, y)]
    return {"y": jnp.asarray(y, jnp.float32), "z": jnp.asarray(np.stack(z), jnp.float32)}


def draw_vmf(random: np.random.Generator, mean: Any, concentration: float) -> Any:
    """One direction: the height above the equator by inversion, the angle uniform."""
    height = 1 + np.log1p(random.uniform() * np.expm1(-2 * concentration)) / concentration
    side = random.normal(size=3)
    side -= (side @ mean) * mean
    return height * mean + np.sqrt(max(0.0, 1 - height**2)) * side / np.linalg.norm(side)


def shapes() -> dict[str, Any]:
    """What `sample` needs to choose random starts."""
    return {name: jax.ShapeDtypeStruct(value.shape, jnp.float32) for name, value in TRUTH.items()}


def posterior(seed: int) -> Posterior:
    """The law of the four unknowns given the readings."""
    return Posterior(MANIFOLD, logprior, loglikelihood, simulate(seed))
